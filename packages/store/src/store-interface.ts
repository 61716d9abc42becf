import type { Durability } from "./appender.ts";
import type { Problem } from "./lines.ts";
import type { LockOptions } from "./lock.ts";
import type { RewriteReport } from "./store-rewrite.ts";
import type { StoreChange } from "./store-watch.ts";

/** A keyed store: one file of JSON Lines, an entry a line, the last line for a key wins (seed: everything is a file). */
export interface StoreOptions<T> {
  /** `jobs.jsonl`; a store of shape 2 then lies in `jobs.v2.jsonl`. */
  readonly path: string;
  /** The member whose value, a text that is not empty, is the entry's key. */
  readonly key: string;
  /** Default `"fsync"`: acknowledged means on the disk. */
  readonly durability?: Durability;
  /**
   * Turns a line's object into an entry; throws when it is none, which makes the line damaged. Asked for an entry that is
   * wanted; for all of them, once, by `size`, `keys`, `entries` and `problems`. Left out: the object as it is.
   */
  readonly parse?: (value: unknown) => T;
  /** The members an entry is written with. Left out: its own. */
  readonly encode?: (value: T) => Readonly<Record<string, unknown>>;
  /**
   * `"hand"`: a person edits the file. It is read strictly, the first line that is no entry or repeats a key is an error,
   * and it is never written. Default `"tool"`.
   */
  readonly edited?: "tool" | "hand";
  /** The number of the form its entries have; other shapes are named and never read. Default 1, or what the path's name says. */
  readonly shape?: number;
  /** What to type to set an older shape aside. */
  readonly setAside?: string;
  /** Default: the file's path and `.lock`. */
  readonly lockPath?: string;
  /** Default: the file's path and `.idx`. A cache: deleting it changes how long opening takes. */
  readonly indexPath?: string;
  /** Writes nothing, not even the index. */
  readonly readOnly?: boolean;
  /** The exact permission bits of a new file; left out, `0o644` less the umask. */
  readonly mode?: number;
  /** How the lock is waited for. */
  readonly lock?: LockOptions;
}

/** An open store. What it reads is the file as it was when it was opened, last written or refreshed. */
export interface Store<T> {
  /** Resolves when the entry is acknowledged; rejects, and nothing was written, otherwise. */
  put(value: T): Promise<void>;
  /** Several entries with one write and one sync: all of them or, when it rejects, none. */
  putAll(values: readonly T[]): Promise<void>;
  /** Appends a line that removes the key; answers whether there was one. */
  remove(key: string): Promise<boolean>;
  /** The entry of a key. Where the decoder refuses its last line, the last one before that it takes. */
  get(key: string): T | undefined;
  has(key: string): boolean;
  /** How many keys there are. */
  readonly size: number;
  /** In order of first appearance; a key that was removed and put again comes last. */
  keys(): IterableIterator<string>;
  entries(): IterableIterator<[key: string, value: T]>;
  /** The damaged lines: each costs itself only. An unfinished last line counts unless somebody is writing. */
  readonly problems: readonly Problem[];
  /** Takes in what other processes wrote; answers whether there was anything. */
  refresh(): boolean;
  /** What anybody changes from now on, until the signal is aborted. The store's folder must exist. */
  watch(options: { readonly signal: AbortSignal }): AsyncGenerator<StoreChange<T>>;
  /**
   * Rewrites the file to one line for each key, in order of first appearance; damaged lines go to `<file>.damaged`. Appends
   * do it of themselves beyond twice as many lines as keys, plus 64. A dry run says what would be and writes nothing.
   */
  compact(options?: { readonly dryRun?: boolean }): Promise<RewriteReport>;
  /** Waits for writes under way, keeps the index of a large file and lets the file go. */
  close(): Promise<void>;
}
