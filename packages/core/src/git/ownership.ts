import { join } from "node:path";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";

/**
 * Does some part of the repository belong to another user? Git then works only where its own configuration allows it,
 * and is the one to judge. Under sudo the user who called it owns what is theirs.
 */
export function isOthers(system: System, place: { readonly top: AbsPath; readonly gitDir: AbsPath }): boolean {
  if (system.uid === undefined) return false;
  const caller = system.uid === 0 ? system.env["SUDO_UID"] : undefined;
  const parts = [place.top, place.gitDir, join(place.top, ".git") as AbsPath];
  return parts.some((part) => {
    const owner = system.info(part)?.uid;
    return owner !== undefined && owner !== system.uid && String(owner) !== caller;
  });
}
