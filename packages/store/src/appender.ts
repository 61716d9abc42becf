import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  type Stats,
} from "node:fs";
import { dirname } from "node:path";
import { ensureDirSync, infoOf, syncDirectory, writeFully } from "./atomic.ts";
import { readRange } from "./digest.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { withLock } from "./lock.ts";

/** When an append is acknowledged: on the disk, or with the operating system (which survives the process only). */
export type Durability = "fsync" | "os";

/** The file that is appended to, and how. */
export interface AppenderOptions {
  readonly path: string;
  readonly lockPath: string;
  readonly durability: Durability;
  /** The exact permission bits of a new file; left out, `0o644` less the umask. */
  readonly mode?: number | undefined;
}

/** Appends whole lines to one file under its lock. */
export interface Appender {
  /** Text that ends in a newline. Resolves when acknowledged. */
  append(text: string): Promise<void>;
  /** Waits for what is queued and lets the file go. */
  close(): Promise<void>;
}

/**
 * Opens nothing yet: the file is opened, and made, at the first append. Appends that are asked for while another is at
 * work are written together with one write and one sync, and the lock is kept for them, but no longer than
 * {@link keepMs}.
 */
export function openAppender(options: AppenderOptions): Appender {
  const state: State = { options, queue: [], file: undefined, closed: false, pump: undefined };
  return {
    append: (text) => enqueue(state, text),
    close: async () => {
      state.closed = true;
      await state.pump;
      letGo(state);
    },
  };
}

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface State {
  readonly options: AppenderOptions;
  queue: Waiting[];
  file: number | undefined;
  closed: boolean;
  pump: Promise<void> | undefined;
}

/** For how long, in milliseconds, the lock is kept for appends that queue behind the first. */
const keepMs = 5;

function enqueue(state: State, text: string): Promise<void> {
  const { path } = state.options;
  if (state.closed) return Promise.reject(new StoreError("BAD_VALUE", `${path}: is closed`, { path }));
  return new Promise((resolve, reject) => {
    state.queue.push({ text, resolve, reject });
    state.pump ??= pump(state);
  });
}

async function pump(state: State): Promise<void> {
  await Promise.resolve();
  while (state.queue.length > 0) {
    try {
      ensureDirSync(dirname(state.options.path));
      await withLock(state.options.lockPath, {}, () => drain(state));
    } catch (error) {
      for (const { reject } of state.queue.splice(0)) reject(error);
    }
  }
  state.pump = undefined;
}

async function drain(state: State): Promise<void> {
  const until = performance.now() + keepMs;
  do {
    const batch = state.queue.splice(0);
    try {
      writeBatch(state, batch);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    await new Promise(setImmediate);
  } while (state.queue.length > 0 && performance.now() < until);
}

function writeBatch(state: State, batch: readonly Waiting[]): void {
  const { path, durability } = state.options;
  try {
    const { file, size } = openFile(state);
    const torn = size > 0 && readRange(file, size - 1, 1)[0] !== 0x0a;
    const text = batch.map((waiting) => waiting.text).join("");
    try {
      writeFully(file, Buffer.from(torn ? `\n${text}` : text, "utf8"));
      if (durability === "fsync") fdatasyncSync(file);
    } catch (error) {
      ftruncateSync(file, size);
      throw error;
    }
  } catch (error) {
    letGo(state);
    throw toStoreError(error, path, "append to the file");
  }
}

/**
 * The file at the path now: one that was replaced since the last append is opened again. Its folder is synced before
 * anything is acknowledged, for whoever made the file may not have lived to do so.
 */
function openFile(state: State): { file: number; size: number } {
  const { path, mode, durability } = state.options;
  const there = infoOf(path);
  if (state.file !== undefined) {
    const info = fstatSync(state.file);
    if (there !== undefined && isSame(info, there)) return { file: state.file, size: info.size };
    letGo(state);
  }
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openRefusing(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
  state.file = file;
  const info = fstatSync(file);
  if (!info.isFile()) throw new StoreError("REFUSED_PATH", `${path}: is not a file`, { path });
  if (there === undefined && mode !== undefined) fchmodSync(file, mode);
  if (durability === "fsync") syncDirectory(dirname(path));
  return { file, size: info.size };
}

function openRefusing(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o644);
  } catch (error) {
    if (errnoOf(error) === "ELOOP") throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link`, { path });
    throw error;
  }
}

function isSame(left: Stats, right: Stats): boolean {
  return left.ino === right.ino && left.dev === right.dev;
}

function letGo(state: State): void {
  if (state.file === undefined) return;
  closeSync(state.file);
  state.file = undefined;
}
