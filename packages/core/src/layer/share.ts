import { join } from "node:path";
import { ReeveError } from "../findings/errors.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";

/** The data Reeve ships, found beside the installed program. */
export interface Share {
  readonly folder: AbsPath;
  /** One file's text, by its path from the folder. */
  read(name: string): string;
  /** Paths of every file below a folder, in code-unit order. */
  list(name: string): readonly string[];
}

export function openShare(system: System, folder: AbsPath): Share {
  const at = (name: string): AbsPath => join(folder, name) as AbsPath;
  const missing = (name: string): ReeveError =>
    new ReeveError("MISSING_FILE", `${at(name)} is missing from the installation`, { hint: "install Reeve again" });
  const list = (name: string): readonly string[] => {
    const entries = system.list(at(name));
    if (entries === undefined) throw missing(name);
    return entries.flatMap((entry) =>
      entry.kind === "directory" ? list(`${name}/${entry.name}`) : [`${name}/${entry.name}`],
    );
  };
  return {
    folder,
    list,
    read(name) {
      const text = system.readText(at(name));
      if (text === undefined) throw missing(name);
      return text;
    },
  };
}

const localSeeds = "skeleton/local/";

/** The files a new home begins with, by their path from the home. */
export function readHomeSeeds(share: Share): Readonly<Record<string, string>> {
  const names = share.list(localSeeds.slice(0, -1));
  return Object.fromEntries(names.map((name) => [name.slice(localSeeds.length), share.read(name)]));
}
