import type { SubjectName, Work } from "./job.ts";

/** How much of everything; a test takes less. */
export interface Sizes {
  readonly appended: number;
  readonly synced: number;
  readonly callers: number;
  readonly perCaller: number;
  /** Entries for those who write the whole file again at every put. */
  readonly rewritten: number;
  readonly large: number;
  readonly huge: number;
  readonly lookups: number;
  readonly locks: number;
  readonly tortureMs: number;
  readonly growth: readonly number[];
  readonly grown: number;
}

export const usualSizes: Sizes = {
  appended: 10_000,
  synced: 2000,
  callers: 64,
  perCaller: 200,
  rewritten: 500,
  large: 100_000,
  huge: 1_000_000,
  lookups: 100_000,
  locks: 5000,
  tortureMs: 6000,
  growth: [1000, 10_000, 100_000, 1_000_000],
  grown: 10_000,
};

/** One subject at one piece of work, in a process of its own each round. */
export interface Series {
  readonly subject: SubjectName;
  readonly work: Work;
  readonly fixture?: Fixture;
}

export interface Fixture {
  readonly subject: SubjectName;
  readonly lines: number;
  readonly indexed?: boolean;
}

/** What the design asks for, of a ratio or of a figure. */
export interface Bound {
  readonly sense: "at least" | "at most";
  readonly value: number;
}

export interface Against {
  readonly name: string;
  readonly series: Series;
  /** Of our figure by theirs. */
  readonly bound?: Bound;
}

export type Unit = "entries/s" | "ms" | "µs" | "MiB" | "violations" | "acquisitions";

/** One kind of work: ours and what it is compared with. */
export interface Row {
  readonly name: string;
  readonly title: string;
  readonly unit: Unit;
  /** Which of the figures a job answers. */
  readonly figure: string;
  /** Of several rounds: the middle one, or the one that speaks most against the subject. */
  readonly statistic: "median" | "most";
  readonly ours: Series;
  /** Of our own figure. */
  readonly bound?: Bound;
  readonly against: readonly Against[];
  readonly rounds?: Rounds;
}

/** How often, where it is not as often as asked for. */
export interface Rounds {
  readonly warm: 0 | 1;
  readonly atMost: number;
}

export function idOf({ subject, work, fixture }: Series): string {
  return JSON.stringify([subject, work, ...(fixture?.indexed === true ? ["indexed"] : [])]);
}
