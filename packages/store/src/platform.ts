import { type BigIntStats, fchmodSync, type Stats } from "node:fs";
import { errnoOf } from "./errors.ts";

/**
 * What this platform and file system can do. Everything works without any of it, as `docs/decisions/store-fallbacks.md`
 * says; tests switch one off to see that it does. Hard links are switched off by the first that is refused.
 */
export const platform: {
  /** Symbolic links can be made. */
  symlinks: boolean;
  /** A file can be given a second name. */
  hardLinks: boolean;
  /** Permission bits can be set. */
  modes: boolean;
  /** A file has a number that no other file has. */
  inodes: boolean;
  /** Where the kernel tells of its processes. */
  proc: string;
} = { symlinks: true, hardLinks: true, modes: true, inodes: true, proc: "/proc" };

/** What a file system or platform that cannot do a thing answers. */
export const unsupported: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOSYS",
  "ENOTSUP",
  "EOPNOTSUPP",
  "EINVAL",
]);

/** Are both provably the same file? Where files have no numbers nothing is. */
export function isSameFile<Info extends Stats | BigIntStats>(left: Info | undefined, right: Info): boolean {
  if (left === undefined || !hasNumber(right)) return false;
  return left.ino === right.ino && left.dev === right.dev;
}

/** Does the number tell this file from every other? */
export function hasNumber({ ino }: Stats | BigIntStats): boolean {
  return platform.inodes && Number(ino) !== 0;
}

/** Sets the permission bits of an open file or folder, where there are any. */
export function setMode(file: number, mode: number): void {
  if (!platform.modes) return;
  try {
    fchmodSync(file, mode);
  } catch (error) {
    if (!unsupported.has(errnoOf(error))) throw error;
  }
}
