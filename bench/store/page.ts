import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Comparison } from "./compare.ts";
import type { GrowthPoint } from "./growth.ts";
import { renderPlot } from "./plot.ts";
import { renderMarkdown } from "./table.ts";

interface Kept {
  readonly began: string;
  readonly runs: number;
  readonly machine: Readonly<Record<string, string>>;
  readonly peers: Readonly<Record<string, string>>;
  readonly comparisons: readonly Comparison[];
  readonly growth: readonly GrowthPoint[];
}

const page = "docs/guide/store-performance.md";
const plot = "docs/guide/store-performance.svg";
const marks = { begin: "<!-- measured: begin -->", end: "<!-- measured: end -->" };

/** Replaces what stands between the marks of a page; a page without them is an error. */
export function replaceMeasured(text: string, measured: string): string {
  const begin = text.indexOf(marks.begin);
  const end = text.indexOf(marks.end);
  if (begin < 0 || end < begin) throw new Error(`the page has no ${marks.begin} … ${marks.end}`);
  return `${text.slice(0, begin + marks.begin.length)}\n\n${measured}\n${text.slice(end)}`;
}

function renderMeasured({ began, runs, machine, peers, comparisons }: Kept): string {
  const about = Object.entries(machine).map(([what, value]) => `${what} ${value}`);
  const versions = Object.entries(peers).map((pair) => pair.join(" "));
  return `${began.slice(0, 10)}, medians of ${runs} interleaved rounds; ${about.join(", ")}; ${versions.join(", ")}.\n\n${renderMarkdown(comparisons)}`;
}

/** The newest kept run of every row. */
function findLatest(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^store-.*\.json$/.test(name)) : [];
  const latest = names.sort().at(-1);
  return latest === undefined ? undefined : join(folder, latest);
}

/** Writes the table and the plot of the guide from a kept run, the latest when none is named. Answers the exit code. */
export function writePage(root: string, named: string | undefined): number {
  const file = named ?? findLatest(join(root, "bench/results"));
  if (file === undefined) {
    process.stderr.write("There is no kept run. Measure first: npm run bench -- store\n");
    return 2;
  }
  const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
  if (kept.growth.length === 0) {
    process.stderr.write(`${file} is a run of some rows only. Measure everything: npm run bench -- store\n`);
    return 2;
  }
  writeFileSync(join(root, plot), renderPlot(kept.growth));
  writeFileSync(join(root, page), replaceMeasured(readFileSync(join(root, page), "utf8"), renderMeasured(kept)));
  process.stdout.write(`wrote ${page} and ${plot} from ${file}\n`);
  return 0;
}
