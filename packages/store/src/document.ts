import { linkSync, lstatSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ensureDirSync, infoOf, syncDirectory, writeFileAtomicSync } from "./atomic.ts";
import { readWhole } from "./digest.ts";
import {
  type DocumentCodec,
  type DocumentForm,
  type DocumentState,
  type DocumentStep,
  jsonCodec,
  type Members,
  parseDocument,
  renderDocument,
} from "./document-form.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { type LockOptions, withLock } from "./lock.ts";
import { isSameFile, platform, unsupported } from "./platform.ts";
import { namesIn, sweepTemporaries } from "./temporaries.ts";

/** One versioned file that holds one thing. */
export interface DocumentOptions<T extends object> {
  readonly path: string;
  /** The ladder from the oldest version that may still be met; the current version is one more than it has steps. */
  readonly steps: readonly DocumentStep[];
  /** Turns the current version's members (without `version` and `writtenBy`) into the value; throws when they are none. */
  readonly parse: (members: Members) => T;
  /** Turns a value into the members that are written; left out, the value's own. */
  readonly encode?: (value: T) => Members;
  /** How the text is read and written. Default: JSON. */
  readonly format?: "json" | DocumentCodec;
  /** The exact permission bits of the file and its copies. */
  readonly mode?: number;
  /** Keep `<name>.last-good`, the content of the latest successful write. */
  readonly lastGood?: boolean;
  /** Who writes, for readers of an older version; kept in the member `writtenBy`. */
  readonly writtenBy?: string;
  /** Default: the path and `.lock`. */
  readonly lockPath?: string;
}

/** What {@link Document.update} did. */
export interface DocumentUpdate<T> {
  readonly kind: "written" | "unchanged";
  /** What the document holds now. */
  readonly value: T | undefined;
  /** Where a damaged document was moved to make room. */
  readonly quarantined?: string;
}

/** A document on the disk. */
export interface Document<T extends object> {
  /** What lies there now; moves and writes nothing. Throws when the file cannot be read at all. */
  read(): DocumentState<T>;
  /**
   * Under the lock: reads again, asks for the next value and writes it, unless it is the same or `undefined`. `current`
   * is `undefined` when there is none or it is damaged, which `state` tells apart; a damaged one is moved to
   * `<name>.corrupt-<timestamp>` before the write. Throws `NEWER` without asking when a newer version wrote it.
   */
  update(
    next: (current: T | undefined, state: DocumentState<T>) => T | undefined | Promise<T | undefined>,
    lock?: LockOptions,
  ): Promise<DocumentUpdate<T>>;
  /** Under the lock: puts the last good copy in place of what is there. Throws `NOT_FOUND` without a readable copy. */
  restore(lock?: LockOptions): Promise<DocumentUpdate<T>>;
}

/** Opens a document; nothing is read or made yet. */
export function openDocument<T extends object>(options: DocumentOptions<T>): Document<T> {
  const { path, steps, parse, format = "json" } = options;
  const form: DocumentForm<T> = { path, steps, parse, codec: format === "json" ? jsonCodec : format };
  const writing: Writing<T> = { options, form };
  const underLock = async <Result>(lock: LockOptions, run: () => Promise<Result>): Promise<Result> => {
    ensureDirSync(dirname(path));
    refuseLink(path);
    return withLock(options.lockPath ?? `${path}.lock`, lock, run);
  };
  return {
    read: () => readDocument(path, form).state,
    update: (next, lock = {}) =>
      underLock(lock, async () => {
        const found = readDocument(path, form);
        if (found.state.kind === "newer") throw newerError(found.state);
        const current = found.state.kind === "loaded" ? found.state.value : undefined;
        const value = await next(current, found.state);
        if (value === undefined) return { kind: "unchanged", value: current };
        return writeValue(writing, found, value);
      }),
    restore: (lock = {}) =>
      underLock(lock, async () => {
        const found = readDocument(path, form);
        if (found.state.kind === "newer") throw newerError(found.state);
        const copy = readDocument(lastGoodOf(path), form).state;
        if (copy.kind !== "loaded") throw noCopy(path);
        return writeValue(writing, found, copy.value);
      }),
  };
}

/** An error that says a document was written by a newer version, and by whom. */
function newerError({ path, version, known, writtenBy }: DocumentState<unknown> & { kind: "newer" }): StoreError {
  const who = writtenBy === undefined ? "something newer" : writtenBy;
  const message = `${path}: was written by ${who} (version ${version}; this one understands ${known}) and is left untouched`;
  return new StoreError("NEWER", message, { path, details: { version, known, writtenBy } });
}

interface Writing<T extends object> {
  readonly options: DocumentOptions<T>;
  readonly form: DocumentForm<T>;
}

interface Found<T> {
  readonly state: DocumentState<T>;
  readonly bytes: Buffer | undefined;
}

function readDocument<T>(path: string, form: DocumentForm<T>): Found<T> {
  let bytes: Buffer;
  try {
    bytes = readWhole(path);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "NOT_FOUND") throw error;
    const info = infoOf(path);
    if (info === undefined) return { state: { kind: "absent" }, bytes: undefined };
    // Somebody made it meanwhile.
    if (info.isFile()) return readDocument(path, form);
    throw error;
  }
  return { state: parseDocument(bytes, { ...form, path }), bytes };
}

function writeValue<T extends object>({ options, form }: Writing<T>, found: Found<T>, value: T): DocumentUpdate<T> {
  const { path, mode, writtenBy, lastGood, encode } = options;
  const members: Members = encode === undefined ? Object.fromEntries(Object.entries(value)) : encode(value);
  const previous = found.state.kind === "loaded" ? found.bytes?.toString("utf8") : undefined;
  if (found.state.kind === "loaded") {
    // Another writer's name alone is no reason to write.
    const same = renderDocument(members, form, { writtenBy: found.state.writtenBy, previous });
    if (same === previous) {
      if (lastGood === true) keepCopy(path, previous, mode);
      return { kind: "unchanged", value: found.state.value };
    }
  }
  const text = renderDocument(members, form, { writtenBy, previous });
  const written = parseDocument(Buffer.from(text, "utf8"), form);
  if (written.kind !== "loaded") throw notReadable(path, written);
  sweepTemporaries([path, lastGoodOf(path)]);
  const quarantined = found.state.kind === "damaged" ? setAside(path) : undefined;
  writeFileAtomicSync(path, text, { mode });
  if (lastGood === true) keepCopy(path, text, mode);
  return { kind: "written", value: written.value, ...(quarantined === undefined ? {} : { quarantined }) };
}

/** The last good copy; an earlier write of it may have been refused. */
function keepCopy(path: string, text: string, mode: number | undefined): void {
  const copy = lastGoodOf(path);
  const bytes = Buffer.from(text, "utf8");
  if (infoOf(copy)?.isFile() === true && readWhole(copy).equals(bytes)) return;
  writeFileAtomicSync(copy, bytes, { mode });
}

/**
 * Keeps a damaged document's bytes under a name of their own; the next write takes its place. Its own name leads to them until
 * then, where a file can have two.
 */
function setAside(path: string): string {
  const kept = asideOf(path);
  if (kept !== undefined) return kept;
  const stamp = new Date().toISOString().replace(/[-:]/g, "");
  for (let turn = 1; ; turn += 1) {
    const aside = `${path}.corrupt-${stamp}${turn === 1 ? "" : `-${turn}`}`;
    if (infoOf(aside) !== undefined) continue;
    try {
      giveName(path, aside);
    } catch (error) {
      throw toStoreError(error, path, "set the damaged file aside");
    }
    syncDirectory(dirname(path));
    return aside;
  }
}

/** The name under which an earlier try has kept the very same file. */
function asideOf(path: string): string | undefined {
  const info = lstatSync(path);
  if (info.nlink < 2) return undefined;
  const aside = namesIn(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.corrupt-`));
  const paths = aside.map((name) => join(dirname(path), name));
  return paths.find((other) => isSameFile(lstatSync(other), info));
}

function giveName(path: string, name: string): void {
  try {
    if (!platform.hardLinks) throw Object.assign(new Error("no hard links"), { code: "ENOTSUP" });
    linkSync(path, name);
  } catch (error) {
    if (!unsupported.has(errnoOf(error))) throw error;
    renameSync(path, name);
  }
}

function lastGoodOf(path: string): string {
  return join(dirname(path), `${basename(path)}.last-good`);
}

function refuseLink(path: string): void {
  if (infoOf(path)?.isSymbolicLink() !== true) return;
  throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link`, { path });
}

function noCopy(path: string): StoreError {
  const copy = lastGoodOf(path);
  return new StoreError("NOT_FOUND", `${copy}: there is no good copy to restore`, { path: copy });
}

function notReadable(path: string, state: DocumentState<unknown>): StoreError {
  const reason = state.kind === "damaged" ? state.reason : state.kind;
  const message = `${path}: the new content would not be read back (${reason}); nothing was written`;
  return new StoreError("BAD_VALUE", message, { path, details: { reason } });
}
