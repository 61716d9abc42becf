import { type Dirent, readdirSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Durability } from "./appender.ts";
import { ensureDirSync, infoOf, syncDirectory } from "./atomic.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import type { LockOptions } from "./lock.ts";
import { temporaryName } from "./temporaries.ts";

/** An open folder of blobs. */
export interface BlobPlace {
  readonly path: string;
  /** Guards what happens to a name that is taken: a free one is taken by a single call. */
  readonly lockPath: string;
  readonly lock: LockOptions;
  readonly mode: number | undefined;
  readonly durability: Durability;
  /** Folders whose own entry is known to be on the disk. */
  readonly synced: Set<string>;
}

const hashForm = /^[0-9a-f]{64}$/;
const folderForm = /^[0-9a-f]{2}$/;
const temporaryForm = /^\.blob\.([1-9]\d*)\.[0-9a-z]+\.tmp$/;

/** Where a blob lies. Throws `BAD_VALUE` for what is no hash. */
export function blobPath(root: string, hash: string): string {
  if (typeof hash !== "string" || !hashForm.test(hash)) {
    const message = `${root}: ${JSON.stringify(hash)} is no hash; a hash is 64 lower-case hexadecimal digits`;
    throw new StoreError("BAD_VALUE", message, { path: root, details: { hash } });
  }
  return join(root, hash.slice(0, 2), hash);
}

/** The blob's file, or `undefined` when there is none. */
export function blobInfo(root: string, hash: string): Stats | undefined {
  const path = blobPath(root, hash);
  if (!isFolder(dirname(path))) return undefined;
  const info = infoOf(path);
  if (info !== undefined && !info.isFile()) throw noBlob(path);
  return info;
}

/** Something else lies where a blob would be. */
export function noBlob(path: string): StoreError {
  return new StoreError("REFUSED_PATH", `${path}: something that is no file lies where the blob would be`, { path });
}

/** Makes a folder of the place, itself or one of its 256, synced whatever is asked of blobs: it is made only once. */
export function makeFolder({ path, mode }: BlobPlace, folder: string): void {
  if (folder !== path && isFolder(folder)) return;
  ensureDirSync(folder, { mode: mode === undefined ? undefined : 0o700 | (mode & 0o044) | ((mode & 0o044) >> 2) });
}

/** Makes a blob's name durable, and once the name of its folder: who made that may not have lived to do so. */
export function syncNames({ path, durability, synced }: BlobPlace, folder: string): void {
  if (durability !== "fsync") return;
  syncDirectory(folder);
  if (synced.has(folder)) return;
  syncDirectory(path);
  synced.add(folder);
}

/** A temporary file of the place; a stream's hash, and so its folder, is only known at its end. */
export function newTemporary(root: string): string {
  return temporaryName(join(root, "blob"));
}

/** The process that wrote a temporary file of the place; `undefined` for every other name. */
export function writerOf(name: string): number | undefined {
  const [, writer] = temporaryForm.exec(name) ?? [];
  return writer === undefined ? undefined : Number(writer);
}

/** Every blob's hash, in order. */
export function* hashesIn(root: string): Generator<string> {
  for (const folder of foldersIn(root)) {
    for (const entry of entriesIn(folder)) if (entry.isFile() && isBlobName(folder, entry.name)) yield entry.name;
  }
}

/** The folders of the place that are there, in order. */
export function foldersIn(root: string): string[] {
  const entries = entriesIn(root).filter((entry) => entry.isDirectory() && folderForm.test(entry.name));
  return entries.map(({ name }) => join(root, name));
}

/** Has it the form of a blob's name? */
export function isHash(name: string): boolean {
  return hashForm.test(name);
}

/** Is it the name of a blob that belongs into this folder? */
export function isBlobName(folder: string, name: string): boolean {
  return isHash(name) && name.startsWith(basename(folder));
}

/** What lies in a folder, in order; nothing when it is not there. */
export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw toStoreError(error, folder, "list the folder");
  }
}

/** A link in a folder's place could lead out of the store. */
function isFolder(path: string): boolean {
  const info = infoOf(path);
  if (info === undefined || info.isDirectory()) return info !== undefined;
  throw new StoreError("REFUSED_PATH", `${path}: is not a folder`, { path });
}
