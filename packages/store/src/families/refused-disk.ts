import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../testing/child.ts";
import { buildFaultShim } from "../testing/fault.ts";
import type { Refusal, RefusalTally } from "./refusal.ts";
import type { Stage } from "./rehearsal.ts";

/** Refuses each call of a subject's run in turn; `reads`: those that only read, too. */
export function findRefusals<Step>(
  { engine, subject, size, folder }: Stage<Step>,
  refusals: readonly Refusal[],
  reads = false,
): RefusalTally {
  const root = join(folder, "root");
  mkdirSync(root);
  subject.prepare(root);
  const env = { LD_PRELOAD: buildFaultShim(folder), FAULT_ROOT: root, FAULT_LOG: join(folder, "calls") };
  const args = ["refuse", subject.name, String(size), root, JSON.stringify(refusals)];
  const { exit, stdout, stderr } = runProgram(engine.program, args, reads ? { ...env, FAULT_READS: "1" } : env);
  if (exit !== 0) throw new Error(`${subject.name} ended with ${exit}: ${stderr}`);
  return JSON.parse(stdout) as RefusalTally;
}
