import { addSamples, deriveSummary, type Samples, type Summary } from "./samples.ts";

/** What was timed: a command under a name no other command of the group has. */
export interface Timed {
  readonly name: string;
  /** Files in the repository it ran in; absent outside a repository. */
  readonly files?: number;
  readonly samples: Samples;
}

export interface TimedCase extends Timed {
  /** Names of the commands it is compared with; their times add up. */
  readonly floor: readonly string[];
  /** The ratio the design asks for. */
  readonly target?: number;
  /** git processes one run starts, counted. */
  readonly git: number;
  readonly gitAtMost?: number;
}

/** One line of a table. Times are milliseconds. */
export interface Row extends Summary {
  readonly name: string;
  readonly files: number | undefined;
  readonly floor: string;
  readonly floorMedian: number;
  readonly floorMinimum: number;
  /** Median by the floor's median. */
  readonly ratio: number;
  /** Minimum by the floor's minimum: what the machine's noise least disturbs. */
  readonly ratioOfMinima: number;
  readonly target: number | undefined;
  readonly git: number;
  readonly gitAtMost: number | undefined;
}

export function deriveRow(timed: TimedCase, floors: readonly Timed[]): Row {
  const named = timed.floor.map((name) => {
    const found = floors.find((floor) => floor.name === name);
    if (found === undefined) throw new Error(`${timed.name} is compared with "${name}", which was not timed`);
    return found.samples;
  });
  const own = deriveSummary(timed.samples);
  const floor = deriveSummary(addSamples(named));
  return {
    name: timed.name,
    files: timed.files,
    floor: timed.floor.join(" + "),
    ...own,
    floorMedian: floor.median,
    floorMinimum: floor.minimum,
    ratio: own.median / floor.median,
    ratioOfMinima: own.minimum / floor.minimum,
    target: timed.target,
    git: timed.git,
    gitAtMost: timed.gitAtMost,
  };
}

/** Columns padded to their widest cell: the first to the left, numbers to the right. */
export function renderColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

function renderTarget(row: Row): string {
  if (row.target === undefined) return "";
  return `${row.target.toFixed(2)}${row.ratio > row.target ? " over" : ""}`;
}

function renderGit(row: Row): string {
  return `${row.git}${row.gitAtMost !== undefined && row.git > row.gitAtMost ? " over" : ""}`;
}

/** The table a person reads: times in ms, ratios to the floor, what the design asks for, git processes. */
export function renderRows(rows: readonly Row[]): string {
  const head = ["case", "files", "median", "min", "floor", "ratio", "of minima", "target", "git"];
  const body = rows.map((row) => [
    row.name,
    row.files?.toString() ?? "",
    row.median.toFixed(1),
    row.minimum.toFixed(1),
    row.floorMedian.toFixed(1),
    row.ratio.toFixed(2),
    row.ratioOfMinima.toFixed(2),
    renderTarget(row),
    renderGit(row),
  ]);
  return renderColumns([head, ...body]);
}

export function renderFloors(floors: readonly Timed[]): string {
  const body = floors.map(({ name, samples }) => {
    const { median, minimum } = deriveSummary(samples);
    return [name, median.toFixed(1), minimum.toFixed(1)];
  });
  return renderColumns([["floor", "median", "min"], ...body]);
}
