import type { AsyncLocalStorage } from "node:async_hooks";
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ensureDirSync } from "./atomic.ts";
import { StoreError, toStoreError } from "./errors.ts";
import { type HolderState, readHolderState } from "./holder.ts";
import { breakLock, isDead } from "./lock-break.ts";
import {
  type LockFile,
  readLockFile,
  refreshLockFile,
  releaseLockFile,
  takeLockFile,
  unlinkLockFile,
} from "./lock-file.ts";
import { beginTurn, giveWay, type Turn } from "./lock-turn.ts";
import { pause } from "./pause.ts";

/** How a lock is waited for. */
export interface LockOptions {
  /**
   * How long to wait for one holder, in milliseconds; 0 tries once. Default 5,000. The wait begins anew, up to twelve times
   * as long in all, when the lock goes to another one.
   */
  readonly waitMs?: number | undefined;
  /**
   * After how many milliseconds without a heartbeat a holder on another host or in another container counts as gone; a
   * holder refreshes its lock four times as often, every 5 s at most. Default 60,000.
   */
  readonly staleAfterMs?: number | undefined;
  /** Ends the wait (not the work) with `LOCK_CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

/** Who holds a lock. */
export interface LockInfo {
  /** `undefined` when the lock's text is of a form this version does not know. */
  readonly pid: number | undefined;
  /** `gone`: the next taker will take the lock away. `elsewhere`: on another host or in another container. */
  readonly state: HolderState;
  /** The lock's own text. */
  readonly text: string;
}

/**
 * Runs something while holding the lock at `path`: one holder across all processes. The lock is a symbolic link beside
 * what it guards (a file where links cannot be made) whose target names the holder; it is given back when `run` is over,
 * and taken away from a holder that is provably dead. The folder is made (0700) when it is missing.
 *
 * Throws `LOCK_HELD` (naming the holder) after the wait, `LOCK_CANCELLED`, `LOCK_NESTED` when `run` itself, however
 * deep, asks for the lock it runs under, `REFUSED_PATH` when something that is no lock lies there; and what `run` throws.
 */
export async function withLock<T>(path: string, options: LockOptions, run: () => Promise<T>): Promise<T> {
  const hold = await takeLock(path, options);
  const { held } = context();
  try {
    return await held.run([...(held.getStore() ?? []), hold], run);
  } finally {
    releaseLock(hold);
  }
}

/**
 * The lock alone, for work that never asks for it again while it holds it; to be given back with {@link releaseLock}.
 */
export async function takeLock(path: string, options: LockOptions): Promise<Hold> {
  const lock = resolve(path);
  const outer = context().held.getStore() ?? [];
  await acquire(lock, { path, options, outer });
  return startHold(lock, options.staleAfterMs ?? 60_000);
}

/** A lock that cannot be given back is no reason to call the work failed: the next take, or this process's end, frees it. */
export function releaseLock(hold: Hold): void {
  const { holds, left } = context();
  hold.active = false;
  holds.delete(hold.path);
  const { latest } = context();
  const askedAt = latest?.path === hold.path ? latest.askedAt : 0;
  context().latest = { path: hold.path, at: performance.now(), askedAt };
  try {
    if (isBrief(hold)) unlinkLockFile(hold.path);
    else releaseLockFile(hold.path);
  } catch {
    left.add(hold.path);
  }
  for (const wake of hold.waiting) wake();
}

/** The holder of a lock, for messages; `undefined` when it is free. */
export function readLock(path: string): LockInfo | undefined {
  const lock = readLockFile(path);
  if (lock === undefined) return undefined;
  const { holder, text, touchedMs } = lock;
  return { pid: holder?.pid, state: holder === undefined ? "alive" : readHolderState(holder, touchedMs), text };
}

/** A lock this process holds. */
export interface Hold {
  readonly path: string;
  active: boolean;
  /** When it was taken, by the clock that also runs while the machine sleeps. */
  readonly takenMs: number;
  /** Who of this process waits for it to be given back. */
  readonly waiting: Set<() => void>;
}

interface Context {
  /** The holds the running work lies in. */
  readonly held: AsyncLocalStorage<readonly Hold[]>;
  readonly holds: Map<string, Hold>;
  /** Locks whose work is over and that the disk did not let go. */
  readonly left: Set<string>;
  /** What refreshes the locks that are held, and how often in milliseconds. */
  beat: NodeJS.Timeout | undefined;
  beatMs: number;
  /** The lock that was given back last, and when. */
  latest: { readonly path: string; readonly at: number; askedAt: number } | undefined;
}

let shared: Context | undefined;

/** Loaded at the first lock, for commands that take none. */
function context(): Context {
  shared ??= {
    held: new (process.getBuiltinModule("node:async_hooks").AsyncLocalStorage)(),
    holds: new Map(),
    left: new Set(),
    latest: undefined,
    beat: undefined,
    beatMs: 0,
  };
  return shared;
}

/** One spelling for one lock: the folder's real path and the name. */
function placeOf(lock: string): string {
  const folder = dirname(lock);
  try {
    return join(realpathSync(folder), basename(lock));
  } catch (error) {
    throw toStoreError(error, folder, "find the folder");
  }
}

/** How many times the wait for one holder may be spent on a lock that goes from hand to hand. */
const patience = 12;

interface Asked {
  /** As the caller spelled it. */
  readonly path: string;
  readonly options: LockOptions;
  readonly outer: readonly Hold[];
}

async function acquire(lock: string, asked: Asked): Promise<void> {
  const { signal } = asked.options;
  if (isJustReleased(lock)) await giveWay(lock, signal);
  if (takeUnlessAborted(lock, asked)) return;
  refuseNested(lock, asked);
  const turn = beginTurn(lock);
  try {
    await waitFor(lock, asked, turn);
  } finally {
    turn.end();
  }
}

/** Only a lock that is taken can be this very work's. */
function refuseNested(lock: string, { path, outer }: Asked): void {
  const active = outer.filter((hold) => hold.active);
  if (active.length === 0) return;
  const place = placeOf(lock);
  if (!active.some((hold) => hold.path === lock || placeOf(hold.path) === place)) return;
  const message = `${path}: the lock is asked for by the very work that holds it; pass the lock down instead`;
  throw new StoreError("LOCK_NESTED", message, { path });
}

function takeUnlessAborted(lock: string, { path, options }: Asked): boolean {
  if (options.signal?.aborted === true) {
    throw new StoreError("LOCK_CANCELLED", `${path}: the wait for the lock was ended`, { path });
  }
  try {
    return takeLockFile(lock);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "NOT_FOUND") throw error;
    ensureDirSync(dirname(lock), { mode: 0o700 });
    return takeLockFile(lock);
  }
}

async function waitFor(lock: string, asked: Asked, turn: Turn): Promise<void> {
  const { path } = asked;
  const { waitMs = 5000, staleAfterMs = 60_000, signal } = asked.options;
  const first = performance.now();
  let begun = first;
  let seen: string | undefined;
  for (;;) {
    const found = readLockFile(lock);
    if (found !== undefined && !isLeft(lock)) {
      // While the lock goes from hand to hand there is progress, and the turn comes.
      if (found.text !== seen && performance.now() - first < patience * waitMs) begun = performance.now();
      seen = found.text;
      const isFree = isDead(found, staleAfterMs) && (await breakLock(lock, staleAfterMs));
      const left = waitMs - (performance.now() - begun);
      if (!isFree && left <= 0) throw heldError(path, found);
      if (!isFree) await rest(lock, Math.min(turn.nextDelay(), left), signal);
    }
    if (takeUnlessAborted(lock, asked)) return;
  }
}

/** Waits for a while, or until this very process gives the lock back. */
async function rest(lock: string, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const mine = context().holds.get(lock);
  if (mine === undefined) return pause(milliseconds, signal);
  const early = new AbortController();
  const end = (): void => early.abort();
  signal?.addEventListener("abort", end);
  mine.waiting.add(end);
  await pause(milliseconds, early.signal);
  mine.waiting.delete(end);
  signal?.removeEventListener("abort", end);
}

function heldError(path: string, { holder, text, touchedMs }: LockFile): StoreError {
  const where =
    holder !== undefined && readHolderState(holder, touchedMs) === "elsewhere" ? ", not on this system" : "";
  const who = holder === undefined ? `"${text}"` : `process ${holder.pid}${where}`;
  return new StoreError("LOCK_HELD", `${path}: is held by ${who}`, {
    path,
    hint: "wait for it to end; remove the lock only when you know that it has",
    details: { pid: holder?.pid, holder: text },
  });
}

function startHold(path: string, staleAfterMs: number): Hold {
  const hold: Hold = { path, active: true, takenMs: Date.now(), waiting: new Set() };
  context().holds.set(path, hold);
  keepBeating(Math.min(usualBeatMs, staleAfterMs / 4));
  return hold;
}

/** How often a lock is refreshed while it is held, in milliseconds. */
const usualBeatMs = 5000;

/** One timer for all holds, as often as the most impatient one needs it; it ends when it finds none. */
function keepBeating(everyMs: number): void {
  const own = context();
  if (own.beat !== undefined && own.beatMs <= everyMs) return;
  clearInterval(own.beat);
  own.beatMs = everyMs;
  own.beat = setInterval(() => {
    for (const path of own.holds.keys()) keepAlive(path);
    if (own.holds.size > 0) return;
    clearInterval(own.beat);
    own.beat = undefined;
  }, everyMs);
  own.beat.unref();
}

function keepAlive(path: string): void {
  try {
    refreshLockFile(path);
  } catch {
    // Holders elsewhere may then take the lock for stale; nothing here can be done about it.
  }
}

/** Nobody takes a lock away so soon: one that was held for longer is looked at before it is given back. */
function isBrief({ takenMs }: Hold): boolean {
  const heldMs = Date.now() - takenMs;
  return heldMs >= 0 && heldMs < 1000;
}

/** Was it this process that had the lock, so that others may be waiting? Asked of the disk once a millisecond at most. */
function isJustReleased(lock: string): boolean {
  const { latest } = context();
  if (latest === undefined || latest.path !== lock) return false;
  const now = performance.now();
  if (now - latest.at > 5 || now - latest.askedAt < 1) return false;
  latest.askedAt = now;
  return true;
}

/** Is it a lock of this process's own that only has to be given back, and could be now? */
function isLeft(lock: string): boolean {
  const { left } = context();
  if (!left.has(lock)) return false;
  releaseLockFile(lock);
  left.delete(lock);
  return true;
}
