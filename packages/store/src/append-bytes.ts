import { constants, fdatasync, fdatasyncSync, ftruncateSync, openSync } from "node:fs";
import { writeFully } from "./atomic.ts";
import { readRange } from "./digest.ts";
import { errnoOf, StoreError } from "./errors.ts";

/**
 * Gives a last line its newline if it lacks one, and answers how long the file is then. On the disk before anything follows:
 * a whole entry must not become part of what a power cut makes of the next write.
 */
export function endLastLine(file: number, size: number): number {
  if (size === 0 || readRange(file, size - 1, 1)[0] === 0x0a) return size;
  writeFully(file, newline);
  fdatasyncSync(file);
  return size + newline.length;
}

const newline = Buffer.from("\n");

/** Bytes to be written at the end of an open file. */
export interface AppendedBytes {
  readonly file: number;
  /** The file's, before. */
  readonly size: number;
  readonly bytes: Uint8Array;
  /** One caller waits for them: they are synced in its own thread. */
  readonly isAlone: boolean;
}

/** Writes all of them, and syncs if it is to; what was written of them is taken back when that fails. */
export async function appendBytes({ file, size, bytes, isAlone }: AppendedBytes, isSynced: boolean): Promise<void> {
  try {
    writeFully(file, bytes);
    if (!isSynced) return;
    if (isAlone) fdatasyncSync(file);
    else await syncInBackground(file);
  } catch (error) {
    cutBack(file, size);
    throw error;
  }
}

function syncInBackground(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** What cannot be cut back is a torn line, which the next append leaves behind. */
function cutBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // The first failure is the one to report.
  }
}

/** Opens a file for appending, and makes it when it is not there; a link or a pipe is refused and not waited for. */
export function openForAppend(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644);
  } catch (error) {
    if (errnoOf(error) === "ELOOP") throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link`, { path });
    throw error;
  }
}
