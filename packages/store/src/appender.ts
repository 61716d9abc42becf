import { closeSync, fstatSync } from "node:fs";
import { dirname } from "node:path";
import { appendBytes, endLastLine, openForAppend } from "./append-bytes.ts";
import { ensureDirSync, infoOf, syncDirectory } from "./atomic.ts";
import { StoreError, toStoreError } from "./errors.ts";
import { type LockOptions, releaseLock, takeLock } from "./lock.ts";
import { isSameFile, setMode } from "./platform.ts";

/** When an append is acknowledged: on the disk, or with the operating system (which survives the process only). */
export type Durability = "fsync" | "os";

/** The file that is appended to, and how. */
export interface AppenderOptions {
  readonly path: string;
  readonly lockPath: string;
  readonly durability: Durability;
  /** The exact permission bits of a new file; left out, `0o644` less the umask. */
  readonly mode?: number | undefined;
  readonly lock?: LockOptions | undefined;
  readonly guest?: AppendGuest | undefined;
}

/** What the owner of a file does while its lock is held. */
export interface AppendGuest {
  /** There is no file, and one will be made. */
  create(): void;
  /** Before the first batch under a lock, and when the file was written meanwhile. Every line has its newline then. */
  begin(): void;
  /** A batch is written, and on the disk if it has to be; the file ends there. It is acknowledged after this. */
  written(end: number): void;
  /** A batch was not written. */
  failed(): void;
  /** After every batch; answers whether it replaced the file. */
  rewrite(): boolean;
}

/** Gives whole lines, each with its newline, or nothing; it is told where in the file they will lie. */
export type Compose = (offset: number) => string;

/** Larger batches are written in several. In UTF-16 code units; a single append may be larger. */
const batchLength = 32 * 1024 * 1024;

/** Appends whole lines to one file under its lock. */
export interface Appender {
  /** Resolves when acknowledged. The lines, about `length` characters, are composed under the lock, in the order of the calls. */
  append(length: number, compose: Compose): Promise<void>;
  /** Waits for what is queued and lets the file go. */
  close(): Promise<void>;
}

/**
 * Opens nothing yet: the file is opened, and made, at the first append. Appends that are asked for while another is at
 * work are written together with one write and one sync, and the lock is kept for them, but no longer than
 * {@link keepMs}; nor is the thread kept from other work for longer. An append that is alone is synced without leaving the thread, which takes a quarter less.
 */
export function openAppender(options: AppenderOptions): Appender {
  const state: State = {
    options,
    queue: [],
    file: undefined,
    size: -1,
    isChecked: false,
    rounds: 0,
    closed: false,
    pump: undefined,
  };
  return {
    append: (length, compose) => enqueue(state, length, compose),
    close: async () => {
      state.closed = true;
      await state.pump;
      letGo(state);
    },
  };
}

interface Waiting {
  readonly length: number;
  readonly compose: Compose;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface State {
  readonly options: AppenderOptions;
  queue: Waiting[];
  file: number | undefined;
  /** How long the file is after the last batch; -1 before the first. */
  size: number;
  /** The file was compared with the path since the lock was taken. */
  isChecked: boolean;
  /** How often callers asked again as soon as they were told. */
  rounds: number;
  closed: boolean;
  pump: Promise<void> | undefined;
}

const loopRounds = 32;

/** For how long, in milliseconds, the lock is kept for appends that queue behind the first. */
const keepMs = 5;

function enqueue(state: State, length: number, compose: Compose): Promise<void> {
  const { path } = state.options;
  if (state.closed) return Promise.reject(new StoreError("BAD_VALUE", `${path}: is closed`, { path }));
  return new Promise((resolve, reject) => {
    state.queue.push({ length, compose, resolve, reject });
    state.pump ??= pump(state);
  });
}

async function pump(state: State): Promise<void> {
  const { path, lockPath, lock = {} } = state.options;
  let since = performance.now();
  await gather(state);
  while (state.queue.length > 0) {
    const answers: (() => void)[] = [];
    try {
      if (state.file === undefined) ensureDirSync(dirname(path));
      const hold = await takeLock(lockPath, lock);
      try {
        await drain(state, answers);
      } finally {
        releaseLock(hold);
      }
    } catch (error) {
      answers.push(
        ...state.queue.splice(0).map(
          ({ reject }) =>
            () =>
              reject(error),
        ),
      );
    }
    tell(answers);
    if (performance.now() - since < keepMs) {
      await gather(state);
    } else {
      await new Promise(setImmediate);
      since = performance.now();
    }
    state.rounds = state.queue.length > 0 ? state.rounds + 1 : 0;
  }
  state.pump = undefined;
}

function tell(answers: (() => void)[]): void {
  for (const answer of answers.splice(0)) answer();
}

/**
 * Writes what is queued, and what queues meanwhile. Callers are told once the lock is given back, for they may go on with
 * something that blocks the thread and has another process wait for the lock. Who has asked again at once {@link loopRounds}
 * times is in a loop of appends, and is told before, so that the loop need not take the lock anew for each.
 */
async function drain(state: State, answers: (() => void)[]): Promise<void> {
  const until = performance.now() + keepMs;
  state.isChecked = false;
  do {
    const batch = state.queue.splice(0, countBatch(state.queue));
    try {
      await writeBatch(state, batch);
      for (const { resolve } of batch) answers.push(resolve);
    } catch (error) {
      for (const { reject } of batch) answers.push(() => reject(error));
    }
    if (state.options.guest?.rewrite() === true) state.isChecked = false;
    if (state.rounds >= loopRounds) {
      tell(answers);
      await gather(state);
    }
  } while (state.queue.length > 0 && performance.now() < until);
}

function countBatch(queue: readonly Waiting[]): number {
  let length = 0;
  const end = queue.findIndex((waiting, index) => {
    length += waiting.length;
    return index > 0 && length > batchLength;
  });
  return end === -1 ? queue.length : end;
}

/** Lets callers whose appends were acknowledged ask for their next ones, until none is added. */
async function gather({ queue }: State): Promise<void> {
  let known = -1;
  for (let turn = 0; turn < 12 && (queue.length === 0 || queue.length > known); turn += 1) {
    known = queue.length;
    await undefined;
  }
}

async function writeBatch(state: State, batch: readonly Waiting[]): Promise<void> {
  const { path, durability, guest } = state.options;
  try {
    const isFirst = !state.isChecked;
    const { file, size: found } = openFile(state);
    const size = found === state.size ? found : endLastLine(file, found);
    if (isFirst || found !== state.size) guest?.begin();
    const text = composeBatch(batch, size);
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length > 0) await appendBytes({ file, size, bytes, isAlone: batch.length === 1 }, durability === "fsync");
    state.size = size + bytes.length;
    guest?.written(state.size);
  } catch (error) {
    letGo(state);
    guest?.failed();
    throw toStoreError(error, path, "append to the file");
  }
}

function composeBatch(batch: readonly Waiting[], size: number): string {
  let offset = size;
  let text = "";
  for (const { compose } of batch) {
    const lines = compose(offset);
    offset += Buffer.byteLength(lines);
    text += lines;
  }
  return text;
}

/**
 * The file at the path now: one that was replaced since the last append is opened again. Its folder is synced before
 * anything is acknowledged, for whoever made the file may not have lived to do so.
 */
function openFile(state: State): { file: number; size: number } {
  const { path, mode, durability } = state.options;
  if (state.file !== undefined && state.isChecked) return { file: state.file, size: state.size };
  state.isChecked = true;
  const there = infoOf(path);
  if (state.file !== undefined) {
    const info = fstatSync(state.file);
    if (there !== undefined && isSameFile(info, there)) return { file: state.file, size: info.size };
    letGo(state);
  }
  if (there === undefined) state.options.guest?.create();
  const file = openForAppend(path);
  state.file = file;
  const info = fstatSync(file);
  if (!info.isFile()) throw new StoreError("REFUSED_PATH", `${path}: is not a file`, { path });
  if (there === undefined && mode !== undefined) setMode(file, mode);
  if (durability === "fsync") syncDirectory(dirname(path));
  return { file, size: info.size };
}

function letGo(state: State): void {
  state.size = -1;
  if (state.file === undefined) return;
  closeSync(state.file);
  state.file = undefined;
}
