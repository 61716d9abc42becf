import { renderColumns } from "../report.ts";
import type { Comparison } from "./compare.ts";
import type { GrowthPoint } from "./growth.ts";
import type { Bound, Unit } from "./plan.ts";

/** Whole numbers for what is counted, two significant places or more for what is timed. */
export function formatFigure(value: number, unit: Unit): string {
  if (unit === "ms" || unit === "µs") return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
  return Math.round(value).toLocaleString("en-US");
}

function formatRatio(ratio: number | undefined): string {
  if (ratio === undefined) return "";
  return ratio.toFixed(ratio < 0.1 ? 3 : ratio < 10 ? 2 : 1);
}

function formatBound(bound: Bound | undefined, unit: string): string {
  if (bound === undefined) return "";
  return `${bound.sense === "at most" ? "≤" : "≥"} ${bound.value}${unit === "" ? "" : ` ${unit}`}`;
}

/** Everything of a line but the work: who, their figure, the ratio, what is asked for, and whether it is reached. */
function renderCells(comparison: Comparison): readonly string[] {
  const { against, theirs, ratio, ratioOfBest, unit, bound, verdict } = comparison;
  return [
    against ?? "itself",
    theirs === undefined ? "" : formatFigure(theirs, unit),
    formatRatio(ratio),
    formatRatio(ratioOfBest),
    formatBound(bound, against === undefined ? unit : ""),
    verdict ?? "",
  ];
}

function renderOurs({ ours, unit }: Comparison): string {
  return ours === undefined ? "not installed" : `${formatFigure(ours, unit)} ${unit}`;
}

function isFirst(comparisons: readonly Comparison[], at: number): boolean {
  return comparisons[at - 1]?.row !== comparisons[at]?.row;
}

/** The table a person reads: a heading with our figure for each work, then everybody it is compared with. */
export function renderComparisons(comparisons: readonly Comparison[]): string {
  const head = ["  compared with", "theirs", "ours / theirs", "of best", "target", ""];
  const cells = comparisons.map((one) => renderCells(one).map((cell, at) => (at === 0 ? `  ${cell}` : cell)));
  const [first = "", ...lines] = renderColumns([head, ...cells]).split("\n");
  const body = comparisons.flatMap((one, at) => {
    const heading = `\n${one.title} (${one.row}): ${renderOurs(one)}`;
    return [...(isFirst(comparisons, at) ? [heading] : []), lines[at] ?? ""];
  });
  return `${[first, ...body].join("\n")}\n`;
}

/** The same for a page. */
export function renderMarkdown(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map((one, at) => {
    const begins = isFirst(comparisons, at);
    return [begins ? one.title : "", begins ? renderOurs(one) : "", ...renderCells(one)];
  });
  const head = ["work", "ours", "compared with", "theirs", "ours / theirs", "of best", "target", ""];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** Open time and append rate by the size of the file. */
export function renderGrowth(points: readonly GrowthPoint[]): string {
  const head = ["as the file grows", "lines", "open ms", "append entries/s"];
  const rows = points.map(({ subject, lines, openMs, appendRate }) => [
    `  ${subject}`,
    lines.toLocaleString("en-US"),
    formatFigure(openMs, "ms"),
    formatFigure(appendRate, "entries/s"),
  ]);
  return renderColumns([head, ...rows]);
}
