import { ReeveError } from "../findings/errors.ts";
import type { RepoPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { readGit } from "./process.ts";
import type { Repository } from "./repository.ts";

export interface StatusEntry {
  readonly path: RepoPath;
  readonly kind: "changed" | "renamed" | "unmerged" | "untracked";
  /** The path before a rename, or what a copy was made of (`index` or `worktree` is then `C`). */
  readonly from?: RepoPath;
  /** Git's letter for index against HEAD: `.` unchanged, `M`, `T`, `A`, `D`, `R`, `C`, `U`, `?`. */
  readonly index: string;
  /** Git's letter for working tree against index. */
  readonly worktree: string;
}

/** What `git status --porcelain=v2 --branch` tells; untracked files one by one, ignored ones not at all. */
export interface Status {
  /** `undefined` when the head is detached. */
  readonly branch: string | undefined;
  /** Full commit id; `undefined` before the first commit. */
  readonly head: string | undefined;
  readonly upstream?: string;
  readonly ahead?: number;
  readonly behind?: number;
  readonly entries: readonly StatusEntry[];
  readonly clean: boolean;
}

/** The arguments of the one status run; whoever starts it beforehand must run exactly this. */
export const statusArguments: readonly string[] = ["status", "--porcelain=v2", "--branch", "-z", "-uall"];

/** How many fields stand before the path in a line of each type. */
const fieldsBefore: Readonly<Record<string, number>> = { "1": 8, "2": 9, u: 10, "?": 1 };

function cutPath(line: string, fields: number): RepoPath {
  let at = 0;
  for (let field = 0; field < fields; field++) at = line.indexOf(" ", at) + 1;
  // A repository inside this one, unknown to it, is one entry with a slash at its end.
  return line.slice(at).replace(/\/$/, "") as RepoPath;
}

function parseEntry(line: string, from: string | undefined): StatusEntry | undefined {
  const type = line.charAt(0);
  const fields = fieldsBefore[type];
  if (fields === undefined) return undefined;
  const where = cutPath(line, fields);
  if (type === "?") return { path: where, kind: "untracked", index: "?", worktree: "?" };
  const index = line.charAt(2);
  const worktree = line.charAt(3);
  if (type === "2" && from !== undefined) {
    const kind = line.split(" ", 9)[8]?.startsWith("R") ? "renamed" : "changed";
    return { path: where, kind, from: from as RepoPath, index, worktree };
  }
  return { path: where, kind: type === "u" ? "unmerged" : "changed", index, worktree };
}

function parseHeaders(headers: ReadonlyMap<string, string>): Omit<Status, "entries" | "clean"> {
  const oid = headers.get("branch.oid");
  const branch = headers.get("branch.head");
  const upstream = headers.get("branch.upstream");
  const distance = /^\+(\d+) -(\d+)$/.exec(headers.get("branch.ab") ?? "");
  return {
    branch: branch === "(detached)" ? undefined : branch,
    head: oid === "(initial)" ? undefined : oid,
    ...(upstream === undefined ? {} : { upstream }),
    ...(distance === null ? {} : { ahead: Number(distance[1]), behind: Number(distance[2]) }),
  };
}

/** Reads the output of `statusArguments`. */
export function parseStatus(bytes: Uint8Array): Status {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8").split("\0");
  const headers = new Map<string, string>();
  const entries: StatusEntry[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const header = /^# (\S+) (.*)$/s.exec(line);
    if (header !== null) {
      headers.set(header[1] ?? "", header[2] ?? "");
      continue;
    }
    if (line.startsWith("2 ")) at += 1;
    const entry = parseEntry(line, line.startsWith("2 ") ? lines[at] : undefined);
    if (entry !== undefined) entries.push(entry);
  }
  return { ...parseHeaders(headers), entries, clean: entries.length === 0 };
}

/** Is this the whole output of a status run that succeeded? One that failed or was cut short is not. */
export function isWholeStatus(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 13)).toString("latin1") === "# branch.oid " && bytes.at(-1) === 0;
}

/** One git process. @throws ReeveError GIT_FAILED with git's own words. */
export function readStatus(system: System, repository: Repository): Status {
  const bytes = readGit(system, repository, { args: statusArguments });
  if (isWholeStatus(bytes)) return parseStatus(bytes);
  throw new ReeveError("GIT_FAILED", "git status printed no head: its answer is not one", { hint: "git --version" });
}
