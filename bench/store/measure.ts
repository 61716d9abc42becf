import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Figures, Job, Sources, SubjectName, Work } from "./job.ts";
import { type Fixture, idOf, type Rounds, type Series } from "./plan.ts";

/** Where the children run. */
export interface Bench {
  /** Everything lies in it; removed by whoever made it. */
  readonly folder: string;
  /** The bundled child. */
  readonly program: string;
  readonly sources: Sources;
  readonly env: Readonly<Record<string, string>>;
  /** Fixtures that were made, by their folder. */
  readonly fixtures: Set<string>;
  count: number;
}

function makeFolder(bench: Bench, name: string): string {
  const folder = join(bench.folder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

interface Run {
  readonly subject: SubjectName;
  readonly work: Work;
  readonly folder: string;
  readonly fixture?: string;
}

/** The longest a child may take, in milliseconds: a hung one must not hang the bench. */
const longest = 180_000;

function runChild(bench: Bench, run: Run): Figures {
  const job: Job = { ...run, sources: bench.sources };
  const child = spawnSync(process.execPath, [bench.program, JSON.stringify(job)], {
    cwd: run.folder,
    env: bench.env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longest,
    killSignal: "SIGKILL",
  });
  if (child.status !== 0) {
    const what = `${run.subject}, ${JSON.stringify(run.work)}`;
    throw new Error(`${what} ended with ${child.status ?? child.signal}:\n${child.stdout}${child.stderr}`);
  }
  return JSON.parse(child.stdout.trim().split("\n").at(-1) ?? "") as Figures;
}

/** Why a subject cannot be measured here; `undefined` when it can. */
export function probe(bench: Bench, subject: SubjectName): string | undefined {
  try {
    runChild(bench, { subject, work: { kind: "probe" }, folder: makeFolder(bench, "probe") });
    return undefined;
  } catch (error) {
    return /^(?:\w+ )?\w*Error.*$/m.exec(error instanceof Error ? error.message : "")?.[0] ?? String(error);
  }
}

function requireFixture(bench: Bench, { subject, lines, indexed = false }: Fixture): string {
  const folder = makeFolder(bench, `fixtures/${subject}-${lines}${indexed ? "-indexed" : ""}`);
  if (!bench.fixtures.has(folder)) runChild(bench, { subject, work: { kind: "fill", lines, indexed }, folder });
  bench.fixtures.add(folder);
  return folder;
}

function runOnce(bench: Bench, { subject, work, fixture }: Series): Figures {
  bench.count += 1;
  const folder = makeFolder(bench, `job-${bench.count}`);
  try {
    const run = { subject, work, folder };
    return runChild(bench, fixture === undefined ? run : { ...run, fixture: requireFixture(bench, fixture) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs every series once a round, each round beginning with another one, so that what else the machine does falls on all of
 * them alike. A first round that is not kept brings files into memory.
 */
export function measureInterleaved(
  bench: Bench,
  series: readonly Series[],
  { warm, atMost }: Rounds,
): Map<string, Figures[]> {
  const found = new Map<string, Figures[]>(series.map((one) => [idOf(one), []]));
  for (const one of series) if (one.fixture !== undefined) requireFixture(bench, one.fixture);
  if (warm === 1) for (const one of series) runOnce(bench, one);
  for (let round = 0; round < atMost; round += 1) {
    const first = round % Math.max(1, series.length);
    for (const one of [...series.slice(first), ...series.slice(0, first)]) {
      found.get(idOf(one))?.push(runOnce(bench, one));
    }
  }
  return found;
}
