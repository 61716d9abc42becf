import { StoreError } from "./errors.ts";
import { keyBytes } from "./key-table.ts";
import type { Problem } from "./lines.ts";
import { readLock, releaseLock, takeLock } from "./lock.ts";
import { refuseHandEdited } from "./store-hand.ts";
import { indexFromBytes, readIndex, saveIndex } from "./store-index.ts";
import type { Store, StoreOptions } from "./store-interface.ts";
import { placeStore, refuseKeyMember, refuseNoFile, refuseOtherShapes } from "./store-place.ts";
import { compactView, deriveCompaction, type RewriteReport } from "./store-rewrite.ts";
import { type Contents, StoreView } from "./store-view.ts";
import { type StoreChange, watchStore } from "./store-watch.ts";
import { type EncodedEntry, type EntryForm, encodeEntry, StoreWriter } from "./store-writer.ts";

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
    // A person's editor may have changed any line of it.
    const isAnother = this.#options.edited === "hand" && this.#view.isOutdated;
    return isAnother ? this.#view.reopen() : this.#view.refresh();
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
    if (this.#isReadOnly || view.size < indexFromBytes || isKept) return;
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

  get #isReadOnly(): boolean {
    return this.#options.readOnly === true || this.#options.edited === "hand";
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw this.#refused("is closed");
  }

  #refuseWrite(): void {
    this.#refuseClosed();
    if (this.#options.edited === "hand") throw this.#refused("is edited by hand, and by nothing else");
    if (this.#isReadOnly) throw this.#refused("was opened for reading only");
  }

  #refused(reason: string): StoreError {
    const { path } = this.#file;
    return new StoreError("BAD_VALUE", `${path}: ${reason}`, { path });
  }
}
