import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../testing/child.ts";
import { buildFaultShim, type Call, readCalls } from "../testing/fault.ts";
import { type DiskState, openKilled } from "../testing/killed.ts";
import { openLostCache } from "../testing/lost-cache.ts";
import { readTree, type Tree } from "../testing/tree.ts";
import type { Engine } from "./engine.ts";
import { findingsOf, type Moment, type Subject } from "./subject.ts";

/** A subject's run as it was recorded once. */
export interface Rehearsal<Step> {
  readonly subject: Subject<Step>;
  readonly engine: Engine;
  readonly root: string;
  readonly steps: readonly Step[];
  readonly calls: readonly Call[];
  /** What lay there before, and the library that meets calls. */
  readonly initial: Tree;
  readonly shim: string;
  /** Every state after a kill, and after a power cut. */
  killed(): Generator<DiskState>;
  lost(): Generator<DiskState>;
}

/** What is rehearsed, how long, and in which folder. */
export interface Stage<Step> {
  readonly engine: Engine;
  readonly subject: Subject<Step>;
  readonly size: number;
  /** Of its own. */
  readonly folder: string;
}

/** Runs a subject to its end in a child process and keeps the calls it made. */
export function rehearse<Step>({ engine, subject, size, folder }: Stage<Step>): Rehearsal<Step> {
  const root = join(folder, "root");
  mkdirSync(root);
  subject.prepare(root);
  const killed = openKilled(root);
  const lost = openLostCache(root, { zeros: true });
  const initial = readTree(root);
  const shim = buildFaultShim(folder);
  const log = join(folder, "calls");
  const env = { LD_PRELOAD: shim, FAULT_ROOT: root, FAULT_LOG: log };
  const { exit, stderr } = runProgram(engine.program, ["rehearse", subject.name, String(size), root], env);
  if (exit !== 0 || stderr !== "") throw new Error(`${subject.name} ended with ${exit}: ${stderr}`);
  const calls = readCalls(log);
  const run = { subject, engine, root, steps: subject.steps(size), calls, initial, shim };
  return { ...run, killed: () => killed(calls), lost: () => lost(calls) };
}

/** How many states were looked at, how many of them differ, and what was wrong. */
export interface Tally {
  states: number;
  distinct: number;
  readonly findings: string[];
}

/** How states are looked at. */
export interface Examination {
  readonly isPowerCut: boolean;
  /** Is this state, the n-th different one, looked at thoroughly? */
  readonly isThorough: (nth: number) => boolean;
  /** Stop after so many findings. */
  readonly most: number;
}

/** Puts each state on the disk, has the subject recover there, and tells what is wrong. */
export async function examine<Step>(
  rehearsal: Rehearsal<Step>,
  states: Iterable<DiskState>,
  { isPowerCut, isThorough, most }: Examination,
): Promise<Tally> {
  const { engine, subject, root } = rehearsal;
  const momentAt = momentsOf(rehearsal);
  const tally: Tally = { states: 0, distinct: 0, findings: [] };
  const seen = new Set<string>();
  for (const state of states) {
    tally.states += 1;
    const progress = momentAt(state.at);
    const key = `${progress.acknowledged.length} ${progress.underWay !== undefined}\n${state.key}`;
    if (seen.has(key)) continue;
    seen.add(key);
    tally.distinct += 1;
    state.restore(root);
    subject.settle?.(root, state.tree);
    const moment: Moment<Step> = { ...progress, isPowerCut, isThorough: isThorough(tally.distinct) };
    const found = await findingsOf(() => subject.check(engine.api, root, moment));
    tally.findings.push(...found.map((finding) => `${subject.name}, ${state.label}: ${finding}`));
    if (tally.findings.length >= most) break;
  }
  return tally;
}

type Progress<Step> = Pick<Moment<Step>, "acknowledged" | "underWay">;

/** How far the run was after so many calls, by its marks. */
export function momentsOf<Step>({
  calls,
  steps,
}: Pick<Rehearsal<Step>, "calls" | "steps">): (at: number) => Progress<Step> {
  const done: number[] = [0];
  const begun: number[] = [0];
  for (const { name, more } of calls) {
    done.push((done.at(-1) ?? 0) + (name === "mark" && more.startsWith("end ") ? 1 : 0));
    begun.push((begun.at(-1) ?? 0) + (name === "mark" && more.startsWith("begin ") ? 1 : 0));
  }
  return (at) => {
    const count = done[at] ?? 0;
    return { acknowledged: steps.slice(0, count), underWay: (begun[at] ?? 0) > count ? steps[count] : undefined };
  };
}
