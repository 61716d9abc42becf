import { lstatSync, lutimesSync, readFileSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { infoOf } from "./atomic.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { type Holder, ownText, parseHolder } from "./holder.ts";
import { platform, unsupported } from "./platform.ts";
import { publishFile } from "./publish.ts";

/** A lock as it lies on the disk. */
export interface LockFile {
  readonly text: string;
  /** `undefined` when a version with another form of text made it, or when it is still empty. */
  readonly holder: Holder | undefined;
  /** When it was made or last refreshed, by the file system's clock, in milliseconds since 1970. */
  readonly touchedMs: number;
}

/** Takes a lock in one call; answers whether it was free. */
export function takeLockFile(path: string): boolean {
  const text = ownText();
  if (!platform.symlinks) return publishFile(path, Buffer.from(text), 0o600);
  try {
    symlinkSync(text, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    if (unsupported.has(errnoOf(error))) return publishFile(path, Buffer.from(text), 0o600);
    throw toStoreError(error, path, "take the lock");
  }
}

/** The lock that lies there, or `undefined` when there is none; anything else at the path is `REFUSED_PATH`. */
export function readLockFile(path: string): LockFile | undefined {
  const info = infoOf(path);
  if (info === undefined) return undefined;
  if (!info.isSymbolicLink() && (!info.isFile() || info.size > 200)) throw noLock(path);
  const text = readText(path, info.isSymbolicLink());
  if (text === undefined) return undefined;
  const isBeingMade = text === "" && info.isFile() && !platform.hardLinks;
  if (!isBeingMade && !/^\d+@/.test(text)) throw noLock(path);
  return { text, holder: parseHolder(text), touchedMs: info.ctimeMs };
}

/** Gives a lock back; one that was taken away meanwhile is left to its new holder. */
export function releaseLockFile(path: string): void {
  if (isOwnLockFile(path)) unlinkLockFile(path);
}

/** Removes a lock, whosever it is. */
export function unlinkLockFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw toStoreError(error, path, "give the lock back");
  }
}

/** Is the lock that lies there this process's? */
export function isOwnLockFile(path: string): boolean {
  return readLockFile(path)?.text === ownText();
}

/** Shows takers elsewhere that this holder lives. */
export function refreshLockFile(path: string): void {
  if (!isOwnLockFile(path)) return;
  const now = new Date();
  lutimesSync(path, now, now);
}

/** When the file system says the path was last touched. */
export function touchedAt(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ctimeMs;
}

function readText(path: string, isLink: boolean): string | undefined {
  try {
    return isLink ? readlinkSync(path) : readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "EINVAL") return undefined;
    throw toStoreError(error, path, "read the lock");
  }
}

function noLock(path: string): StoreError {
  return new StoreError("REFUSED_PATH", `${path}: something that is no lock lies where the lock would be`, { path });
}
