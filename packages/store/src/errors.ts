/**
 * Every situation this library reports, with one sentence for a person. The list is closed: callers switch on the code
 * and never match a message.
 */
export const storeErrorTable = {
  LOCK_HELD: "Another holder kept the lock until the wait was over.",
  LOCK_CANCELLED: "The caller's signal ended the wait for the lock.",
  LOCK_NESTED: "The lock is already held by the very call that asks for it again.",
  OLD_FORMAT: "The file has an older shape that is named and never read.",
  NEWER: "The file was written by a newer version and is left untouched.",
  DAMAGED: "The file does not hold what it must hold.",
  NO_SPACE: "The disk, the quota or the largest file size is used up.",
  NO_PERMISSION: "The user may not read or write there.",
  READ_ONLY: "The file system is read-only.",
  REFUSED_PATH: "The path is not one that may be touched: it leaves its root, or something else is in its place.",
  NOT_FOUND: "A file or folder that must be there is not.",
  CONFLICT: "What is on the disk is not what the caller expected; nothing was changed.",
  BAD_VALUE: "A value or an argument cannot be written down as asked.",
  NO_HOME: "The environment names no home folder.",
  IO: "The operating system reported another error.",
} as const;

/** One of the closed list of situations in {@link storeErrorTable}. */
export type StoreErrorCode = keyof typeof storeErrorTable;

/** What a {@link StoreError} carries beside its code and message. */
export interface StoreErrorExtras {
  /** The file or folder concerned. */
  readonly path?: string | undefined;
  /** The line in that file, from 1. */
  readonly line?: number | undefined;
  /** What to do next. */
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** The only error this library throws on purpose. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: StoreErrorCode, message: string, extras: StoreErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = "StoreError";
    this.code = code;
    this.path = extras.path;
    this.line = extras.line;
    this.hint = extras.hint;
    this.details = extras.details ?? {};
  }
}

const situations: Readonly<Record<string, StoreErrorCode>> = {
  ENOSPC: "NO_SPACE",
  EDQUOT: "NO_SPACE",
  EFBIG: "NO_SPACE",
  EACCES: "NO_PERMISSION",
  EPERM: "NO_PERMISSION",
  EROFS: "READ_ONLY",
  EISDIR: "REFUSED_PATH",
  ENOTDIR: "REFUSED_PATH",
  ELOOP: "REFUSED_PATH",
  ENAMETOOLONG: "REFUSED_PATH",
  ENOTEMPTY: "REFUSED_PATH",
  EEXIST: "REFUSED_PATH",
  ENXIO: "REFUSED_PATH",
  ENOENT: "NOT_FOUND",
};

/** The operating system's name of an error (`"ENOSPC"`), or `undefined` when it has none. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/**
 * Turns what Node threw into a {@link StoreError} that names the path and the situation; one that is a `StoreError`
 * already passes through. `doing` completes "cannot …".
 */
export function toStoreError(error: unknown, path: string, doing: string): StoreError {
  if (error instanceof StoreError) return error;
  const errno = errnoOf(error);
  const code: StoreErrorCode = (errno === undefined ? undefined : situations[errno]) ?? "IO";
  const reason = errno === undefined ? messageOf(error) : `${storeErrorTable[code]} (${errno})`;
  const details = errno === undefined ? {} : { errno };
  return new StoreError(code, `${path}: cannot ${doing}: ${reason}`, { path, details, cause: error });
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
