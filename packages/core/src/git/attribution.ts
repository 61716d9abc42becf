import type { RepoPath } from "../system/paths.ts";
import type { Commit, CommitFile, History } from "./history.ts";
import { deriveMakings, type Making } from "./makings.ts";
import type { ReflogEntry } from "./reflog.ts";
import { deriveSegment } from "./segment.ts";

export interface OwnFilesInput {
  readonly history: History;
  /** This working tree's own; `undefined` where git keeps none. */
  readonly reflog: readonly ReflogEntry[] | undefined;
  /** The commit the task started at; `undefined` when there was none yet. */
  readonly base: string | undefined;
  readonly startedAt: Date;
}

export interface OwnFiles {
  /** Each path with the newest commit of this working tree that changed it since the start. */
  readonly files: ReadonlyMap<RepoPath, { readonly commit: string }>;
  /** `range`: the reflog could not tell, so every commit between base and HEAD counts. */
  readonly basis: "reflog" | "range";
}

/** The commits the base has and HEAD no longer has: what a task that rewrites history began with. */
interface Before {
  readonly byId: ReadonlyMap<string, Commit>;
  /** By author's second and address, which every rewrite keeps. */
  readonly byAuthor: ReadonlyMap<string, readonly Commit[]>;
  /** What each path held at the base. */
  readonly blobs: ReadonlyMap<RepoPath, string>;
  /** One of them was changed here, and what came of that was carried along in turn, so that its trace is lost. */
  readonly retouched: boolean;
}

function authorOf(commit: Commit): string {
  return `${commit.authorSeconds} ${commit.authorEmail}`;
}

function isRetouched(makings: ReadonlyMap<string, Making>, right: ReadonlyMap<string, Commit>): boolean {
  const replaced = new Set([...makings.values()].map((making) => making.replaces));
  return [...makings].some(
    ([id, { amended, origin }]) => amended && origin.kind !== "new" && !right.has(id) && !replaced.has(id),
  );
}

function deriveBefore(left: readonly Commit[], retouched: boolean): Before {
  const byAuthor = new Map<string, Commit[]>();
  const blobs = new Map<RepoPath, string>();
  for (const commit of left) {
    const same = byAuthor.get(authorOf(commit));
    if (same === undefined) byAuthor.set(authorOf(commit), [commit]);
    else same.push(commit);
    for (const file of commit.files) if (!blobs.has(file.path)) blobs.set(file.path, file.blob);
  }
  return { byId: new Map(left.map((commit) => [commit.id, commit])), byAuthor, blobs, retouched };
}

/** The older commits that `commit` is another form of. */
function deriveOriginals(commit: Commit, making: Making, before: Before): readonly Commit[] {
  const { origin, amended } = making;
  if (origin.kind === "new") return [];
  if (origin.kind === "rewritten") {
    const original = before.byId.get(origin.from);
    if (original !== undefined) return [original];
  }
  const sameAuthor = before.byAuthor.get(authorOf(commit)) ?? [];
  const sameSubject = sameAuthor.filter((original) => original.subject === commit.subject);
  const mayBeRenamed = amended || (origin.kind === "picked" && origin.renamed);
  return sameSubject.length > 0 || !mayBeRenamed ? sameSubject : sameAuthor;
}

function deriveChanged(commit: Commit, making: Making, before: Before): readonly CommitFile[] {
  const { origin } = making;
  const originals = deriveOriginals(commit, making, before);
  if (originals.length === 0) {
    // History taken back and committed again holds much that is as it was at the start.
    const again = origin.kind === "picked" || (origin.kind === "new" && origin.by === "commit");
    return commit.files.filter((file) => !again || before.blobs.get(file.path) !== file.blob);
  }
  const amended = making.amended || before.retouched;
  const old = originals.flatMap((original) => original.files);
  const changed = commit.files.filter(
    (file) => !old.some((was) => was.path === file.path && (!amended || was.blob === file.blob)),
  );
  if (origin.kind !== "rewritten" || !before.byId.has(origin.from)) return changed;
  // On the same parents, a path the original changed and this commit does not was put back.
  const kept = new Set(commit.files.map((file) => file.path));
  return [...changed, ...old.filter((was) => !kept.has(was.path))];
}

function collect(commits: readonly Commit[], filesOf: (commit: Commit) => readonly CommitFile[]): OwnFiles["files"] {
  const files = new Map<RepoPath, { readonly commit: string }>();
  for (const commit of commits) {
    for (const { path } of filesOf(commit)) if (!files.has(path)) files.set(path, { commit: commit.id });
  }
  return files;
}

/**
 * Which committed files are the work of this working tree since the start of its task. Follows the design's row "whose
 * files count as touched": the commits its own reflog made, still reachable from HEAD. What a merge, pull or
 * fast-forward brought in is not its work, nor is what a rebase or an amend only carried along from before the start.
 */
export function deriveOwnFiles(input: OwnFilesInput): OwnFiles {
  const { history, reflog, base, startedAt } = input;
  if (history.kind === "missing") return { files: new Map(), basis: "range" };
  const right = history.commits.filter((commit) => commit.side === "right");
  const head = right[0]?.id;
  if (head === undefined) return { files: new Map(), basis: "reflog" };
  const segment = deriveSegment({ reflog, base, startedAt, head });
  if (segment === undefined) return { files: collect(right, (commit) => commit.files), basis: "range" };
  const byId = new Map(right.map((commit) => [commit.id, commit]));
  const makings = deriveMakings(segment, (id) => byId.get(id)?.parents ?? []);
  const left = history.commits.filter((commit) => commit.side === "left");
  const before = deriveBefore(left, isRetouched(makings, byId));
  const files = collect(right, (commit) => {
    const making = makings.get(commit.id);
    return making === undefined ? [] : deriveChanged(commit, making, before);
  });
  return { files, basis: "reflog" };
}
