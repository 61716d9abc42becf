import { join } from "node:path";
import { ReeveError } from "../findings/errors.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { readGit } from "./process.ts";
import type { Repository } from "./repository.ts";
import { parseStatus } from "./status.ts";

/** What is checked out in one working tree. */
export interface Head {
  /** The branch without `refs/heads/`; `undefined` when the head is detached. */
  readonly branch: string | undefined;
  /** The commit's full id; `undefined` before the first commit of the branch. */
  readonly head: string | undefined;
}

const objectId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** As deep as git itself follows a reference to a reference. */
const depthLimit = 5;

function readFile(system: System, file: AbsPath): string | undefined {
  // An empty folder may stand where a branch of this name would be: that is no branch.
  return system.info(file)?.kind === "directory" ? undefined : system.readText(file);
}

function readPacked(system: System, commonDir: AbsPath, ref: string): string | undefined {
  const text = system.readText(join(commonDir, "packed-refs") as AbsPath);
  if (text === undefined) return undefined;
  const at = text.indexOf(` ${ref}\n`);
  return at < 0 ? undefined : text.slice(text.lastIndexOf("\n", at) + 1, at);
}

function readRef(system: System, repository: Repository, ref: string): string | undefined {
  const own = /^refs\/(?:bisect|worktree|rewritten)\//.test(ref);
  const loose = readFile(system, join(own ? repository.gitDir : repository.commonDir, ref) as AbsPath);
  return loose?.trim() ?? readPacked(system, repository.commonDir, ref);
}

function damaged(where: string): ReeveError {
  return new ReeveError("GIT_FAILED", `${where} holds no commit id`, { hint: "see what is wrong with: git fsck" });
}

/** The reference in `HEAD`, also where it is a symbolic link (an old form git still reads). */
function readHeadFile(system: System, gitDir: AbsPath): string {
  const file = join(gitDir, "HEAD") as AbsPath;
  const link = system.readLink(file);
  if (link?.startsWith("refs/")) return `ref: ${link}`;
  return system.readText(file)?.trim() ?? "";
}

function followHead(system: System, repository: Repository): Head | "ask" {
  let text = readHeadFile(system, repository.gitDir);
  let ref: string | undefined;
  for (let depth = 0; depth <= depthLimit; depth++) {
    const next = /^ref:\s*(\S.*)$/.exec(text)?.[1];
    if (next === undefined) {
      if (!objectId.test(text)) throw damaged(ref ?? join(repository.gitDir, "HEAD"));
      return { branch: ref?.replace(/^refs\/heads\//, ""), head: text };
    }
    if (next === "refs/heads/.invalid") return "ask";
    ref = next;
    const value = readRef(system, repository, ref);
    if (value === undefined) return { branch: ref.replace(/^refs\/heads\//, ""), head: undefined };
    text = value;
  }
  throw damaged(ref ?? "HEAD");
}

/**
 * Branch and commit of this working tree, read from git's files without a process; one git process where `unusual`.
 * @throws ReeveError GIT_FAILED when the reference is damaged.
 */
export function readHead(system: System, repository: Repository): Head {
  const head = repository.unusual ? "ask" : followHead(system, repository);
  if (head !== "ask") return head;
  const args = ["status", "--porcelain=v2", "--branch", "-z", "-uno", "--ignore-submodules=all"];
  const { branch, head: commit } = parseStatus(readGit(system, repository, { args }));
  return { branch, head: commit };
}
