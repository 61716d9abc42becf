import type { AbsPath, RepoPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { deriveOwnFiles, type OwnFiles } from "./attribution.ts";
import { type Head, readHead } from "./head.ts";
import { deriveHistory, type History, parseHistory, readHistory } from "./history.ts";
import { readBrought } from "./merging.ts";
import { type ReflogEntry, readReflog } from "./reflog.ts";
import { findRepository, type Repository } from "./repository.ts";
import { isWholeStatus, parseStatus, readStatus, type Status } from "./status.ts";
import { listWorktrees, type Worktree } from "./worktrees.ts";

/** What a launcher already ran: the output of `statusArguments` and `historyArguments(base)`, each from an exit of 0. */
export interface Prefetched {
  readonly status?: Uint8Array;
  readonly history?: { readonly base: string; readonly bytes: Uint8Array };
}

/** Since when, and from which commit (`undefined`: before the first). */
export interface Since {
  readonly base: string | undefined;
  readonly startedAt: Date;
}

export interface TouchedFile {
  readonly path: RepoPath;
  /** `worktree`: differs from HEAD now; `commit`: only in commits made here since the start. */
  readonly source: "worktree" | "commit";
  /** The newest commit made here that changed it, if any did. */
  readonly commit?: string;
}

/**
 * One reading of a repository: each part is read when first asked for and then kept, so that every check of a command
 * sees the same state and git is started at most once for the status and once for the history.
 */
export interface GitReading {
  readonly repository: Repository;
  head(): Head;
  status(): Status;
  /** How HEAD stands to a recorded full commit id; `undefined` for a record made before the first commit. */
  history(base: string | undefined): History;
  /** Of this working tree's own HEAD. */
  reflog(): readonly ReflogEntry[] | undefined;
  worktrees(): readonly Worktree[];
  /** The committed part of `touched`, and on what it rests. */
  own(since: Since): OwnFiles;
  /** Every path this working tree touched since the start: what differs from HEAD now, and own commits. By path. */
  touched(since: Since): readonly TouchedFile[];
  /** How many processes were started so far. */
  readonly processes: number;
}

function once<T>(read: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: read() };
    return kept.value;
  };
}

function onceEach<K, T>(read: (key: K) => T): (key: K) => T {
  const kept = new Map<K, { readonly value: T }>();
  return (key) => {
    const known = kept.get(key) ?? { value: read(key) };
    kept.set(key, known);
    return known.value;
  };
}

function deriveTouched(status: Status, own: OwnFiles, brought: ReadonlySet<string>): readonly TouchedFile[] {
  const mine = status.entries.filter((entry) => !brought.has(entry.path));
  const changed = mine.flatMap((entry) =>
    entry.kind === "renamed" && entry.from !== undefined ? [entry.path, entry.from] : [entry.path],
  );
  const inWorktree = new Set(changed);
  return [...new Set([...changed, ...own.files.keys()])]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((path) => {
      const commit = own.files.get(path)?.commit;
      const source = inWorktree.has(path) ? "worktree" : "commit";
      return { path, source, ...(commit === undefined ? {} : { commit }) };
    });
}

/** The prefetched commits, when they can be true: a failed run prints nothing, which would read as "nothing between". */
function parsePrefetched(prefetched: Prefetched, base: string | undefined): History | undefined {
  const { history } = prefetched;
  if (history === undefined || history.base !== base || history.bytes.length === 0) return undefined;
  return deriveHistory(parseHistory(history.bytes));
}

/**
 * Finds the repository around `start` and answers questions about it.
 * @throws ReeveError NOT_A_REPOSITORY here; NO_GIT or GIT_FAILED from the parts that need git itself.
 */
export function readRepository(system: System, start: AbsPath, prefetched: Prefetched = {}): GitReading {
  let processes = 0;
  const counted: System = {
    ...system,
    run: (program, args, options) => {
      processes += 1;
      return system.run(program, args, options);
    },
  };
  const repository = findRepository(counted, start);
  const given = prefetched.status !== undefined && isWholeStatus(prefetched.status) ? prefetched.status : undefined;
  let statusRead = given !== undefined;
  const status = once(() => {
    const read = given === undefined ? readStatus(counted, repository) : parseStatus(given);
    statusRead = true;
    return read;
  });
  const head = once((): Head => {
    if (!statusRead && !repository.unusual) return readHead(counted, repository);
    const { branch, head: commit } = status();
    return { branch, head: commit };
  });
  const history = onceEach((base: string | undefined): History => {
    const ends = { base, head: head().head };
    return (
      (base === ends.head ? undefined : parsePrefetched(prefetched, base)) ?? readHistory(counted, repository, ends)
    );
  });
  const reflog = once(() => readReflog(counted, repository));
  const own = (since: Since): OwnFiles => deriveOwnFiles({ ...since, history: history(since.base), reflog: reflog() });
  // What a merge under way has staged as the other side has it is the other side's work.
  const brought = once(() => readBrought(counted, repository, status()));
  return {
    repository,
    head,
    status,
    history,
    reflog,
    worktrees: once(() => listWorktrees(counted, repository)),
    own,
    touched: (since) => deriveTouched(status(), own(since), brought()),
    get processes() {
      return processes;
    },
  };
}
