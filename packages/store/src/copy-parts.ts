import { readSync } from "node:fs";
import { writeFully } from "./atomic.ts";
import { readRange } from "./digest.ts";
import { StoreError } from "./errors.ts";
import type { Place } from "./key-table.ts";

/** Whole lines that follow each other. */
export interface Part extends Readonly<Place> {
  /** Where in the file each of its lines ends; left out where nobody can have changed the file since they were found. */
  readonly ends?: readonly number[];
}

const copyBytes = 1024 * 1024;
const newline = 0x0a;

/**
 * Copies parts of one open file to the end of another, each with a newline after it. Throws `CONFLICT` when a line does not begin
 * after a newline or end at one: what was known of the file no longer holds.
 */
export function copyParts({ from, to, path }: Copied, parts: Iterable<Part>): void {
  const copy = new Copy({ from, to, path });
  for (const part of parts) copy.add(part);
  copy.flush();
}

/** One line without its newline. Throws `CONFLICT` when no whole line lies there. */
export function readLineAt(from: number, path: string, { offset, length }: Readonly<Place>): Buffer {
  const before = offset > 0 ? 1 : 0;
  const bytes = readRange(from, offset - before, before + length + 1);
  const end = bytes[before + length];
  const isWhole = bytes.length >= before + length && (end === undefined || end === newline);
  if (!isWhole || (before === 1 && bytes[0] !== newline)) throw changed(path);
  return bytes.subarray(before, before + length);
}

/** From which open file to which, and the name of the first, for errors. */
export interface Copied {
  readonly from: number;
  readonly to: number;
  readonly path: string;
}

class Copy {
  readonly #from: number;
  readonly #to: number;
  readonly #path: string;
  /** Begins with a byte that is not written: the one before what is read first. */
  readonly #buffer = Buffer.allocUnsafe(1 + copyBytes);
  #held = 1;

  constructor({ from, to, path }: Copied) {
    this.#from = from;
    this.#to = to;
    this.#path = path;
  }

  add({ offset, length, ends = [] }: Part): void {
    const stop = offset + length + 1;
    let checked = 0;
    for (let at = offset; at < stop; ) {
      if (this.#held === this.#buffer.length) this.flush();
      const got = this.#read(at, stop, at === offset && ends.length > 0);
      if (got === 0 && at < stop - 1) throw changed(this.#path);
      // The file's last line may lack its newline.
      if (got === 0) this.#buffer[this.#held] = newline;
      for (; (ends[checked] ?? stop) < at + got; checked += 1) {
        if (this.#buffer[this.#held + (ends[checked] ?? 0) - at] !== newline) throw changed(this.#path);
      }
      this.#held += Math.max(1, got);
      at += Math.max(1, got);
    }
  }

  flush(): void {
    writeFully(this.#to, this.#buffer.subarray(1, this.#held));
    this.#held = 1;
  }

  /** Reads on behind what is held; at a line's beginning, the newline before it is read too, over the one that lies there. */
  #read(at: number, stop: number, isBeginning: boolean): number {
    const before = isBeginning && at > 0 ? 1 : 0;
    const wanted = Math.min(stop - at, this.#buffer.length - this.#held);
    const got = readSync(this.#from, this.#buffer, this.#held - before, wanted + before, at - before);
    if (before === 1 && (got === 0 || this.#buffer[this.#held - 1] !== newline)) throw changed(this.#path);
    return got - before;
  }
}

function changed(path: string): StoreError {
  return new StoreError("CONFLICT", `${path}: was changed in place by somebody who does not take its lock`, { path });
}
