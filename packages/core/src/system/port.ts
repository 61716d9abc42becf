import type { AbsPath } from "./paths.ts";

export type FileKind = "file" | "directory" | "link" | "other";

export interface FileInfo {
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  /** Permission bits, e.g. `0o600`. */
  readonly mode: number;
  readonly mtimeMs: number;
  readonly inode: number;
  readonly uid: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}

export interface RunOptions {
  readonly cwd: AbsPath;
  /** The whole environment of the child; the caller composes it from `system.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
}

export interface RunResult {
  /** The exit code, or 128 + the signal's number. */
  readonly exit: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunWatchedOptions {
  readonly cwd: AbsPath;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** After this many milliseconds the whole process group is ended. */
  readonly timeLimitMs: number;
  /** How many bytes of the end of the output are kept. */
  readonly tailBytes: number;
}

export interface WatchedResult {
  readonly exit: number;
  readonly milliseconds: number;
  readonly ended: "exited" | "timed-out" | "interrupted";
  /** The end of what it printed on both streams, in order of arrival. */
  readonly tail: string;
}

/** A file being written beside its place: under its name only once it is complete and on the disk. */
export interface FileWriter {
  write(bytes: Uint8Array): void;
  /** @throws ReeveError REFUSED when the place was to be free and is not. */
  commit(): void;
  /** Takes back what was written; nothing after `commit`. */
  discard(): void;
}

export interface BeginFileOptions {
  /** The exact permission bits. */
  readonly mode: number;
  /** May a file that is there be replaced? A link or folder never is. */
  readonly replace: boolean;
}

export interface Hash {
  update(bytes: Uint8Array): void;
  /** Lower-case hexadecimal digits; ends the hash. */
  digest(): string;
}

/**
 * Everything Reeve needs of the machine. Nothing outside `core/system` and `@reeve/store` touches the machine itself.
 *
 * Reading functions answer `undefined` for what is not there and throw `ReeveError` `UNREADABLE` (naming the path) for
 * what is there and cannot be read.
 */
export interface System {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: AbsPath;
  readonly uid: number | undefined;
  readonly runtime: { readonly node: string; readonly platform: string; readonly architecture: string };
  now(): Date;
  /** Lower-case hexadecimal digits from a secure source. */
  randomHex(digits: number): string;
  sha256(bytes: string | Uint8Array): string;
  /** SHA-256 over pieces. */
  beginHash(): Hash;

  readBytes(path: AbsPath): Buffer | undefined;
  readText(path: AbsPath): string | undefined;
  /**
   * The file's bytes in pieces of at most 64 KiB, never more than `limit` of them. A link is not followed.
   * @throws ReeveError UNREADABLE for what is no file, a link and what is not there included.
   */
  readPieces(path: AbsPath, limit?: number): Iterable<Uint8Array>;
  /** Entries in code-unit order of their names. */
  list(path: AbsPath): readonly DirectoryEntry[] | undefined;
  /** Of the path itself; a link is not followed. */
  info(path: AbsPath): FileInfo | undefined;
  readLink(path: AbsPath): string | undefined;
  /** The path with every link resolved, or `undefined` when it does not exist (a dangling or looping link included). */
  realPath(path: AbsPath): AbsPath | undefined;
  /** May this process create files in the folder? */
  canWrite(path: AbsPath): boolean;

  /** Runs a program to its end; throws `ReeveError` `NO_GIT`/`MISSING_FILE` when it cannot be started. */
  run(program: string, args: readonly string[], options: RunOptions): RunResult;
  /** Runs a shell command in a process group of its own, its output copied to standard error. */
  runWatched(command: string, options: RunWatchedOptions): Promise<WatchedResult>;
  /** Lends an empty folder outside every repository and removes it afterwards. */
  withScratch<T>(use: (folder: AbsPath) => T): T;
  /** Standard input to its end, read once; "" when it is a terminal. */
  readInput(): string;
  /** Replaces a cache file by rename; a failure is silent, for a cache may always be missing. */
  writeCache(path: AbsPath, text: string): void;
  /**
   * Begins a file that no plan can hold: a bundle, a copy for a backup, a large content to be moved into place. Missing
   * folders are made, 0700.
   * @throws ReeveError UNWRITABLE, NO_SPACE or REFUSED, here and from the writer
   */
  beginFile(path: AbsPath, options: BeginFileOptions): FileWriter;
  /** Shows how far long work has come, in one line of a terminal that the next one replaces; "" takes it away. */
  showProgress(text: string): void;
}
