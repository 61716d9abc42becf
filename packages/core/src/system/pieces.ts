import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { openFileWriter, StoreError } from "@reeve/store";
import { ReeveError } from "../findings/errors.ts";
import type { AbsPath } from "./paths.ts";
import type { BeginFileOptions, FileWriter, Hash } from "./port.ts";

const pieceBytes = 1 << 16;

/** A piece is the reader's own: none is written over by the next. */
export function* readPieces(where: AbsPath, limit: number = Number.POSITIVE_INFINITY): Generator<Uint8Array> {
  const file = openToRead(where);
  try {
    let left = limit;
    while (left > 0) {
      const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, left));
      const count = readSync(file, piece, 0, piece.length, null);
      if (count === 0) return;
      left -= count;
      yield count === piece.length ? piece : piece.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

function openToRead(where: AbsPath): number {
  let file: number | undefined;
  try {
    // Without waiting: a pipe with no writer would keep an open for ever.
    file = openSync(where, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(file).isFile()) return file;
  } catch (error) {
    throw unreadable(where, error);
  }
  closeSync(file);
  throw unreadable(where, undefined);
}

function unreadable(where: AbsPath, cause: unknown): ReeveError {
  const code = errno(cause);
  const says = cause === undefined ? "is no file" : code === "ELOOP" ? "is a link" : code;
  return new ReeveError("UNREADABLE", `${where}: cannot be read (${says})`, { hint: `ls -ld '${where}'`, cause });
}

export function beginHash(): Hash {
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") };
}

export function beginFile(where: AbsPath, options: BeginFileOptions): FileWriter {
  const writer = orRefuse(() => openFileWriter(where, options));
  return {
    write: (bytes) => orRefuse(() => writer.write(bytes)),
    commit: () => orRefuse(() => writer.commit()),
    discard: () => writer.discard(),
  };
}

/** A place that is taken is a refusal, with what to do about it; every other error of the disk is the runner's to tell. */
function orRefuse<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "REFUSED_PATH") throw error;
    throw new ReeveError("REFUSED", error.message, error.hint === undefined ? {} : { hint: error.hint });
  }
}

function errno(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** One line of the terminal that standard error is; nothing when it is none. */
export function showProgress(text: string): void {
  if (!process.getBuiltinModule("node:tty").isatty(2)) return;
  try {
    writeSync(2, `\r\u001b[K${text}`);
  } catch {
    // Nobody watches any more.
  }
}
