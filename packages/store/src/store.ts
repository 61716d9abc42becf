import type { Durability } from "./appender.ts";
import { StoreError } from "./errors.ts";
import { keyBytes } from "./key-table.ts";
import type { Problem } from "./lines.ts";
import { type LockOptions, readLock, releaseLock, takeLock } from "./lock.ts";
import { refuseHandEdited } from "./store-hand.ts";
import { indexFromBytes, readIndex, saveIndex } from "./store-index.ts";
import { placeStore, refuseKeyMember, refuseNoFile, refuseOtherShapes } from "./store-place.ts";
import { compactView, deriveCompaction, type RewriteReport } from "./store-rewrite.ts";
import { type Contents, StoreView } from "./store-view.ts";
import { type StoreChange, watchStore } from "./store-watch.ts";
import { type EncodedEntry, type EntryForm, encodeEntry, StoreWriter } from "./store-writer.ts";

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

/**
 * Opens a store; one whose file is not there is empty, and the first write makes it. Throws `REFUSED_PATH` for what is no
 * file, `OLD_FORMAT` and `NEWER` when another shape lies beside it, `DAMAGED` for a bad line of a file edited by hand.
 */
export function openStore<T = Readonly<Record<string, unknown>>>(options: StoreOptions<T>): Store<T> {
  const place = placeStore(options.path, options.shape);
  refuseKeyMember(place.path, options.key);
  const checks = (): void => {
    refuseNoFile(place.path);
    refuseOtherShapes(place, options.setAside);
    if (options.edited === "hand") refuseHandEdited({ path: place.path, key: options.key, parse: options.parse });
  };
  checks();
  return new FileStore(options, { path: place.path, checks });
}

interface StoreFile {
  readonly path: string;
  /** Throw when the file is not one this store may read. */
  readonly checks: () => void;
}

class FileStore<T> implements Store<T> {
  readonly #options: StoreOptions<T>;
  readonly #file: StoreFile;
  readonly #lockPath: string;
  readonly #view: StoreView;
  readonly #writer: StoreWriter;
  /** What an index gave, to tell whether there is anything new to keep. */
  #recalled: Contents | undefined;
  #isClosed = false;
  readonly #form: EntryForm;

  constructor(options: StoreOptions<T>, file: StoreFile) {
    const { key, parse, mode, lock, durability = "fsync" } = options;
    const { path } = file;
    this.#options = options;
    this.#file = file;
    this.#lockPath = options.lockPath ?? `${path}.lock`;
    this.#view = new StoreView({ path, key, parse, recall: (opened) => this.#recall(opened) });
    this.#writer = new StoreWriter(
      {
        path,
        key,
        parse,
        mode,
        lock,
        durability,
        lockPath: this.#lockPath,
        create: file.checks,
      },
      this.#view,
    );
    this.#form = { path, key, parse };
    this.#view.reopen();
  }

  /** No async function, for each costs a promise of its own. */
  put(value: T): Promise<void> {
    try {
      this.#refuseWrite();
      return this.#writer.put([this.#encode(value)]);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async putAll(values: readonly T[]): Promise<void> {
    this.#refuseWrite();
    if (values.length > 0) await this.#writer.put(values.map((value) => this.#encode(value)));
  }

  async remove(key: string): Promise<boolean> {
    this.#refuseWrite();
    // A key all of whose lines the decoder refuses is not there to be removed, and is known not to be after this.
    this.#find(key);
    return this.#writer.remove(key);
  }

  get(key: string): T | undefined {
    this.#refuseClosed();
    return this.#find(key);
  }

  #find(key: string): T | undefined {
    const value = this.#view.read(key);
    const { parse } = this.#options;
    if (value === undefined || parse === undefined) return value as T | undefined;
    try {
      return parse(value);
    } catch {
      this.#view.judge();
      const earlier = this.#view.read(key);
      return earlier === undefined ? undefined : parse(earlier);
    }
  }

  has(key: string): boolean {
    if (this.#options.parse !== undefined) return this.get(key) !== undefined;
    this.#refuseClosed();
    return this.#view.table.find(keyBytes(key)) >= 0;
  }

  get size(): number {
    return this.#judged().size;
  }

  keys(): IterableIterator<string> {
    const table = this.#judged();
    return Array.from(table.rows(), (row) => table.keyOf(row)).values();
  }

  *entries(): IterableIterator<[key: string, value: T]> {
    for (const key of this.keys()) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  get problems(): readonly Problem[] {
    this.#judged();
    const isWhole = this.#view.damaged.at(-1)?.isTail !== true || !this.#isBeingWritten();
    const told = isWhole ? this.#view.damaged : this.#view.damaged.slice(0, -1);
    return told.map(({ line, reason }) => ({ path: this.#file.path, line, reason }));
  }

  refresh(): boolean {
    this.#refuseClosed();
    this.#file.checks();
    return this.#view.refresh();
  }

  watch({ signal }: { readonly signal: AbortSignal }): AsyncGenerator<StoreChange<T>> {
    this.#refuseClosed();
    const { key, parse } = this.#options;
    const start = () => {
      this.#view.refresh();
      return this.#view.point;
    };
    return watchStore({ path: this.#file.path, key, parse, signal, start });
  }

  async compact({ dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<RewriteReport> {
    this.refresh();
    if (dryRun || this.#view.file === -1) return deriveCompaction(this.#view, this.#file.path);
    this.#refuseWrite();
    const hold = await takeLock(this.#lockPath, this.#options.lock ?? {});
    try {
      this.refresh();
      return compactView(this.#view, this.#file.path);
    } finally {
      releaseLock(hold);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#writer.close();
    await this.#keepIndex();
    this.#view.close();
  }

  #encode(value: T): EncodedEntry {
    const { encode } = this.#options;
    return encodeEntry(encode === undefined ? value : encode(value), this.#form);
  }

  #judged() {
    this.#refuseClosed();
    this.#view.judge();
    return this.#view.table;
  }

  #indexFile() {
    return { indexPath: this.#options.indexPath ?? `${this.#file.path}.idx`, key: this.#options.key };
  }

  #recall(opened: number): Contents | undefined {
    this.#recalled = readIndex(this.#indexFile(), opened);
    return this.#recalled;
  }

  /** Not being able to is no error: an index is a cache. */
  async #keepIndex(): Promise<void> {
    const view = this.#view;
    const isKept = view.contents?.table === this.#recalled?.table && view.lines === this.#recalled?.lines;
    if (this.#options.readOnly === true || view.size < indexFromBytes || isKept) return;
    try {
      const hold = await takeLock(this.#lockPath, { waitMs: 0 });
      try {
        view.refresh();
        const { contents } = view;
        if (contents !== undefined && !view.isOutdated) saveIndex(this.#indexFile(), view.file, contents);
      } finally {
        releaseLock(hold);
      }
    } catch {
      // Somebody else has the lock, or the folder takes no files.
    }
  }

  /** Somebody is at work on the last line, or was when it was read. */
  #isBeingWritten(): boolean {
    const lock = readLock(this.#lockPath);
    return (lock !== undefined && lock.state !== "gone") || this.#view.isOutdated;
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw this.#refused("is closed");
  }

  #refuseWrite(): void {
    this.#refuseClosed();
    if (this.#options.readOnly === true) throw this.#refused("was opened for reading only");
    if (this.#options.edited === "hand") throw this.#refused("is edited by hand, and by nothing else");
  }

  #refused(reason: string): StoreError {
    const { path } = this.#file;
    return new StoreError("BAD_VALUE", `${path}: ${reason}`, { path });
  }
}
