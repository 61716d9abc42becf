import { type BigIntStats, closeSync, fstatSync } from "node:fs";
import { readRange } from "./digest.ts";
import type { KeyBytes, Place } from "./key-table.ts";
import { openLines } from "./line-reader.ts";
import { LineScanner, type ScannedLine } from "./line-scanner.ts";
import { openBell } from "./log-watch.ts";
import { isSameFile } from "./platform.ts";

/** What somebody did to a key. */
export type StoreChange<T> =
  | { readonly kind: "put"; readonly key: string; readonly value: T }
  | { readonly kind: "remove"; readonly key: string };

/** How far a file was read: only what comes after it is told. */
export interface StorePoint {
  /** Which file it was; `undefined` when there was none. */
  readonly info: BigIntStats | undefined;
  /** After its last whole line. */
  readonly end: number;
}

/** What is watched, and from where. */
export interface StoreWatchOptions<T> {
  readonly path: string;
  readonly key: string;
  readonly parse: ((value: unknown) => T) | undefined;
  readonly signal: AbortSignal;
  /** Asked once, when the watch begins. */
  readonly start: () => StorePoint;
}

/**
 * Every change that anybody makes to a store from now on. A file that was replaced (by a compaction, by a person) is compared
 * with what was there before, and what differs is told. Damaged lines are passed over.
 */
export async function* watchStore<T>(options: StoreWatchOptions<T>): AsyncGenerator<StoreChange<T>> {
  const { path, key, parse, signal, start } = options;
  if (signal.aborted) return;
  const bell = openBell(path, signal);
  const scanner = new LineScanner({ path, key, decode: parse });
  let seen = openSeen(path, start);
  try {
    do {
      const next = openSeen(path, () => seen);
      const found = next.known === "grown" ? readNew(scanner, next) : readDifference(scanner, seen, next);
      const read = (place: Place): T => decodeLine(next.file, place, parse);
      closeSeen(seen);
      seen = next;
      for (const [name, place] of found) {
        yield place === undefined ? { kind: "remove", key: name } : { kind: "put", key: name, value: read(place) };
        if (signal.aborted) return;
      }
    } while (await bell.next());
  } finally {
    closeSeen(seen);
    bell.close();
  }
}

/** An open file, and how far it was read. */
interface Seen {
  readonly file: number;
  readonly info: BigIntStats | undefined;
  /** Against what was known before: the same file with more lines, the same with less in it, or another one. */
  readonly known: "grown" | "cut" | "replaced";
  end: number;
}

/** The file at the path now, and how far it is known. */
function openSeen(path: string, known: () => StorePoint): Seen {
  const { info: before, end } = known();
  const file = openLines(path);
  if (file === undefined)
    return { file: -1, info: undefined, known: before === undefined ? "grown" : "replaced", end: 0 };
  const info = fstatSync(file, { bigint: true });
  if (!isSameFile(before, info)) return { file, info, known: "replaced", end: 0 };
  return Number(info.size) >= end ? { file, info, known: "grown", end } : { file, info, known: "cut", end: 0 };
}

function closeSeen({ file }: Seen): void {
  if (file !== -1) closeSync(file);
}

/** What happened to which key, in order: where its line lies, or nothing when it was removed. */
type Changes = Iterable<readonly [key: string, place: Place | undefined]>;

/** Lines after those that were read. */
function readNew(scanner: LineScanner, seen: Seen): Changes {
  const changes: [string, Place | undefined][] = [];
  seen.end = readLines(scanner, { file: seen.file, from: seen.end }, (key, place) => changes.push([key, place]));
  return changes;
}

/** Keys whose lines are others than they were; of a file that was cut nobody knows what it held. */
function readDifference(scanner: LineScanner, before: Seen, after: Seen): Changes {
  const old = new Map<string, Place>();
  const file = after.known === "cut" ? -1 : before.file;
  readLines(scanner, { file, from: 0, to: before.end }, (key, place) => setPlace(old, key, place));
  const fresh = new Map<string, Place>();
  after.end = readLines(scanner, { file: after.file, from: 0 }, (key, place) => setPlace(fresh, key, place));
  const changes: [string, Place | undefined][] = [];
  for (const [key, place] of fresh) {
    const known = old.get(key);
    if (known === undefined || !bytesAt(before.file, known).equals(bytesAt(after.file, place)))
      changes.push([key, place]);
  }
  for (const key of old.keys()) if (!fresh.has(key)) changes.push([key, undefined]);
  return changes;
}

function setPlace(places: Map<string, Place>, key: string, place: Place | undefined): void {
  if (place === undefined) places.delete(key);
  else places.set(key, place);
}

interface Part {
  /** -1 when there is none: it has no lines. */
  readonly file: number;
  readonly from: number;
  readonly to?: number;
}

/** Tells of every whole line; answers where the last one ends. */
function readLines(scanner: LineScanner, part: Part, tell: (key: string, place: Place | undefined) => void): number {
  if (part.file === -1) return 0;
  let end = part.from;
  const pass = ({ isTail, offset, length }: Readonly<ScannedLine>): boolean => {
    if (!isTail) end = offset + length + 1;
    return !isTail;
  };
  scanner.scan(
    part.file,
    { ...part, line: 1 },
    {
      entry: (line, key) => {
        if (pass(line)) tell(textOf(key), { offset: line.offset, length: line.length });
      },
      removal: (line, key) => {
        if (pass(line)) tell(textOf(key), undefined);
      },
      damaged: pass,
      blank: pass,
    },
  );
  return end;
}

function textOf({ bytes, from, to }: KeyBytes): string {
  return Buffer.from(bytes.subarray(from, to)).toString("utf8");
}

function bytesAt(file: number, { offset, length }: Place): Buffer {
  return readRange(file, offset, length);
}

function decodeLine<T>(file: number, place: Place, parse: ((value: unknown) => T) | undefined): T {
  const value: unknown = JSON.parse(bytesAt(file, place).toString("utf8"));
  return parse === undefined ? (value as T) : parse(value);
}
