import { deriveSummary } from "../samples.ts";
import type { Figures } from "./job.ts";
import { type Bound, idOf, type Row, type Series, type Unit } from "./plan.ts";

/** What was measured, by {@link idOf} of the series; a series of a peer that is not installed is not there. */
export type Results = ReadonlyMap<string, readonly Figures[]>;

export type Verdict = "met" | "over" | "under" | "not installed";

/** One line of the table. */
export interface Comparison {
  readonly row: string;
  readonly title: string;
  readonly unit: Unit;
  readonly ours: number | undefined;
  /** `undefined`: our figure alone, for a bound it has itself. */
  readonly against: string | undefined;
  readonly theirs: number | undefined;
  /** Ours by theirs. */
  readonly ratio: number | undefined;
  /** Our best round by their best: what other load on the machine disturbs least. */
  readonly ratioOfBest: number | undefined;
  readonly bound: Bound | undefined;
  readonly verdict: Verdict | undefined;
}

/** Is a value within its bound? The bound itself is. */
export function judge(value: number, bound: Bound | undefined): Verdict | undefined {
  if (bound === undefined) return undefined;
  if (bound.sense === "at most") return value <= bound.value ? "met" : "over";
  return value >= bound.value ? "met" : "under";
}

interface Read {
  readonly figure: number;
  readonly best: number;
}

function readFigure(row: Row, series: Series, results: Results): Read | undefined {
  const rounds = results.get(idOf(series));
  if (rounds === undefined) return undefined;
  const values = rounds.map((figures) => figures[row.figure] ?? Number.NaN);
  if (values.some(Number.isNaN)) throw new Error(`${row.name}: a round has no figure "${row.figure}"`);
  const { median, minimum } = deriveSummary(values);
  const most = Math.max(...values);
  return { figure: row.statistic === "most" ? most : median, best: row.unit === "entries/s" ? most : minimum };
}

function divide(ours: number | undefined, theirs: number | undefined): number | undefined {
  return ours === undefined || theirs === undefined || theirs === 0 ? undefined : ours / theirs;
}

/** A row's lines: its own bound first, where it has one, then one for everybody it is compared with. */
export function deriveComparisons(row: Row, results: Results): readonly Comparison[] {
  const ours = readFigure(row, row.ours, results);
  const common = { row: row.name, title: row.title, unit: row.unit, ours: ours?.figure };
  const own: Comparison = {
    ...common,
    against: undefined,
    theirs: undefined,
    ratio: undefined,
    ratioOfBest: undefined,
    bound: row.bound,
    verdict: ours === undefined ? "not installed" : judge(ours.figure, row.bound),
  };
  const others = row.against.map(({ name, series, bound }): Comparison => {
    const theirs = readFigure(row, series, results);
    const ratio = divide(ours?.figure, theirs?.figure);
    const ratioOfBest = row.statistic === "median" ? divide(ours?.best, theirs?.best) : undefined;
    const judged = ratio === undefined ? undefined : judge(ratio, bound);
    const verdict = theirs === undefined ? "not installed" : judged;
    return { ...common, against: name, theirs: theirs?.figure, ratio, ratioOfBest, bound, verdict };
  });
  return row.bound === undefined ? others : [own, ...others];
}
