import * as fs from "node:fs";
import * as path from "node:path";
import { outsideFolders } from "@reeve/core/state/outside.ts";
import { table } from "@reeve/core/state/table.ts";
import { isDerivedSpelling, type StateTable } from "@reeve/store/table";

/** A folder that Reeve keeps files in: where it is, and the table and path by which its files are known there. */
interface Kept {
  readonly folder: string;
  readonly table: StateTable;
  /** Before the file's path from the folder, in the table's terms. */
  readonly prefix: string;
}

const [common, user, cache] = outsideFolders;

/** Names in a folder, and nothing where there is none, a link stands or nobody may look. */
function namesIn(folder: string): readonly string[] {
  try {
    return fs.lstatSync(folder).isDirectory() ? fs.readdirSync(folder) : [];
  } catch {
    return [];
  }
}

function isFolder(place: string): boolean {
  return fs.lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Every folder of Reeve's in a scene: the layers and homes of its repositories, the user's state and the user's cache. */
function keptIn(scene: string, env: Readonly<Record<string, string | undefined>>): readonly Kept[] {
  const repositories = namesIn(scene)
    .map((name) => path.join(scene, name))
    .filter(isFolder);
  const state = env["REEVE_HOME"] ?? path.join(env["HOME"] ?? "", ".local", "state", "reeve");
  const home = (outside: (typeof outsideFolders)[number] | undefined, folder: string): readonly Kept[] =>
    outside === undefined ? [] : [{ folder, table: outside.table, prefix: "" }];
  return [
    ...repositories.flatMap((repository) => {
      const own = path.join(repository, ".git", "reeve");
      const homes = namesIn(path.join(own, "checkouts")).map((name) => path.join(own, "checkouts", name));
      return [
        { folder: path.join(repository, ".ai"), table, prefix: ".ai/" },
        ...homes.map((folder) => ({ folder, table, prefix: ".ai/local/" })),
        ...home(common, own),
      ];
    }),
    ...namesIn(path.join(state, "repositories")).flatMap((name) => home(user, path.join(state, "repositories", name))),
    ...home(cache, path.join(env["HOME"] ?? "", ".cache", "reeve")),
  ];
}

function filesBelow(folder: string, below = ""): readonly string[] {
  return namesIn(path.join(folder, below)).flatMap((name) => {
    const inside = `${below}${name}`;
    return isFolder(path.join(folder, inside)) ? filesBelow(folder, `${inside}/`) : [inside];
  });
}

/** Paths a repository declares itself, as far as its lines can be read. */
function contributedIn(folder: string): readonly string[] {
  const file = path.join(folder, "repo", "state.jsonl");
  if (!namesIn(path.dirname(file)).includes("state.jsonl") || isFolder(file)) return [];
  return [...fs.readFileSync(file, "utf8").matchAll(/"path":\s*"([^"]+)"/g)].map(([, declared]) => declared as string);
}

/** Every file in a folder of Reeve's that no table declares, by its path on this machine. */
export function listUndeclared(scene: string, env: Readonly<Record<string, string | undefined>>): Set<string> {
  const kept = keptIn(scene, env);
  const contributed = kept.flatMap(({ folder, prefix }) => (prefix === ".ai/" ? contributedIn(folder) : []));
  const undeclared = kept.flatMap(({ folder, table: own, prefix }) =>
    filesBelow(folder)
      .map((file) => ({ file: path.join(folder, file), known: `${prefix}${file}` }))
      .filter(({ known }) => known !== ".ai/local" && !(own === common?.table && known.startsWith("checkouts/")))
      .filter(({ known }) => own.entryFor(known) === undefined && !isDerivedSpelling(known))
      .filter(({ known }) => !contributed.some((declared) => known.startsWith(declared)))
      .map(({ file }) => file),
  );
  const state = env["REEVE_HOME"] ?? path.join(env["HOME"] ?? "", ".local", "state", "reeve");
  const strays = namesIn(state).filter((name) => name !== "repositories");
  return new Set([...undeclared, ...strays.map((name) => path.join(state, name))]);
}
