import { dirname, resolve } from "node:path";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { type Repository, readNamedGitDir } from "./repository.ts";

/** The environment of one child process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What git sets for its hooks and what would lead a child to another repository than the one meant. */
const leading: readonly string[] = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_COMMON_DIR",
  "GIT_INDEX_FILE",
  "GIT_PREFIX",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_GRAFT_FILE",
  "GIT_SHALLOW_FILE",
];

/** In a hook of the main working tree git names only the index of the commit being made. */
function deriveHookIndex(system: System, repository: Repository): string | undefined {
  const named = system.env["GIT_INDEX_FILE"];
  if (!named || system.env["GIT_DIR"]) return undefined;
  const index = resolve(repository.top, named) as AbsPath;
  const folder = system.realPath(dirname(index) as AbsPath);
  return folder === repository.gitDir && system.info(index) !== undefined ? index : undefined;
}

/**
 * The environment for a git run at the top of `repository`. What names a repository is kept, as absolute paths, only
 * when `GIT_DIR` names this one; the index of a commit under way is kept when it lies in this git directory.
 */
export function gitEnvironment(system: System, repository: Repository): Environment {
  const { env } = system;
  const composed: Record<string, string | undefined> = { ...env };
  for (const name of leading) delete composed[name];
  if (readNamedGitDir(system) === repository.gitDir) {
    composed["GIT_DIR"] = repository.gitDir;
    composed["GIT_WORK_TREE"] = repository.top;
    for (const name of ["GIT_PREFIX", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE"]) {
      if (env[name] !== undefined) composed[name] = env[name];
    }
    for (const name of ["GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"]) {
      const value = env[name];
      if (value) composed[name] = resolve(repository.top, value);
    }
    if (env["GIT_COMMON_DIR"]) composed["GIT_COMMON_DIR"] = repository.commonDir;
  } else {
    const index = deriveHookIndex(system, repository);
    if (index !== undefined) composed["GIT_INDEX_FILE"] = index;
  }
  composed["LC_ALL"] = "C";
  composed["GIT_TERMINAL_PROMPT"] = "0";
  composed["GIT_OPTIONAL_LOCKS"] = "0";
  return composed;
}
