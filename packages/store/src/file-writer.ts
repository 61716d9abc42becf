import { closeSync, constants, fsyncSync, linkSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { ensureDirSync, infoOf, syncDirectory, writeFully } from "./atomic.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { platform, setMode, unsupported } from "./platform.ts";
import { discard, sweepTemporaries, temporaryName } from "./temporaries.ts";

/** How a file that is written piece by piece comes to be. */
export interface FileWriterOptions {
  /** The exact permission bits. */
  readonly mode: number;
  /** May it take the place of a file that is there? */
  readonly replace: boolean;
  /** The permission bits of folders that are made for it. Default `0o700`. */
  readonly dirMode?: number;
}

/** A file that is written piece by piece and is there whole or not at all. Every call blocks the thread. */
export interface FileWriter {
  write(bytes: Uint8Array): void;
  /** Gives it its name; it is on the disk then. Throws `REFUSED_PATH`, and it is gone, when the name is taken meanwhile. */
  commit(): void;
  /** Leaves nothing of it. */
  discard(): void;
}

/**
 * Begins a file beside its name, in a folder that is made when it is missing. Any failure leaves nothing of it and throws a
 * `StoreError` that names the path; `REFUSED_PATH` when something that may not be replaced lies there.
 */
export function openFileWriter(path: string, options: FileWriterOptions): FileWriter {
  ensureDirSync(dirname(path), { mode: options.dirMode ?? 0o700 });
  refuseTaken(path, options.replace);
  sweepTemporaries([path]);
  const temporary = temporaryName(path);
  const state: { file: number | undefined } = { file: begin(temporary, path) };
  const leave = (): void => {
    if (state.file !== undefined) closeSync(state.file);
    state.file = undefined;
  };
  const orDiscard = (work: (file: number) => void): void => {
    if (state.file === undefined) throw new StoreError("BAD_VALUE", `${path}: is written after its end`, { path });
    try {
      work(state.file);
    } catch (error) {
      leave();
      discard(temporary);
      throw toStoreError(error, path, "write the file");
    }
  };
  return {
    write: (bytes) => orDiscard((file) => writeFully(file, bytes)),
    commit: () =>
      orDiscard((file) => {
        setMode(file, options.mode);
        fsyncSync(file);
        leave();
        refuseTaken(path, options.replace);
        publish(temporary, path, options.replace);
        syncDirectory(dirname(path));
      }),
    discard: () => {
      if (state.file === undefined) return;
      leave();
      discard(temporary);
    },
  };
}

function begin(temporary: string, path: string): number {
  try {
    return openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    throw toStoreError(error, path, "begin the file");
  }
}

function refuseTaken(path: string, replace: boolean): void {
  const info = infoOf(path);
  if (info === undefined || (replace && info.isFile())) return;
  const what = info.isDirectory() ? "a folder" : info.isSymbolicLink() ? "a link" : "a file";
  throw new StoreError("REFUSED_PATH", `${path}: ${what} is there already, and is not replaced`, {
    path,
    hint: "name a path that is free",
  });
}

/** A name that was to be free is taken only while it is: a link, unlike a rename, fails when it is not. */
function publish(temporary: string, path: string, replace: boolean): void {
  if (replace || !platform.hardLinks) {
    renameSync(temporary, path);
    return;
  }
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") refuseTaken(path, false);
    if (!unsupported.has(errnoOf(error))) throw error;
    renameSync(temporary, path);
    return;
  }
  discard(temporary);
}
