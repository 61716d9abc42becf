import type { Hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, read, readSync } from "node:fs";
import { noBlob } from "./blobs-place.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";

/** A SHA-256 that grows; `node:crypto` is loaded at the first. */
export function newHash(): Hash {
  return process.getBuiltinModule("node:crypto").createHash("sha256");
}

/** Opens a blob for reading, without waiting on a pipe or following a link; `undefined` when there is none. */
export function openBlobFile(path: string): number | undefined {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "ELOOP") throw noBlob(path);
    throw toStoreError(error, path, "open the blob");
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw noBlob(path);
}

/** A blob's content, proven. */
export function readBlob(path: string, hash: string): Buffer | undefined {
  const file = openBlobFile(path);
  if (file === undefined) return undefined;
  try {
    const bytes = readAll(file);
    const found = newHash().update(bytes).digest("hex");
    if (found !== hash) throw damagedBlob(path, hash);
    return bytes;
  } catch (error) {
    throw toStoreError(error, path, "read the blob");
  } finally {
    closeSync(file);
  }
}

/** A blob's content in pieces, proven before the first. The file is open only while somebody takes pieces. */
export async function* streamBlob(path: string, hash: string): AsyncGenerator<Buffer> {
  const file = openBlobFile(path);
  if (file === undefined) throw new StoreError("NOT_FOUND", `${path}: the blob is gone`, { path });
  try {
    if ((await hashFile(file, path)) !== hash) throw damagedBlob(path, hash);
    const given = newHash();
    for (let at = 0; ; ) {
      const piece = await readPiece({ file, path }, Buffer.allocUnsafe(pieceLength), at);
      if (piece.length === 0) break;
      given.update(piece);
      at += piece.length;
      yield piece;
    }
    if (given.digest("hex") !== hash) throw damagedBlob(path, hash);
  } finally {
    closeSync(file);
  }
}

/** The hash of an open file's content, which is not held in memory. */
export async function hashFile(file: number, path: string): Promise<string> {
  const hash = newHash();
  const buffer = Buffer.allocUnsafe(pieceLength);
  for (let at = 0; ; ) {
    const piece = await readPiece({ file, path }, buffer, at);
    if (piece.length === 0) return hash.digest("hex");
    hash.update(piece);
    at += piece.length;
  }
}

/** The bytes are not those the name stands for. */
function damagedBlob(path: string, hash: string): StoreError {
  const message = `${path}: the content is not the one of hash ${hash}`;
  return new StoreError("DAMAGED", message, { path, details: { hash } });
}

const pieceLength = 1 << 18;

interface OpenFile {
  readonly file: number;
  readonly path: string;
}

/** Reads into the buffer from an offset on; an empty piece is the end. */
function readPiece({ file, path }: OpenFile, buffer: Buffer, at: number): Promise<Buffer> {
  return new Promise((done, failed) => {
    read(file, buffer, 0, buffer.length, at, (error, length) => {
      if (error === null) done(buffer.subarray(0, length));
      else failed(toStoreError(error, path, "read the blob"));
    });
  });
}

/** Node refuses to read more than 2 GiB in one call. */
const callLength = 1 << 30;

function readAll(file: number): Buffer {
  const bytes = Buffer.allocUnsafe(fstatSync(file).size);
  let done = 0;
  while (done < bytes.length) {
    const length = readSync(file, bytes, done, Math.min(callLength, bytes.length - done), done);
    if (length === 0) break;
    done += length;
  }
  return bytes.subarray(0, done);
}
