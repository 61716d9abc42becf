import { deriveSummary } from "../samples.ts";
import type { Results } from "./compare.ts";
import type { SubjectName } from "./job.ts";
import { idOf, type Series, type Sizes } from "./plan.ts";
import { openBy } from "./rows.ts";

/** What one subject does with files of one size. */
export interface GrowthPoint {
  readonly subject: string;
  readonly lines: number;
  /** Opening in a new process, the library's loading included. */
  readonly openMs: number;
  /** Entries a second added to it, queued and not synced. */
  readonly appendRate: number;
}

interface Grown {
  readonly subject: SubjectName;
  readonly name: string;
  readonly linesAtMost: number;
}

/** nedb reads a million lines in minutes. */
const subjects: readonly Grown[] = [
  { subject: "reeve", name: "@reeve/store", linesAtMost: Number.POSITIVE_INFINITY },
  { subject: "plain", name: "plain fs", linesAtMost: Number.POSITIVE_INFINITY },
  { subject: "better-sqlite3", name: "better-sqlite3", linesAtMost: Number.POSITIVE_INFINITY },
  { subject: "lmdb", name: "lmdb", linesAtMost: Number.POSITIVE_INFINITY },
  { subject: "nedb", name: "nedb", linesAtMost: 100_000 },
];

function growBy(subject: SubjectName, lines: number, entries: number): Series {
  return { subject, work: { kind: "grow", lines, entries }, fixture: { subject, lines } };
}

/** The series of one size, open and append of every subject that survives it. */
export function listGrowth({ grown }: Sizes, lines: number): readonly Series[] {
  return subjects
    .filter(({ linesAtMost }) => lines <= linesAtMost)
    .flatMap(({ subject }) => [openBy(subject, lines), growBy(subject, lines, grown)]);
}

function medianOf(results: Results, series: Series, figure: string): number | undefined {
  const rounds = results.get(idOf(series));
  return rounds === undefined ? undefined : deriveSummary(rounds.map((one) => one[figure] ?? Number.NaN)).median;
}

/** The points of every subject that was measured. */
export function deriveGrowth({ growth, grown }: Sizes, results: Results): readonly GrowthPoint[] {
  return subjects.flatMap(({ subject, name }) =>
    growth.flatMap((lines) => {
      const openMs = medianOf(results, openBy(subject, lines), "loadedMs");
      const appendRate = medianOf(results, growBy(subject, lines, grown), "rate");
      return openMs === undefined || appendRate === undefined ? [] : [{ subject: name, lines, openMs, appendRate }];
    }),
  );
}
