import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { Checksum, checksum } from "./checksum.ts";
import { StoreError, toStoreError } from "./errors.ts";

/** SHA-256 in lower-case hexadecimal. `node:crypto` is loaded at the first call, for most commands need none. */
export function sha256(bytes: Uint8Array): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest("hex");
}

/** The checksum of a file's content, which is not held in memory. */
export function checksumOfFile(path: string): string {
  return withFile(path, (file) => {
    const sum = new Checksum();
    for (let at = 0; ; ) {
      const chunk = readRange(file, at, chunkLength);
      sum.update(chunk);
      at += chunk.length;
      if (chunk.length < chunkLength) return sum.digits();
    }
  });
}

/** The checksum of the last bytes (4 KiB at most) before an offset: tells a file that grew from another one. */
export function anchorOf(path: string, offset: number): string {
  const length = Math.min(offset, 4096);
  return checksum(readPart(path, offset - length, length));
}

/** A regular file's whole content. Whatever else lies there is refused without waiting on it. */
export function readWhole(path: string): Buffer {
  return withFile(path, (file) => readRange(file, 0, fstatSync(file).size));
}

/** A part of a file: shorter than asked for where the file ends earlier. */
export function readPart(path: string, from: number, length: number): Buffer {
  return withFile(path, (file) => readRange(file, from, length));
}

/** Opens a regular file for reading; a pipe or device is refused rather than waited for. */
function withFile<Result>(path: string, read: (file: number) => Result): Result {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw new StoreError("REFUSED_PATH", `${path}: is not a file`, { path });
      return read(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw toStoreError(error, path, "read the file");
  }
}

/** Reads until the length is reached or the file ends. */
export function readRange(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const read = readSync(file, bytes, done, Math.min(length - done, mostAtOnce), from + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

/** Node reads less than 2 GiB in one call. */
const mostAtOnce = 2 ** 30;

/** A multiple of four, as the checksum wants it. */
const chunkLength = 1 << 18;
