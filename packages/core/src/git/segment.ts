import type { ReflogEntry } from "./reflog.ts";

export interface SegmentInput {
  readonly reflog: readonly ReflogEntry[] | undefined;
  /** The commit the task started at; `undefined` when there was none yet. */
  readonly base: string | undefined;
  readonly startedAt: Date;
  /** The commit HEAD is at. */
  readonly head: string;
}

function isNone(id: string): boolean {
  return /^0+$/.test(id);
}

/** Does each movement begin where the one before it ended? A new root begins from nothing. */
function isUnbroken(entries: readonly ReflogEntry[]): boolean {
  return entries.every((entry, at) => {
    const previous = entries[at - 1];
    return previous === undefined || isNone(entry.before) || entry.before === previous.after;
  });
}

/** The index of the first entry that tells of the time after the start; -1 when none does. */
function findStart({ reflog = [], base, startedAt }: SegmentInput): number {
  const started = Math.floor(startedAt.getTime() / 1000);
  const arrival = reflog.findLastIndex((entry) => entry.after === base && entry.seconds <= started);
  if (arrival >= 0) return arrival + 1;
  // HEAD was at the base when the task started, so the first movement since then leaves it, unless entries are lost.
  const first = reflog.findIndex(
    ({ before, after, seconds }) =>
      seconds >= started && (base === undefined ? isNone(before) : before === base || after === base),
  );
  return first >= 0 && reflog[first]?.after === base ? first + 1 : first;
}

/**
 * The part of the reflog that tells how HEAD came from where the task started to where it is now. It begins after the
 * last arrival at `base` not later than the start; where there is none, with the first movement at or away from `base`
 * since the start. Answers `undefined` when the reflog cannot tell: absent, nothing since the start, entries lost, HEAD
 * moved by something that leaves no trace in it.
 */
export function deriveSegment(input: SegmentInput): readonly ReflogEntry[] | undefined {
  const { reflog = [], base, head } = input;
  const start = findStart(input);
  if (start < 0) return undefined;
  const arrived = reflog[start - 1]?.after === base;
  const reaches = reflog.at(-1)?.after === head && isUnbroken(reflog.slice(arrived ? start - 1 : start));
  return reaches ? reflog.slice(start) : undefined;
}
