import type { StatePath } from "./table.ts";

/** The path of a declared state file, from the repository's root; a tail names a file in a declared folder. */
export function statePath(path: StatePath, tail = ""): string {
  return `${path}${tail}`;
}
