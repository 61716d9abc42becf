import { closeSync, fstatSync } from "node:fs";
import { type Durability, openAppender } from "./appender.ts";
import { encodeLine } from "./line.ts";
import { openLines, readRawLines } from "./line-reader.ts";
import { type Entry, type Problem, parseLine } from "./lines.ts";
import { readLock } from "./lock.ts";
import { watchLines } from "./log-watch.ts";

/** A file of entries without keys that only ever grows. */
export interface LogOptions<T> {
  readonly path: string;
  /** Default `"fsync"`. */
  readonly durability?: Durability;
  /** Turns a line's object into an entry; throws when it is none. Left out: the object as it is. */
  readonly parse?: (value: unknown) => T;
  /** Default: the path and `.lock`. */
  readonly lockPath?: string;
  /** The exact permission bits of a new file; left out, `0o644` less the umask. */
  readonly mode?: number;
}

/** An open log. */
export interface Log<T> {
  /** Resolves when the entry is acknowledged; rejects, and nothing was added, otherwise. */
  append(value: T): Promise<void>;
  /** Several entries with one write: all of them or, when it rejects, none. */
  appendAll(values: readonly T[]): Promise<void>;
  /** The entries from a line on, as they lie on the disk now. An absent file has none; damaged lines are skipped. */
  read(options?: { readonly fromLine?: number }): Generator<Entry<T>>;
  /** The damaged lines the latest {@link Log.read} came past. */
  readonly problems: readonly Problem[];
  /**
   * Entries anybody appends from now on (or from `fromLine` on), until the signal is aborted. A log that was replaced by
   * one that begins the same is followed on; any other one from its first line.
   */
  watch(options: { readonly signal: AbortSignal; readonly fromLine?: number }): AsyncGenerator<Entry<T>>;
  /** Waits for appends under way and lets the file go. */
  close(): Promise<void>;
}

/** Opens an append-only log. The file and its folder are made at the first append. */
export function openLog<T = Readonly<Record<string, unknown>>>(options: LogOptions<T>): Log<T> {
  const { path, durability = "fsync", lockPath = `${path}.lock`, parse, mode } = options;
  const appender = openAppender({ path, lockPath, durability, mode });
  let problems: Problem[] = [];
  return {
    append: async (value) => {
      const line = `${encodeLine(value)}\n`;
      await appender.append(line.length, () => line);
    },
    appendAll: async (values) => {
      const text = values.map((value) => `${encodeLine(value)}\n`).join("");
      if (text !== "") await appender.append(text.length, () => text);
    },
    read: ({ fromLine = 1 } = {}) => {
      const found: Problem[] = [];
      problems = found;
      return readEntries({ path, lockPath, parse, fromLine, problems: found });
    },
    get problems() {
      return problems;
    },
    watch: ({ signal, fromLine }) => watchLines({ path, parse, signal, fromLine }),
    close: () => appender.close(),
  };
}

interface Reading<T> {
  readonly path: string;
  readonly lockPath: string;
  readonly parse: ((value: unknown) => T) | undefined;
  readonly fromLine: number;
  readonly problems: Problem[];
}

function* readEntries<T>({ path, lockPath, parse, fromLine, problems }: Reading<T>): Generator<Entry<T>> {
  const file = openLines(path);
  if (file === undefined) return;
  try {
    let line = 0;
    for (const { bytes, offset, isTail } of readRawLines(file, path, 0)) {
      line += 1;
      if (line < fromLine) continue;
      const found = parseLine(bytes, { line, isTail }, { path, parse });
      if (found === undefined) continue;
      if (!("reason" in found)) yield found;
      else if (!isTail || !isBeingWritten({ lockPath, file, end: offset + bytes.length })) problems.push(found);
    }
  } finally {
    closeSync(file);
  }
}

interface LastLine {
  readonly lockPath: string;
  readonly file: number;
  readonly end: number;
}

/** While somebody holds the lock, a last line without its newline is one that is being written; so is one that has grown. */
function isBeingWritten({ lockPath, file, end }: LastLine): boolean {
  const lock = readLock(lockPath);
  return (lock !== undefined && lock.state !== "gone") || fstatSync(file).size !== end;
}
