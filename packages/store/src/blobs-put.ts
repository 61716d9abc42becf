import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  futimesSync,
  linkSync,
  openSync,
  renameSync,
  type Stats,
  utimesSync,
} from "node:fs";
import { dirname } from "node:path";
import { infoOf, syncDirectory, unlinkFile, writeFully } from "./atomic.ts";
import { hashFile, newHash, openBlobFile } from "./blobs-file.ts";
import { type BlobPlace, blobInfo, blobPath, makeFolder, newTemporary, syncNames } from "./blobs-place.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { withLock } from "./lock.ts";
import { isSameFile, platform, setMode, unsupported } from "./platform.ts";
import { discard } from "./temporaries.ts";

/** Bytes, a text (kept as UTF-8), or a stream of bytes, Node's and the web's included. */
export type BlobContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** What a put did. */
export interface BlobPut {
  /** SHA-256, in lower-case hexadecimal. */
  readonly hash: string;
  /** In bytes. */
  readonly size: number;
  /** `false`: the content was there already. */
  readonly added: boolean;
  /** Where a damaged blob of this hash was moved to make room. */
  readonly setAside?: string;
}

/** Keeps a content under its hash. */
export async function putBlob(place: BlobPlace, content: BlobContent): Promise<BlobPut> {
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  if (!(bytes instanceof Uint8Array)) return putPieces(place, streamOf(place, bytes));
  const hash = newHash().update(bytes).digest("hex");
  const taken = blobInfo(place.path, hash) === undefined ? undefined : await settleTaken(place, hash);
  if (taken?.kind === "kept") return { hash, size: bytes.length, added: false };
  return putPieces(place, bytes, taken?.setAside);
}

function streamOf({ path }: BlobPlace, content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (typeof content === "object" && content !== null && Symbol.asyncIterator in content) return content;
  throw noContent(path);
}

function noContent(path: string): StoreError {
  return new StoreError("BAD_VALUE", `${path}: a blob's content is a text, bytes or a stream of bytes`, { path });
}

/** Removes a blob, whatever it holds. */
export async function removeBlob(place: BlobPlace, hash: string): Promise<boolean> {
  if (blobInfo(place.path, hash) === undefined) return false;
  return withLock(place.lockPath, place.lock, async () => {
    const path = blobPath(place.path, hash);
    if (blobInfo(place.path, hash) === undefined || !unlinkFile(path)) return false;
    if (place.durability === "fsync") syncDirectory(dirname(path));
    return true;
  });
}

type Pieces = AsyncIterable<Uint8Array> | Uint8Array;

async function putPieces(place: BlobPlace, pieces: Pieces, earlier?: string): Promise<BlobPut> {
  makeFolder(place, place.path);
  const temporary = newTemporary(place.path);
  let setAside = earlier;
  try {
    const { hash, size } = await writePieces(place, temporary, pieces);
    const path = blobPath(place.path, hash);
    makeFolder(place, dirname(path));
    for (;;) {
      if (await takeName(place, temporary, path)) {
        syncNames(place, dirname(path));
        return { hash, size, added: true, ...aside(setAside) };
      }
      const taken = await settleTaken(place, hash);
      setAside = taken.setAside ?? setAside;
      if (taken.kind === "kept") return { hash, size, added: false, ...aside(setAside) };
    }
  } finally {
    discard(temporary);
  }
}

function aside(setAside: string | undefined): { readonly setAside?: string } {
  return setAside === undefined ? {} : { setAside };
}

interface Written {
  readonly hash: string;
  readonly size: number;
}

async function writePieces(place: BlobPlace, temporary: string, pieces: Pieces): Promise<Written> {
  const { mode, durability, path } = place;
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const doing = "write a blob";
  const file = attempt(path, doing, () =>
    openSync(temporary, O_WRONLY | O_CREAT | O_EXCL, mode === undefined ? 0o644 : mode & 0o600),
  );
  try {
    const hash = newHash();
    let size = 0;
    const take = (piece: Uint8Array): void => {
      if (!(piece instanceof Uint8Array)) throw noContent(path);
      attempt(path, doing, () => writeFully(file, piece));
      hash.update(piece);
      size += piece.length;
    };
    // At once, so that the caller may do with its bytes what it likes.
    if (pieces instanceof Uint8Array) take(pieces);
    else for await (const piece of pieces) take(piece);
    if (mode !== undefined) attempt(path, doing, () => setMode(file, mode));
    if (durability === "fsync") await sync(fsync, file, path);
    // A grace counts from the end of a put, however long the stream took.
    attempt(path, doing, () => {
      const time = new Date();
      futimesSync(file, time, time);
    });
    return { hash: hash.digest("hex"), size };
  } finally {
    closeSync(file);
  }
}

/** Gives a complete temporary file its name if that is free; answers whether it was. */
async function takeName(place: BlobPlace, temporary: string, path: string): Promise<boolean> {
  try {
    if (platform.hardLinks) {
      linkSync(temporary, path);
      return true;
    }
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    if (!unsupported.has(errnoOf(error))) throw toStoreError(error, path, "link the blob into place");
  }
  return withLock(place.lockPath, place.lock, async () => {
    if (infoOf(path) !== undefined) return false;
    attempt(path, "put the blob in place", () => renameSync(temporary, path));
    return true;
  });
}

interface Taken {
  /** `kept`: the content is there, whole and acknowledged. `gone`: the name may be free again. */
  readonly kind: "kept" | "gone";
  readonly setAside?: string;
}

/** Looks at what lies under a hash: the content, which is then as good as put again, or damage, which is moved away. */
async function settleTaken(place: BlobPlace, hash: string): Promise<Taken> {
  const path = blobPath(place.path, hash);
  const seen = await examine(place, hash);
  if (seen === undefined) return { kind: "gone" };
  const taken = await withLock(place.lockPath, place.lock, async (): Promise<Taken> => {
    const isSame = isSameFile(blobInfo(place.path, hash), seen.info);
    const now = isSame ? seen : await examine(place, hash);
    if (now === undefined) return { kind: "gone" };
    if (!now.isWhole) return { kind: "gone", setAside: setAside(path) };
    attempt(path, "renew the blob", () => {
      const time = new Date();
      utimesSync(path, time, time);
    });
    return { kind: "kept" };
  });
  if (taken.kind === "kept") syncNames(place, dirname(path));
  return taken;
}

interface Examined {
  readonly info: Stats;
  readonly isWhole: boolean;
}

/** Reads a blob; a whole one is on the disk then, whoever put it. */
async function examine(place: BlobPlace, hash: string): Promise<Examined | undefined> {
  const path = blobPath(place.path, hash);
  const file = blobInfo(place.path, hash) === undefined ? undefined : openBlobFile(path);
  if (file === undefined) return undefined;
  try {
    const isWhole = (await hashFile(file, path)) === hash;
    if (isWhole && place.durability === "fsync") await sync(fdatasync, file, path);
    return { info: fstatSync(file), isWhole };
  } finally {
    closeSync(file);
  }
}

/** Keeps a damaged blob's bytes under a name of their own. */
function setAside(path: string): string {
  const stamp = new Date().toISOString().replace(/[-:]/g, "");
  for (let turn = 1; ; turn += 1) {
    const free = `${path}.corrupt-${stamp}${turn === 1 ? "" : `-${turn}`}`;
    if (infoOf(free) !== undefined) continue;
    attempt(path, "set the damaged blob aside", () => renameSync(path, free));
    return free;
  }
}

type SyncCall = (file: number, done: (error: NodeJS.ErrnoException | null) => void) => void;

/** Off the main thread, so that puts under way at once share what the disk does. */
function sync(call: SyncCall, file: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    call(file, (error) => (error === null ? resolve() : reject(toStoreError(error, path, "sync the blob"))));
  });
}

function attempt<Result>(path: string, doing: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw toStoreError(error, path, doing);
  }
}
