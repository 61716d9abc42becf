import {
  accessSync,
  constants,
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sweepFolder } from "@reeve/store";
import { ReeveError } from "../findings/errors.ts";
import type { AbsPath } from "./paths.ts";
import { beginFile, beginHash, readPieces, showProgress } from "./pieces.ts";
import type { DirectoryEntry, FileInfo, FileKind, RunOptions, RunResult, System } from "./port.ts";
import { runWatched, signalNumber } from "./watched.ts";

export interface NodeSystemOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Never show progress, not on a terminal either. */
  readonly quiet?: boolean;
}

const absentCodes: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

function errno(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function unlessAbsent<T>(where: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const code = errno(error);
    if (absentCodes.has(code)) return undefined;
    const says = code === "EACCES" || code === "EPERM" ? "permission denied" : code === "EISDIR" ? "is a folder" : code;
    throw new ReeveError("UNREADABLE", `${where}: cannot be read (${says})`, {
      hint: `ls -ld '${where}'`,
      details: { path: where },
      cause: error,
    });
  }
}

function kindOf(entry: Stats | Dirent): FileKind {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : "other";
}

function readInfo(where: AbsPath): FileInfo | undefined {
  return unlessAbsent(where, () => {
    const stats = lstatSync(where, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const { size, mtimeMs, ino: inode, uid } = stats;
    return { kind: kindOf(stats), size, mode: stats.mode & 0o7777, mtimeMs, inode, uid };
  });
}

function readEntries(where: AbsPath): readonly DirectoryEntry[] | undefined {
  return unlessAbsent(where, () =>
    readdirSync(where, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
}

function canWrite(where: AbsPath): boolean {
  try {
    accessSync(where, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function runProgram(program: string, args: readonly string[], options: RunOptions): RunResult {
  const child = process.getBuiltinModule("node:child_process").spawnSync(program, args, {
    cwd: options.cwd,
    env: { ...options.env },
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    ...(options.input === undefined ? {} : { input: options.input }),
    maxBuffer: 1 << 30,
  });
  if (child.error !== undefined && !existsSync(options.cwd)) {
    throw new ReeveError("MISSING_FILE", `${options.cwd} is gone`, { hint: "cd to a folder that exists" });
  }
  if (child.error !== undefined && ["ENOENT", "EACCES"].includes(errno(child.error))) {
    throw program === "git"
      ? new ReeveError("NO_GIT", "git is not installed, or what PATH names is no program", {
          hint: "install git 2.20 or newer",
        })
      : new ReeveError("MISSING_FILE", `${program}: no such program`);
  }
  if (child.error !== undefined && child.stdout === null) {
    throw new ReeveError("INTERNAL", `${program} could not be started: ${child.error.message}`, { cause: child.error });
  }
  const exit = child.status ?? 128 + signalNumber(child.signal);
  return { exit, stdout: child.stdout, stderr: child.stderr.toString("utf8") };
}

function withScratch<T>(use: (folder: AbsPath) => T): T {
  const parent = process.getBuiltinModule("node:os").tmpdir();
  const folder = mkdtempSync(join(parent, "reeve-")) as AbsPath;
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readInput(): string {
  // Asking process.stdin would put a pipe into non-blocking mode.
  if (process.getBuiltinModule("node:tty").isatty(0)) return "";
  const chunks: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(1 << 16);
  for (;;) {
    try {
      const count = readSync(0, chunk, 0, chunk.length, null);
      if (count === 0) return Buffer.concat(chunks).toString("utf8");
      chunks.push(Buffer.from(chunk.subarray(0, count)));
    } catch (error) {
      const code = errno(error);
      // A pipe in non-blocking mode that is empty for the moment.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      else if (code === "EOF" || code === "EISDIR" || code === "EBADF") return Buffer.concat(chunks).toString("utf8");
      else throw error;
    }
  }
}

let cacheWrites = 0;

function writeCache(where: AbsPath, text: string): void {
  cacheWrites += 1;
  const temporary = join(dirname(where), `.${basename(where)}.${process.pid}.${cacheWrites}.tmp`);
  try {
    mkdirSync(dirname(where), { recursive: true, mode: 0o700 });
    // What a process that was killed half-way left behind.
    sweepFolder(dirname(where));
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, where);
  } catch {
    removeQuietly(temporary);
  }
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It never came to be.
  }
}

/** The machine as Node shows it. */
export function nodeSystem(options: NodeSystemOptions = {}): System {
  const env = options.env ?? process.env;
  let input: string | undefined;
  return {
    env,
    cwd: resolve(options.cwd ?? process.cwd()) as AbsPath,
    uid: process.getuid?.(),
    runtime: { node: process.versions.node, platform: process.platform, architecture: process.arch },
    now: () => new Date(),
    randomHex: (digits) =>
      process
        .getBuiltinModule("node:crypto")
        .randomBytes(Math.ceil(digits / 2))
        .toString("hex")
        .slice(0, digits),
    sha256: (bytes) => process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest("hex"),
    readBytes: (where) => unlessAbsent(where, () => readFileSync(where)),
    beginHash,
    readPieces,
    readText: (where) => unlessAbsent(where, () => readFileSync(where, "utf8")),
    list: readEntries,
    info: readInfo,
    readLink: (where) =>
      unlessAbsent(where, () => (readInfo(where)?.kind === "link" ? readlinkSync(where) : undefined)),
    realPath: (where) => unlessAbsent(where, () => realpathSync.native(where) as AbsPath),
    canWrite,
    run: runProgram,
    runWatched,
    withScratch,
    readInput: () => {
      input ??= readInput();
      return input;
    },
    writeCache,
    beginFile,
    showProgress: options.quiet === true ? () => {} : showProgress,
  };
}
