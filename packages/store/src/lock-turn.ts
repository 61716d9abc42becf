import { isDead } from "./lock-break.ts";
import { isOwnLockFile, readLockFile, takeLockFile, unlinkLockFile } from "./lock-file.ts";
import { pause } from "./pause.ts";

/**
 * Fairness. A process that gives a lock back and takes it again at once would leave the others, who look every few
 * milliseconds, next to no chance. So who has waited for a while says so by a link beside the lock (`.wait`) and looks
 * more often; and who has just had the lock lets the one who said so go first. A `.wait` is a hint and guards nothing.
 */
export interface Turn {
  /** How long to rest before looking again, in milliseconds; it grows, until the wait is announced. */
  nextDelay(): number;
  /** The wait is over, one way or the other. */
  end(): void;
}

/** Begins a wait for a lock. */
export function beginTurn(lock: string): Turn {
  let delay = 2;
  let announced = false;
  return {
    nextDelay: () => {
      announced ||= delay >= announceFromMs && attempt(() => takeLockFile(markOf(lock)));
      const now = announced ? 2 : delay;
      delay = Math.min(delay * 2, longestMs);
      return now * (0.5 + Math.random() / 2);
    },
    end: () => {
      if (announced && attempt(() => isOwnLockFile(markOf(lock)))) unlinkLockFile(markOf(lock));
    },
  };
}

/** Lets somebody who waits go first, if anybody does. For a process that has just had the lock. */
export async function giveWay(lock: string, signal: AbortSignal | undefined): Promise<void> {
  if (attempt(() => isAnotherWaiting(markOf(lock)))) await pause(giveWayMs, signal);
}

function isAnotherWaiting(mark: string): boolean {
  const waiting = readLockFile(mark);
  if (waiting === undefined) return false;
  const isGone = isDead(waiting, longestMs);
  if (isGone) unlinkLockFile(mark);
  return !isGone && !isOwnLockFile(mark);
}

/** What cannot be done about a hint, such as one whose name is too long, is left undone. */
function attempt(act: () => boolean): boolean {
  try {
    return act();
  } catch {
    return false;
  }
}

const longestMs = 100;
const announceFromMs = 16;
const giveWayMs = 8;

function markOf(lock: string): string {
  return `${lock}.wait`;
}
