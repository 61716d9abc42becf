import { closeSync, type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { checksum } from "./checksum.ts";
import { readRange } from "./digest.ts";
import { toStoreError } from "./errors.ts";
import { openLines, readRawLines } from "./line-reader.ts";
import { type Entry, parseLine } from "./lines.ts";

/** What is watched, and from where. */
export interface WatchOptions<T> {
  readonly path: string;
  readonly parse: ((value: unknown) => T) | undefined;
  readonly signal: AbortSignal;
  /** Left out: only what is appended from now on. */
  readonly fromLine: number | undefined;
}

/**
 * Whole entries as they are appended, by any process. One watch on the folder, which must exist: a watch on the file
 * itself would be lost with the first file that replaces it. Damaged and unfinished lines are passed over.
 */
export async function* watchLines<T>({ path, parse, signal, fromLine }: WatchOptions<T>): AsyncGenerator<Entry<T>> {
  if (signal.aborted) return;
  const bell = openBell(path, signal);
  try {
    const follower: Follower = { offset: 0, line: 0, last: undefined };
    if (fromLine === undefined) skipLines(follower, path);
    do {
      for (const { bytes, line } of readNewLines(follower, path)) {
        const found = line < (fromLine ?? 1) ? undefined : parseLine(bytes, { line, isTail: false }, { path, parse });
        if (found !== undefined && !("reason" in found)) yield found;
        if (signal.aborted) return;
      }
    } while (await bell.next());
  } finally {
    bell.close();
  }
}

/** How far a watcher has come: the end of the last whole line, its number, and what tells it from another line there. */
interface Follower {
  offset: number;
  line: number;
  last: { readonly length: number; readonly checksum: string } | undefined;
}

function skipLines(follower: Follower, path: string): void {
  const lines = readNewLines(follower, path);
  while (lines.next().done !== true);
}

function* readNewLines(follower: Follower, path: string): Generator<{ bytes: Uint8Array; line: number }> {
  const file = openLines(path);
  if (file === undefined) return;
  try {
    if (!isWhereItWas(follower, file)) Object.assign(follower, { offset: 0, line: 0, last: undefined });
    for (const { bytes, offset, isTail } of readRawLines(file, path, follower.offset)) {
      if (isTail) break;
      follower.line += 1;
      follower.offset = offset + bytes.length + 1;
      follower.last = { length: bytes.length, checksum: checksum(bytes) };
      yield { bytes, line: follower.line };
    }
  } finally {
    closeSync(file);
  }
}

/** Does the last line still lie where it was read, so that what follows it is new? */
function isWhereItWas({ offset, last }: Follower, file: number): boolean {
  if (last === undefined) return true;
  const line = readRange(file, offset - last.length - 1, last.length + 1);
  return line.length === last.length + 1 && line.at(-1) === 0x0a && checksum(line.subarray(0, -1)) === last.checksum;
}

/** Rings when something happens to a file, whoever replaces it. */
export interface Bell {
  /** Waits until something happened in the folder since the last call; `false` when the signal is aborted. */
  next(): Promise<boolean>;
  close(): void;
}

/** One watch on the file's folder, which must exist. */
export function openBell(path: string, signal: AbortSignal): Bell {
  let rung = false;
  let failure: unknown;
  let wake = (): void => {};
  const ring = (): void => {
    rung = true;
    wake();
  };
  const watcher = watchFolder(path, ring);
  watcher.on("error", (error) => {
    failure = error;
    ring();
  });
  signal.addEventListener("abort", ring);
  return {
    next: async () => {
      if (!rung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      rung = false;
      if (failure !== undefined) throw toStoreError(failure, dirname(path), "watch the folder");
      return !signal.aborted;
    },
    close: () => {
      signal.removeEventListener("abort", ring);
      watcher.close();
    },
  };
}

function watchFolder(path: string, changed: () => void): FSWatcher {
  const name = basename(path);
  try {
    return watch(dirname(path), (_event, which) => {
      if (which === null || which === name) changed();
    });
  } catch (error) {
    throw toStoreError(error, dirname(path), "watch the folder");
  }
}
