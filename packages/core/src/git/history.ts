import type { RepoPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { gitFailure, runGit } from "./process.ts";
import type { Repository } from "./repository.ts";

export interface CommitFile {
  readonly path: RepoPath;
  /** The id of what the path holds after the commit; all zeros when it was removed. */
  readonly blob: string;
}

/** One commit between a recorded commit and HEAD. */
export interface Commit {
  readonly id: string;
  /** `left`: reachable from the base alone; `right`: reachable from HEAD alone. */
  readonly side: "left" | "right";
  readonly parents: readonly string[];
  readonly authorSeconds: number;
  readonly authorEmail: string;
  readonly subject: string;
  /** What the commit changed; of a merge, only what differs from every parent. A rename is two paths. */
  readonly files: readonly CommitFile[];
}

/** How HEAD stands to a recorded commit. */
export type History =
  | {
      readonly kind: "commits";
      /** HEAD is the base or has it among its ancestors. */
      readonly ancestor: boolean;
      /** Newest first, a child always before its parents. */
      readonly commits: readonly Commit[];
    }
  /** Git does not have the recorded commit. */
  | { readonly kind: "missing" };

const commitId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const headerFormat = "%m%H%n%P%n%at%n%ae%n%s";

/**
 * The arguments of the one log run; whoever starts it beforehand must run exactly this, and hand on only what a run
 * that exited 0 printed. `base` is a full commit id, or `undefined` for a record made before the first commit.
 */
export function historyArguments(base: string | undefined): readonly string[] {
  return [
    "log",
    "-z",
    "--raw",
    "-c",
    "--root",
    "--no-abbrev",
    "--no-renames",
    "--no-color",
    "--no-decorate",
    "--no-show-signature",
    "--encoding=UTF-8",
    "--left-right",
    `--format=${headerFormat}`,
    base === undefined ? "HEAD" : `${base}...HEAD`,
    "--",
  ];
}

function parseHeader(text: string): Omit<Commit, "files"> {
  const [first = "", parents = "", seconds = "", email = "", ...subject] = text.split("\n");
  return {
    id: first.slice(1),
    side: first.startsWith("<") ? "left" : "right",
    parents: parents === "" ? [] : parents.split(" "),
    authorSeconds: Number(seconds),
    authorEmail: email,
    subject: subject.join("\n"),
  };
}

/** The id after the change: the last of the ids before the letters of change, for a merge of any number of parents. */
function parseBlob(change: string): string {
  return change.split(" ").at(-2) ?? "";
}

/** Reads the output of `historyArguments`. */
export function parseHistory(bytes: Uint8Array): readonly Commit[] {
  const parts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8").split("\0");
  const commits: (Omit<Commit, "files"> & { files: CommitFile[] })[] = [];
  for (let at = 0; at < parts.length; at++) {
    // The changes of a commit follow its header after a line end, or after an empty part for a merge.
    const part = parts[at]?.replace(/^\n/, "") ?? "";
    if (part.startsWith(":")) {
      at += 1;
      commits.at(-1)?.files.push({ path: (parts[at] ?? "") as RepoPath, blob: parseBlob(part) });
    } else if (part !== "") {
      commits.push({ ...parseHeader(part), files: [] });
    }
  }
  return commits;
}

/** HEAD descends from the base exactly when nothing is reachable from the base alone. */
export function deriveHistory(commits: readonly Commit[]): History {
  return { kind: "commits", ancestor: commits.every((commit) => commit.side === "right"), commits };
}

function isKnown(system: System, repository: Repository, id: string): boolean {
  const args = ["cat-file", "-e", id];
  const result = runGit(system, repository, { args });
  if (result.exit > 1) throw gitFailure(system, repository, { args, result });
  return result.exit === 0;
}

/**
 * What lies between a recorded commit and HEAD: one git process (a second only when the first fails, to tell a commit
 * git does not have from a failure).
 * @throws ReeveError GIT_FAILED
 */
export function readHistory(
  system: System,
  repository: Repository,
  ends: { readonly base: string | undefined; readonly head: string | undefined },
): History {
  const { base, head } = ends;
  if (base !== undefined && !commitId.test(base)) return { kind: "missing" };
  if (base === head) return deriveHistory([]);
  if (head === undefined) {
    const known = base !== undefined && isKnown(system, repository, base);
    return known ? { kind: "commits", ancestor: false, commits: [] } : { kind: "missing" };
  }
  const args = historyArguments(base);
  const result = runGit(system, repository, { args });
  if (result.exit === 0) return deriveHistory(parseHistory(result.stdout));
  if (base !== undefined && !isKnown(system, repository, base)) return { kind: "missing" };
  throw gitFailure(system, repository, { args, result });
}
