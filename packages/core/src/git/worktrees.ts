import { basename, dirname, join, resolve } from "node:path";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { parsePointer } from "./pointer.ts";
import { readGit } from "./process.ts";
import { type Repository, readMainWorktree } from "./repository.ts";

/** One working tree of the repository. */
export interface Worktree {
  /** `main`, or the administrative name git gave it. */
  readonly checkout: string;
  readonly path: AbsPath;
  /** Without `refs/heads/`; absent when the head is detached. */
  readonly branch?: string;
  /** Its own git directory. */
  readonly gitDir: AbsPath;
  /** Its folder is there and still belongs to this repository. */
  readonly present: boolean;
}

const branchPrefix = "refs/heads/";
/** What stands in HEAD where references are kept in another form than files. */
const notInFiles = "refs/heads/.invalid";

/** Reads `git worktree list --porcelain -z`: the branch each working tree has checked out, by path. */
export function parseWorktreeBranches(bytes: Uint8Array): ReadonlyMap<string, string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const branches = new Map<string, string>();
  for (const block of text.split("\0\0")) {
    const after = (label: string): string | undefined =>
      block
        .split("\0")
        .find((line) => line.startsWith(label))
        ?.slice(label.length);
    const where = after("worktree ");
    const branch = after(`branch ${branchPrefix}`);
    if (where !== undefined && branch !== undefined) branches.set(where, branch);
  }
  return branches;
}

function readHeadRef(system: System, gitDir: AbsPath): string {
  const file = join(gitDir, "HEAD") as AbsPath;
  const link = system.readLink(file);
  if (link !== undefined) return link;
  return /^ref:\s*(.*\S)\s*$/.exec(system.readText(file) ?? "")?.[1] ?? "";
}

function readMain(system: System, repository: Repository): Omit<Worktree, "branch"> | undefined {
  const { commonDir: gitDir } = repository;
  const isMain = repository.kind !== "linked";
  const top = isMain ? repository.top : readMainWorktree(system, gitDir);
  return top === undefined ? undefined : { checkout: "main", path: top, gitDir, present: true };
}

function readLinked(system: System, gitDir: AbsPath): Omit<Worktree, "branch"> | undefined {
  const named = parsePointer(system.readText(join(gitDir, "gitdir") as AbsPath));
  if (named === undefined) return undefined;
  const dotGit = resolve(gitDir, named) as AbsPath;
  const folder = dirname(dotGit) as AbsPath;
  const real = system.realPath(folder);
  return {
    checkout: basename(gitDir),
    path: real ?? folder,
    gitDir,
    present: real !== undefined && system.info(dotGit)?.kind === "file",
  };
}

/**
 * Every working tree of the repository, the main one first (a bare repository has none), then by name. Read from git's
 * files without a process; one git process where references are kept in another form.
 */
export function listWorktrees(system: System, repository: Repository): readonly Worktree[] {
  const folder = join(repository.commonDir, "worktrees") as AbsPath;
  const linked = (system.list(folder) ?? [])
    .filter((entry) => entry.kind === "directory")
    .map((entry) => readLinked(system, join(folder, entry.name) as AbsPath));
  const found = [readMain(system, repository), ...linked]
    .filter((worktree) => worktree !== undefined)
    .map((worktree) => ({ worktree, ref: readHeadRef(system, worktree.gitDir) }));
  const told = found.some(({ ref }) => ref === notInFiles)
    ? parseWorktreeBranches(readGit(system, repository, { args: ["worktree", "list", "--porcelain", "-z"] }))
    : undefined;
  return found.map(({ worktree, ref }) => {
    const branch = ref.startsWith(branchPrefix) ? ref.slice(branchPrefix.length) : undefined;
    const known = ref === notInFiles ? told?.get(worktree.path) : branch;
    return { ...worktree, ...(known === undefined ? {} : { branch: known }) };
  });
}
