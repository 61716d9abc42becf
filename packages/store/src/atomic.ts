import {
  closeSync,
  constants,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { setMode } from "./platform.ts";
import { discard, temporaryName } from "./temporaries.ts";

/** How a file is replaced. */
export interface WriteOptions {
  /** The exact permission bits. Left out: those of the file that is there, or `0o644` less the umask. */
  readonly mode?: number | undefined;
  /** What to do when the path is a symbolic link; `"follow"` replaces the file it leads to. Default `"refuse"`. */
  readonly symlink?: "refuse" | "follow" | undefined;
}

/** How a folder is made. */
export interface EnsureDirOptions {
  /** The exact permission bits of folders that are made; those already there keep theirs. Default `0o755` less the umask. */
  readonly mode?: number | undefined;
}

/**
 * Replaces a file so that a crash leaves the old content or the new one, and returns when it is on the disk: a temporary
 * file in the same folder, synced, renamed, folder synced. The folder must exist. On any failure the temporary file is
 * gone and a {@link StoreError} names the path; the old content stands, unless only the folder could not be synced: then the
 * new one does, and a power cut may still take it back. Blocks the thread while it works.
 */
export async function writeFileAtomic(
  path: string,
  bytes: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  writeFileAtomicSync(path, bytes, options);
}

/** {@link writeFileAtomic} for a caller that cannot wait. */
export function writeFileAtomicSync(path: string, bytes: string | Uint8Array, options: WriteOptions = {}): void {
  const target = replaceFile(path, bytes, options);
  syncDirectory(dirname(target));
}

/** Removes a file or link and syncs its folder. Answers whether it was there. A folder is refused. */
export async function removeFile(path: string): Promise<boolean> {
  return removeFileSync(path);
}

/** {@link removeFile} for a caller that cannot wait. */
export function removeFileSync(path: string): boolean {
  const there = unlinkFile(path);
  if (there) syncDirectory(dirname(path));
  return there;
}

/** Makes a folder and what is missing above it, each synced into its parent. One that exists is left as it is. */
export async function ensureDir(path: string, options: EnsureDirOptions = {}): Promise<void> {
  ensureDirSync(path, options);
}

/** {@link ensureDir} for a caller that cannot wait. */
export function ensureDirSync(path: string, options: EnsureDirOptions = {}): void {
  for (const parent of makeDirectories(path, options.mode)) syncDirectory(parent);
}

/** Makes a folder and its missing parents; answers the folders whose entries changed and still have to be synced. */
export function makeDirectories(path: string, mode: number | undefined): string[] {
  const missing: string[] = [];
  let at = resolve(path);
  for (;;) {
    const kind = directoryOrAbsent(at);
    if (kind === "directory") break;
    missing.push(at);
    at = dirname(at);
  }
  const changed: string[] = [];
  for (const folder of missing.reverse()) {
    if (makeOne(folder, mode)) changed.push(dirname(folder));
  }
  return changed;
}

/** {@link WriteOptions}, and the choice to put the file where a link was. */
interface ReplaceOptions {
  readonly mode?: number | undefined;
  /** Whose a file is that was not there before. */
  readonly owner?: Stats;
  readonly symlink?: "refuse" | "follow" | "replace" | undefined;
}

/** What a new file is to hold: its bytes, or what writes them into the open file. */
export type FileContent = string | Uint8Array | ((file: number) => void);

/** Replaces a file without syncing its folder; answers the path that was replaced. Its owner stays, where we may say so. */
export function replaceFile(path: string, content: FileContent, options: ReplaceOptions): string {
  const { target, existing } = targetOf(path, options.symlink ?? "refuse");
  const mode = options.mode ?? (existing === undefined ? undefined : existing.mode & 0o7777);
  const temporary = writeTemporary(target, content, { mode, owner: existing ?? options.owner });
  try {
    renameSync(temporary, target);
  } catch (error) {
    discard(temporary);
    throw toStoreError(error, target, "replace the file");
  }
  return target;
}

/** Removes a file or link without syncing its folder; answers whether it was there. */
export function unlinkFile(path: string): boolean {
  const info = infoOf(path);
  if (info === undefined) return false;
  if (info.isDirectory()) throw new StoreError("REFUSED_PATH", `${path}: is a folder, not a file`, { path });
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw toStoreError(error, path, "remove the file");
  }
}

/** What `lstat` says of the path, or `undefined` when nothing is there. */
export function infoOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR") return undefined;
    throw toStoreError(error, path, "look at the path");
  }
}

/** Writes all bytes, however often the system takes only a part of them. */
export function writeFully(file: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) {
    const written = writeSync(file, bytes, done, bytes.length - done);
    if (written === 0) throw Object.assign(new Error("the system took no more bytes"), { code: "ENOSPC" });
    done += written;
  }
}

/** Platforms and file systems that cannot sync a folder say so with one of these. */
const unsyncable: ReadonlySet<string | undefined> = new Set([
  "EINVAL",
  "EPERM",
  "EISDIR",
  "ENOTSUP",
  "EBADF",
  "EACCES",
]);

/** Makes the entries of a folder durable, where the platform can. */
export function syncDirectory(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, constants.O_RDONLY);
    fsyncSync(folder);
  } catch (error) {
    if (!unsyncable.has(errnoOf(error))) throw toStoreError(error, path, "sync the folder");
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

interface Attributes {
  readonly mode: number | undefined;
  /** Whose file it replaces. */
  readonly owner: Stats | undefined;
}

/** Writes a complete, synced file beside the target, under a name of its own; answers that name. */
export function writeTemporary(target: string, content: FileContent, { mode, owner }: Attributes): string {
  const temporary = temporaryName(target);
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  try {
    const file = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL, mode === undefined ? 0o644 : mode & 0o600);
    try {
      if (typeof content === "function") content(file);
      else writeFully(file, typeof content === "string" ? Buffer.from(content, "utf8") : content);
      if (owner !== undefined) keepOwner(file, owner);
      if (mode !== undefined) setMode(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return temporary;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") discard(temporary);
    throw toStoreError(error, target, "write the file");
  }
}

/** A file that root replaces for somebody stays theirs. */
function keepOwner(file: number, { uid, gid }: Stats): void {
  if (process.geteuid === undefined || process.getegid === undefined) return;
  if (process.geteuid() === uid && process.getegid() === gid) return;
  try {
    fchownSync(file, uid, gid);
  } catch {
    // Only root may give a file away; for anybody else the new one is theirs.
  }
}

interface Target {
  readonly target: string;
  readonly existing: Stats | undefined;
}

function targetOf(path: string, symlink: "refuse" | "follow" | "replace"): Target {
  let target = path;
  let existing = infoOf(target);
  if (existing?.isSymbolicLink()) {
    if (symlink === "replace") return { target, existing: undefined };
    if (symlink === "refuse") throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link`, { path });
    try {
      target = realpathSync(path);
    } catch (error) {
      throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link that leads nowhere`, { path, cause: error });
    }
    existing = infoOf(target);
  }
  if (existing !== undefined && !existing.isFile()) {
    const what = existing.isDirectory() ? "a folder" : "neither a file nor a folder";
    throw new StoreError("REFUSED_PATH", `${target}: is ${what}`, { path: target });
  }
  return { target, existing };
}

function directoryOrAbsent(path: string): "directory" | "absent" {
  const info = infoOf(path);
  if (info === undefined) return "absent";
  if (info.isDirectory()) return "directory";
  if (info.isSymbolicLink()) {
    try {
      if (infoOf(realpathSync(path))?.isDirectory()) return "directory";
    } catch (error) {
      throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link that leads nowhere`, { path, cause: error });
    }
  }
  throw new StoreError("REFUSED_PATH", `${path}: is in the way of a folder`, { path });
}

function makeOne(folder: string, mode: number | undefined): boolean {
  try {
    mkdirSync(folder, mode ?? 0o755);
    if (mode !== undefined) chmodDirectory(folder, mode);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST" && directoryOrAbsent(folder) === "directory") return false;
    throw toStoreError(error, folder, "make the folder");
  }
}

function chmodDirectory(folder: string, mode: number): void {
  const opened = openSync(folder, constants.O_RDONLY);
  try {
    setMode(opened, mode);
  } finally {
    closeSync(opened);
  }
}
