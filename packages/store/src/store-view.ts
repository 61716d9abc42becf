import { type BigIntStats, closeSync, fstatSync } from "node:fs";
import { StoreError } from "./errors.ts";
import { KeyTable, keyBytes, type Place } from "./key-table.ts";
import { openLines } from "./line-reader.ts";
import { LineScanner, type LineVisitor, type ScannedLine } from "./line-scanner.ts";
import { isSameFile } from "./platform.ts";
import { lookAt, parseObject, readText } from "./store-read.ts";
import type { StorePoint } from "./store-watch.ts";

/** A damaged line and where it lies. */
export interface DamagedLine extends Place {
  readonly line: number;
  readonly reason: string;
  readonly isTail: boolean;
}

/** What a store knows of its file's content, and an index keeps. */
export interface Contents {
  readonly table: KeyTable;
  readonly damaged: readonly DamagedLine[];
  /** How many lines there are, blank and damaged ones included. */
  readonly lines: number;
}

/** What a store reads and how. */
export interface ViewOptions {
  readonly path: string;
  readonly key: string;
  /** The decoder; asked only where its word is needed. */
  readonly parse: ((value: unknown) => unknown) | undefined;
  /** The content of the open file as it was kept earlier, if that is still what the file holds. */
  readonly recall: (file: number) => Contents | undefined;
}

/** The last bytes of a file, without a newline. */
interface Tail extends Place {
  readonly isDamaged: boolean;
}

/**
 * What lies in a store's file: which line holds each key, and what is damaged. Lines are found once and read when asked for;
 * the file stays open, so that one that was replaced meanwhile can still be read.
 */
export class StoreView {
  readonly #options: ViewOptions;
  #scanner: LineScanner;
  #file: number | undefined;
  #table = new KeyTable();
  #damaged: DamagedLine[] = [];
  /** Whole lines, and where they end. */
  #lines = 0;
  #end = 0;
  #tail: Tail | undefined;
  /** The file as it was when it was last read. */
  #seen: BigIntStats | undefined;
  #isJudged: boolean;
  #isTrusted = true;
  readonly #place: Place = { offset: 0, length: 0 };

  constructor(options: ViewOptions) {
    this.#options = options;
    this.#isJudged = options.parse === undefined;
    this.#scanner = new LineScanner({ path: options.path, key: options.key });
  }

  /** Every key that has a line; one whose lines the decoder refuses counts until {@link judge} was called. */
  get table(): KeyTable {
    this.#trust();
    return this.#table;
  }

  /** Is what is known still what the file holds, as far as this process can tell? */
  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  get damaged(): readonly DamagedLine[] {
    return this.#damaged;
  }

  /** All lines, an unfinished last one included. */
  get lines(): number {
    return this.#lines + (this.#tail === undefined ? 0 : 1);
  }

  /** How many bytes the file has, as far as it is known. */
  get size(): number {
    return this.#end + (this.#tail?.length ?? 0);
  }

  /** How far the file was read: which one it is, and where its last whole line ends. */
  get point(): StorePoint {
    return { info: this.#seen, end: this.#end };
  }

  /** The file that is open; -1 when there is none. */
  get file(): number {
    return this.#file ?? -1;
  }

  /** Has the file changed since it was read? */
  get isOutdated(): boolean {
    const there = lookAt(this.#options.path);
    if (there === undefined || !isSameFile(this.#seen, there)) return true;
    return this.#seen?.size !== there.size || this.#seen.mtimeNs !== there.mtimeNs;
  }

  /** What an index may keep: nothing while the last line lacks its newline, or where the decoder has had its say. */
  get contents(): Contents | undefined {
    if (this.#tail !== undefined || this.#file === undefined) return undefined;
    if (this.#isJudged && this.#options.parse !== undefined) return undefined;
    return { table: this.#table, damaged: this.#damaged, lines: this.#lines };
  }

  /** Takes in what was written since, by whomever; answers whether there was anything. */
  refresh(): boolean {
    const there = lookAt(this.#options.path);
    if (!this.#isTrusted) return this.reopen();
    if (there === undefined) return this.#forget();
    if (this.#file === undefined || !isSameFile(this.#seen, there)) return this.reopen();
    if (this.#seen?.size === there.size && this.#seen.mtimeNs === there.mtimeNs) return false;
    if (this.#hasGrown(there)) this.#takeIn();
    else this.#rescan();
    return true;
  }

  /** Reads the file that lies at the path now, from its start; answers whether there is one. `known`: what it holds. */
  reopen(known?: Contents): boolean {
    const file = openLines(this.#options.path);
    this.#drop();
    if (file === undefined) return false;
    this.#file = file;
    const kept = known ?? (this.contents === undefined ? undefined : this.#options.recall(file));
    if (kept === undefined) {
      this.#rescan();
      return true;
    }
    this.#table = kept.table;
    this.#damaged = [...kept.damaged];
    this.#lines = kept.lines;
    this.#seen = fstatSync(file, { bigint: true });
    this.#end = Number(this.#seen.size);
    return true;
  }

  /** So many lines of this process's own, all of them in the table, end the file at `end`; a refresh may have read them. */
  wrote(lines: number, end: number): void {
    if (this.#end >= end) return;
    this.#lines += lines;
    this.#end = end;
    const info = fstatSync(this.file, { bigint: true });
    // Longer already: somebody else's lines are still to be read.
    if (info.size === BigInt(end)) this.#seen = info;
  }

  /** Has every line decoded, now and from now on, so that no key is known only by lines the decoder refuses. */
  judge(): void {
    if (this.#isJudged) return;
    this.#isJudged = true;
    const { path, key, parse } = this.#options;
    this.#scanner = new LineScanner({ path, key, decode: parse });
    if (this.#file !== undefined) this.#rescan();
  }

  /** The entry of a key as its line says, not decoded; `undefined` when there is none. */
  read(key: string): Readonly<Record<string, unknown>> | undefined {
    this.#trust();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const row = this.#table.find(keyBytes(key));
      if (row < 0) return undefined;
      this.#table.readPlace(row, this.#place);
      const value = parseObject(this.#text(this.#place));
      if (value?.[this.#options.key] === key) return value;
      // Somebody changed the file in place.
      this.#rescan();
    }
    const { path } = this.#options;
    throw new StoreError("CONFLICT", `${path}: is changed in place while it is read`, { path });
  }

  /** Nothing that is known holds any longer: the file is read again before the next answer. */
  distrust(): void {
    this.#isTrusted = false;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #forget(): boolean {
    if (this.#file === undefined) return false;
    this.#drop();
    return true;
  }

  #trust(): void {
    if (!this.#isTrusted) this.reopen();
  }

  #drop(): void {
    this.close();
    this.#clear();
    this.#isTrusted = true;
  }

  #clear(): void {
    this.#table = new KeyTable();
    this.#damaged = [];
    this.#lines = 0;
    this.#end = 0;
    this.#tail = undefined;
    this.#seen = undefined;
  }

  #rescan(): void {
    this.#clear();
    this.#readOn();
  }

  /** It is longer, and its last whole line still ends where it did. */
  #hasGrown(there: BigIntStats): boolean {
    if (this.#seen === undefined || there.size <= this.#seen.size) return false;
    return this.#end === 0 || this.#text({ offset: this.#end - 1, length: 1 }) === "\n";
  }

  /** Reads from the last whole line on; an unfinished one that counted as an entry must not have become another. */
  #takeIn(): void {
    const tail = this.#tail;
    if (tail?.isDamaged === true) this.#damaged.pop();
    const isAnother =
      tail?.isDamaged === false && this.#text({ offset: tail.offset + tail.length, length: 1 }) !== "\n";
    if (isAnother) this.#clear();
    this.#tail = undefined;
    this.#readOn();
  }

  #readOn(): void {
    const seen = fstatSync(this.file, { bigint: true });
    const size = Number(seen.size);
    this.#tail = undefined;
    const range = { from: this.#end, to: size, line: this.#lines + 1 };
    this.#lines += this.#scanner.scan(this.file, range, this.#visitor);
    const tail = this.#unfinished();
    if (tail !== undefined) this.#lines -= 1;
    this.#end = tail?.offset ?? size;
    this.#seen = seen;
  }

  /** The visitor's note, which the compiler cannot see being taken. */
  #unfinished(): Tail | undefined {
    return this.#tail;
  }

  readonly #visitor: LineVisitor = {
    entry: (line, key) => {
      this.#table.set(key, line);
      if (line.isTail) this.#noteTail(line, false);
    },
    removal: (line, key) => {
      this.#table.delete(key);
      if (line.isTail) this.#noteTail(line, false);
    },
    damaged: (line, reason) => {
      const { number, offset, length, isTail } = line;
      this.#damaged.push({ line: number, reason, offset, length, isTail });
      if (line.isTail) this.#noteTail(line, true);
    },
    blank: (line) => {
      if (line.isTail) this.#noteTail(line, false);
    },
  };

  #noteTail({ offset, length }: Readonly<ScannedLine>, isDamaged: boolean): void {
    this.#tail = { offset, length, isDamaged };
  }

  #text(place: Readonly<Place>): string {
    return readText(this.file, this.#options.path, place);
  }
}
