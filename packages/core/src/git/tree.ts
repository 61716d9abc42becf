import { delimiter, dirname, join } from "node:path";
import { ReeveError } from "../findings/errors.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { gitEnvironment } from "./environment.ts";
import { readGit } from "./process.ts";
import type { Repository } from "./repository.ts";

/** No stray process, no shared index, no refusal over line ends, no time spent on packing objects nobody keeps. */
const settings: readonly string[] = [
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.splitIndex=false",
  "-c",
  "core.safecrlf=false",
  "-c",
  "core.looseCompression=0",
];

/** An entry of `GIT_ALTERNATE_OBJECT_DIRECTORIES`: quoted where the list's separator stands in the path. */
function quoteAlternate(folder: string): string {
  return folder.includes(delimiter) || folder.startsWith('"')
    ? `"${folder.replace(/["\\]/g, (char) => `\\${char}`)}"`
    : folder;
}

/** Git compares a file's time with the index's own to know what it must read again, so the copy keeps its time. */
function copyIndex(system: System, from: AbsPath, to: AbsPath): void {
  if (system.info(from) === undefined) return;
  const { exit, stderr } = system.run("cp", ["-p", "--", from, to], {
    cwd: dirname(to) as AbsPath,
    env: system.env,
  });
  if (exit !== 0)
    throw new ReeveError("UNREADABLE", `${from}: cannot be copied (${stderr.trim()})`, { details: { path: from } });
}

/** Repositories inside this one (an entry with a slash at its end) are no part of its tree. */
function dropRepositories(listed: Buffer): Buffer {
  const kept = listed
    .toString("latin1")
    .split("\0")
    .filter((entry) => entry !== "" && !entry.endsWith("/"));
  return Buffer.from(kept.map((entry) => `${entry}\0`).join(""), "latin1");
}

/**
 * The id of the tree that a commit of everything in the working tree would have: untracked files included, ignored
 * ones and repositories inside this one not. The repository is not changed: index and objects go to `scratch`, an
 * empty folder outside the working tree, as `system.withScratch` lends it.
 * @throws ReeveError GIT_FAILED, also when a file cannot be read.
 */
export function readTreeId(system: System, repository: Repository, scratch: AbsPath): string {
  const inherited = gitEnvironment(system, repository);
  const index = join(scratch, "index") as AbsPath;
  copyIndex(system, (inherited["GIT_INDEX_FILE"] ?? join(repository.gitDir, "index")) as AbsPath, index);
  const objects = inherited["GIT_OBJECT_DIRECTORY"] ?? join(repository.commonDir, "objects");
  const others = inherited["GIT_ALTERNATE_OBJECT_DIRECTORIES"];
  const env = {
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: scratch,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: [quoteAlternate(objects), ...(others ? [others] : [])].join(delimiter),
  };
  const git = (args: readonly string[], input?: Uint8Array): Buffer =>
    readGit(system, repository, { args: [...settings, ...args], env, ...(input === undefined ? {} : { input }) });
  git(["add", "-u"]);
  const untracked = dropRepositories(git(["ls-files", "-o", "--exclude-standard", "-z"]));
  if (untracked.length > 0) git(["update-index", "--add", "--remove", "-z", "--stdin"], untracked);
  return git(["write-tree", "--missing-ok"]).toString("latin1").trim();
}
