import type { JobRecord } from "./records.ts";

export const subjectNames = [
  "reeve",
  "plain",
  "better-sqlite3",
  "lmdb",
  "lmdb putSync",
  "nedb",
  "lowdb",
  "conf",
  "proper-lockfile",
  "naive",
] as const;
export type SubjectName = (typeof subjectNames)[number];

/** `"os"`: acknowledged survives the process. `"fsync"`: it survives the power. */
export type Durability = "os" | "fsync";

/** Where a child finds what it measures. */
export interface Sources {
  /** The built module of `@reeve/store`. */
  readonly library: string;
  /** The folder whose `node_modules` holds the peers. */
  readonly packages: string;
}

/** What a child process does once. */
export type Work =
  | { readonly kind: "probe" }
  | { readonly kind: "fill"; readonly lines: number; readonly indexed?: boolean }
  | {
      readonly kind: "append";
      readonly entries: number;
      readonly durability: Durability;
      readonly callers: number | "queued";
    }
  | { readonly kind: "grow"; readonly lines: number; readonly entries: number }
  | { readonly kind: "open"; readonly lines: number }
  | { readonly kind: "reopen"; readonly lines: number }
  | { readonly kind: "get"; readonly lines: number; readonly lookups: number }
  | { readonly kind: "compact"; readonly lines: number }
  | { readonly kind: "lock"; readonly times: number }
  | { readonly kind: "takeover" }
  | { readonly kind: "hold" }
  | { readonly kind: "torture"; readonly workers: number; readonly milliseconds: number }
  | { readonly kind: "torment"; readonly until: number };

export interface Job {
  readonly subject: SubjectName;
  readonly work: Work;
  /** The job's own, empty before it begins. */
  readonly folder: string;
  /** What a `fill` of the same subject left; only read. */
  readonly fixture?: string;
  readonly sources: Sources;
}

/** Figures by name; what each means is said by the work. */
export type Figures = Readonly<Record<string, number>>;

/** Somebody who keeps entries. A put that gives no promise is acknowledged when it returns. */
export interface Appender {
  put(entry: JobRecord): Promise<unknown> | undefined;
  /** Waits for everything, counts what is kept and lets it go. */
  end(): Promise<number>;
}

/** What a store, or the plainest code for the same work, can do; each only where it is measured. */
export interface KeptSubject {
  /** Makes files that hold these entries, the last one of a key. */
  fill?(folder: string, entries: Iterable<JobRecord>): Promise<void> | void;
  /** Leaves in the folder what makes a second opening quick. */
  index?(folder: string): Promise<void>;
  append?(folder: string, durability: Durability): Promise<Appender> | Appender;
  /** Opens so that every entry was looked at and can be asked for, without any index; answers how many there are. */
  open?(folder: string, scratch: string): Promise<number> | number;
  readonly rewritesAtOpen?: boolean;
  /** Opens as quickly as it can and answers one entry's `rev`. */
  reopen?(folder: string, key: string): Promise<number> | number;
  /** A synchronous lookup that answers the entry. */
  getter?(folder: string, scratch: string): Promise<(key: string) => JobRecord> | ((key: string) => JobRecord);
  /** Prepares; the function it gives does the compaction. */
  compact?(folder: string): Promise<() => Promise<void> | void> | (() => Promise<void> | void);
}

/** A lock between processes. */
export interface LockSubject {
  /** Takes it and gives it back, nothing in between. */
  cycle?(path: string): Promise<void> | undefined;
  /** Waits for it, runs something that takes no time, and gives it back. */
  hold?(path: string, run: () => Promise<void> | void): Promise<void>;
}

export type Subject = KeptSubject & LockSubject;
