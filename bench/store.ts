import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { buildSync } from "esbuild";
import type { Group, GroupReport, GroupRequest } from "./group.ts";
import { installPeers } from "./install.ts";
import { type Comparison, deriveComparisons, type Results } from "./store/compare.ts";
import { deriveGrowth, listGrowth } from "./store/growth.ts";
import type { Figures, SubjectName } from "./store/job.ts";
import { type Bench, measureInterleaved, probe } from "./store/measure.ts";
import { idOf, type Row, type Series, type Sizes, usualSizes } from "./store/plan.ts";
import { listRows, seldom } from "./store/rows.ts";
import { renderComparisons, renderGrowth } from "./store/table.ts";

/** The row that is no comparison: everything again at several sizes. */
const growthName = "growth";

/** Lines from which on a file is read a few times only. */
const manyLines = 500_000;

/** A copy of the library, so that a build meanwhile changes nothing, the bundled child, and an environment of their own. */
export function makeBench({ root, folder }: Pick<GroupRequest, "root" | "folder">, packages: string): Bench {
  const library = join(folder, "library");
  cpSync(join(root, "packages/store/dist"), library, { recursive: true });
  const program = join(folder, "child.mjs");
  buildSync({
    absWorkingDir: root,
    entryPoints: ["bench/store/child.ts"],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
  });
  const home = join(folder, "home");
  mkdirSync(home, { mode: 0o700 });
  return {
    folder,
    program,
    sources: { library: join(library, "index.js"), packages },
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: home,
      LANG: "C.UTF-8",
    },
    fixtures: new Set(),
    count: 0,
  };
}

interface Measuring {
  readonly bench: Bench;
  readonly sizes: Sizes;
  readonly runs: number;
  readonly only: readonly string[];
  readonly progress: (text: string) => void;
}

/** What is measured and kept while the rows are gone through. */
interface State extends Measuring {
  readonly results: Map<string, readonly Figures[]>;
  /** Why a subject is not measured; `undefined` once it answered. */
  readonly absent: Map<SubjectName, string | undefined>;
}

function isThere(state: State, { subject }: Series): boolean {
  if (!state.absent.has(subject)) {
    const why = probe(state.bench, subject);
    if (why !== undefined && subject === "reeve") throw new Error(`the built library cannot be loaded: ${why}`);
    if (why !== undefined) state.progress(`${subject} is not installed: ${why}`);
    state.absent.set(subject, why);
  }
  return state.absent.get(subject) === undefined;
}

interface Wanted {
  readonly name: string;
  readonly series: readonly Series[];
  readonly rounds: Row["rounds"];
}

/** Measures what was not measured for an earlier row. */
function measureNew(state: State, { name, series: wanted, rounds }: Wanted): void {
  const { warm, atMost } = rounds ?? { warm: 1, atMost: state.runs };
  const series = [...new Map(wanted.map((one) => [idOf(one), one])).values()].filter(
    (one) => !state.results.has(idOf(one)) && isThere(state, one),
  );
  if (series.length === 0) return;
  const began = performance.now();
  const found = measureInterleaved(state.bench, series, { warm, atMost: Math.min(atMost, state.runs) });
  for (const [id, figures] of found) state.results.set(id, figures);
  state.progress(`${name}: ${series.length} subjects, ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

interface Found {
  readonly results: Results;
  readonly comparisons: readonly Comparison[];
  readonly absent: Readonly<Record<string, string>>;
}

/** Goes through the rows asked for, each one's subjects interleaved. */
export function measureRows(measuring: Measuring): Found {
  const state: State = { ...measuring, results: new Map(), absent: new Map() };
  const { sizes, only } = measuring;
  const isWanted = (name: string): boolean => only.length === 0 || only.includes(name);
  const rows = listRows(sizes).filter((row) => isWanted(row.name));
  for (const row of rows) {
    const series = [row.ours, ...row.against.map((one) => one.series)];
    measureNew(state, { name: row.name, series, rounds: row.rounds });
  }
  for (const lines of isWanted(growthName) ? sizes.growth : []) {
    const rounds = lines < manyLines ? undefined : seldom;
    const name = `${growthName}, ${lines.toLocaleString("en-US")} lines`;
    measureNew(state, { name, series: listGrowth(sizes, lines), rounds });
  }
  const absent = [...state.absent].flatMap(([subject, why]) => (why === undefined ? [] : [[subject, why]]));
  return {
    results: state.results,
    comparisons: rows.flatMap((row) => deriveComparisons(row, state.results)),
    absent: Object.fromEntries(absent),
  };
}

/** Name and version of everything that is compared with. */
function readVersions(packages: string): Readonly<Record<string, string>> {
  const read = (file: string): Record<string, unknown> => JSON.parse(readFileSync(file, "utf8"));
  const names = Object.keys({
    ...(read(join(packages, "package.json"))["dependencies"] as object),
    ...(read(join(packages, "package.json"))["optionalDependencies"] as object),
  });
  return Object.fromEntries(
    names.flatMap((name) => {
      const file = join(packages, "node_modules", name, "package.json");
      return existsSync(file) ? [[name, String(read(file)["version"])]] : [];
    }),
  );
}

function measure({ root, folder, runs, only }: GroupRequest): GroupReport {
  const progress = (text: string): void => {
    process.stderr.write(`${text}\n`);
  };
  const failed = installPeers(root);
  if (failed !== undefined) progress(failed);
  const packages = join(root, "bench");
  const bench = makeBench({ root, folder }, packages);
  const { results, comparisons, absent } = measureRows({ bench, sizes: usualSizes, runs, only, progress });
  const growth = deriveGrowth(usualSizes, results);
  const peers = readVersions(packages);
  const versions = Object.entries(peers).map((pair) => pair.join(" "));
  const text = [
    `${versions.join(", ")}\n\n`,
    renderComparisons(comparisons),
    growth.length === 0 ? "" : `\n${renderGrowth(growth)}`,
  ].join("");
  return { text, data: { peers, absent, comparisons, growth, samples: Object.fromEntries(results) } };
}

/** `@reeve/store` against other stores and against plain file calls (design: store, "What is measured"). */
export const storeGroup: Group = {
  usualRuns: 5,
  rows: [...listRows(usualSizes).map((row) => row.name), growthName],
  measure,
};
