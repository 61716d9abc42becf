import { readHolderState } from "./holder.ts";
import {
  isOwnLockFile,
  type LockFile,
  readLockFile,
  releaseLockFile,
  takeLockFile,
  touchedAt,
  unlinkLockFile,
} from "./lock-file.ts";
import { pause } from "./pause.ts";

/**
 * Takes a dead holder's lock away; answers whether the way may now be free.
 *
 * Reading a dead lock and unlinking it is not safe: between the two, somebody else may have done the same and taken the
 * lock anew. So it is unlinked only while holding a second lock beside it (`.break`), after reading it again. A breaker may
 * die too; its `.break` is taken away by the same rule under a third name (`.break2`). That one has no guard, so whoever
 * takes it waits until any rival that saw it dead has acted, and goes on only if it is still theirs.
 */
export async function breakLock(path: string, staleAfterMs: number): Promise<boolean> {
  const guard = `${path}.break`;
  if (!takeLockFile(guard)) {
    await breakGuard(guard, staleAfterMs);
    return false;
  }
  try {
    const lock = readLockFile(path);
    if (lock === undefined) return true;
    if (!isDead(lock, staleAfterMs, touchedAt(guard))) return false;
    unlinkLockFile(path);
    return true;
  } finally {
    releaseLockFile(guard);
  }
}

/** Is the holder gone, or silent for too long where only its heartbeat tells? One who never wrote a name has none. `nowMs` is the file system's time. */
export function isDead(
  { holder, text, touchedMs }: LockFile,
  staleAfterMs: number,
  nowMs: number = Date.now(),
): boolean {
  if (holder === undefined) return text === "" && nowMs - touchedMs > staleAfterMs;
  const state = readHolderState(holder, touchedMs);
  return state === "gone" || (state === "elsewhere" && nowMs - touchedMs > staleAfterMs);
}

async function breakGuard(guard: string, staleAfterMs: number): Promise<void> {
  const held = readLockFile(guard);
  if (held === undefined || !isDead(held, staleAfterMs)) return;
  const last = `${guard}2`;
  if (!takeLockFile(last)) {
    const rival = readLockFile(last);
    if (rival !== undefined && isDead(rival, staleAfterMs)) unlinkLockFile(last);
    return;
  }
  const taken = touchedAt(last);
  await pause(settleMs);
  if (touchedAt(last) !== taken || !isOwnLockFile(last)) return;
  try {
    const again = readLockFile(guard);
    if (again !== undefined && isDead(again, staleAfterMs)) unlinkLockFile(guard);
  } finally {
    releaseLockFile(last);
  }
}

/** Far longer than the two system calls a rival is between. */
const settleMs = 20;
