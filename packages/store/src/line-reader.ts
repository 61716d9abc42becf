import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { infoOf } from "./atomic.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { maxLineBytes } from "./lines.ts";

/** A line as it lies in the file, without its newline. */
export interface RawLine {
  readonly bytes: Uint8Array;
  /** Where it starts in the file. */
  readonly offset: number;
  /** Its newline is missing: it is the last, and its writer may not be done. */
  readonly isTail: boolean;
}

/** Opens a file of lines for reading; `undefined` when it is not there, `REFUSED_PATH` when it is no file. */
export function openLines(path: string): number | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") {
      const info = infoOf(path);
      if (info === undefined) return undefined;
      // Somebody made it meanwhile.
      if (!info.isSymbolicLink()) return openLines(path);
      throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link that leads nowhere`, { path });
    }
    throw toStoreError(error, path, "read the file");
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new StoreError("REFUSED_PATH", `${path}: is not a file`, { path });
}

/**
 * The lines of an open file from an offset on, read in chunks. What lies beyond the size the file had when the reading
 * began is not read. A line longer than {@link maxLineBytes} comes as its first bytes, one more than that.
 */
export function* readRawLines(file: number, path: string, from: number): Generator<RawLine> {
  const size = sizeOf(file, path);
  let parts: Uint8Array[] = [];
  let held = 0;
  let offset = from;
  let at = from;
  while (at < size) {
    const chunk = readChunk(file, path, { at, length: Math.min(chunkBytes, size - at) });
    if (chunk.length === 0) break;
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const rest = chunk.subarray(start, end);
      yield { bytes: held === 0 ? rest : Buffer.concat([...parts, rest]), offset, isTail: false };
      parts = [];
      held = 0;
      start = end + 1;
      offset = at + start;
    }
    if (held <= maxLineBytes && start < chunk.length) {
      parts.push(chunk.subarray(start));
      held += chunk.length - start;
    }
    at += chunk.length;
  }
  if (held > 0) yield { bytes: Buffer.concat(parts), offset, isTail: true };
}

const chunkBytes = 256 * 1024;

function sizeOf(file: number, path: string): number {
  try {
    return fstatSync(file).size;
  } catch (error) {
    throw toStoreError(error, path, "read the file");
  }
}

function readChunk(file: number, path: string, part: { at: number; length: number }): Buffer {
  const chunk = Buffer.allocUnsafe(part.length);
  try {
    return chunk.subarray(0, readSync(file, chunk, 0, part.length, part.at));
  } catch (error) {
    throw toStoreError(error, path, "read the file");
  }
}
