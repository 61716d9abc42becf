import { fstatSync, readSync } from "node:fs";
import { toStoreError } from "./errors.ts";
import { maxLineBytes } from "./lines.ts";

/** Lines as they follow each other in a file, in a buffer that the next block uses again. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** Where the block begins in the file. */
  readonly offset: number;
  /**
   * `lines`: every line has its newline. `tail`: the file's last bytes, without one. `cut`: the first bytes of a line that is
   * longer than {@link maxLineBytes}; `skipped` says how many bytes it has, its newline not counted.
   */
  readonly kind: "lines" | "tail" | "cut";
  readonly skipped: number;
}

/** From where to where a file is read; `to` left out: the size it has when the reading begins. */
export interface ByteRange {
  readonly from: number;
  readonly to?: number;
}

/** Text of this size still lies among the young objects, whose collection costs next to nothing. */
const usualBytes = 64 * 1024;

/** Reads a file in blocks of whole lines, each as large as a chunk or as its one line. */
export function* readBlocks(file: number, path: string, range: ByteRange): Generator<LineBlock> {
  const end = range.to ?? sizeOf(file, path);
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(usualBytes, Math.max(1, end - range.from)));
  let offset = range.from;
  let held = 0;
  while (offset + held < end) {
    if (held === buffer.length) buffer = larger(buffer);
    const wanted = Math.min(buffer.length - held, end - offset - held);
    const got = readInto(file, path, { buffer, at: held, length: wanted, position: offset + held });
    if (got === 0) break;
    const last = buffer.subarray(held, held + got).lastIndexOf(0x0a);
    held += got;
    if (last !== -1) {
      const length = held - got + last + 1;
      yield { bytes: buffer.subarray(0, length), offset, kind: "lines", skipped: 0 };
      buffer = moved(buffer, length, held);
      offset += length;
      held -= length;
    } else if (held > maxLineBytes) {
      const next = skipLine(file, path, { from: offset + held, to: end });
      yield { bytes: buffer.subarray(0, held), offset, kind: "cut", skipped: next - 1 - offset };
      offset = next;
      held = 0;
    }
  }
  if (held > 0) yield { bytes: buffer.subarray(0, held), offset, kind: "tail", skipped: 0 };
}

/** What is left at the buffer's end, at its beginning; in a buffer of the usual size again where a long line made it larger. */
function moved(buffer: Buffer, from: number, to: number): Buffer {
  const target = buffer.length > usualBytes && to - from < usualBytes ? Buffer.allocUnsafe(usualBytes) : buffer;
  buffer.copy(target, 0, from, to);
  return target;
}

function larger(buffer: Buffer): Buffer {
  const next = Buffer.allocUnsafe(Math.min(buffer.length * 4, maxLineBytes + 1));
  buffer.copy(next);
  return next;
}

/** Where the line after the one at hand begins; past the end when that was the last. */
function skipLine(file: number, path: string, range: { readonly from: number; readonly to: number }): number {
  const buffer = Buffer.allocUnsafe(usualBytes);
  for (let position = range.from; position < range.to; ) {
    const length = Math.min(usualBytes, range.to - position);
    const got = readInto(file, path, { buffer, at: 0, length, position });
    if (got === 0) break;
    const newline = buffer.subarray(0, got).indexOf(0x0a);
    if (newline !== -1) return position + newline + 1;
    position += got;
  }
  return range.to + 1;
}

interface Part {
  readonly buffer: Buffer;
  readonly at: number;
  readonly length: number;
  readonly position: number;
}

function readInto(file: number, path: string, { buffer, at, length, position }: Part): number {
  try {
    return readSync(file, buffer, at, length, position);
  } catch (error) {
    throw toStoreError(error, path, "read the file");
  }
}

function sizeOf(file: number, path: string): number {
  try {
    return fstatSync(file).size;
  } catch (error) {
    throw toStoreError(error, path, "read the file");
  }
}
