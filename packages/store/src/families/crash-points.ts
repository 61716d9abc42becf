import { join } from "node:path";
import { runProgram } from "../testing/child.ts";
import { readDisk } from "../testing/disk.ts";
import { type Call, faultEnvironment, readCalls } from "../testing/fault.ts";
import { collectNow } from "../testing/killed.ts";
import { keyOf, readTree, writeTree } from "../testing/tree.ts";
import { examine, momentsOf, type Rehearsal, rehearse, type Stage, type Tally } from "./rehearsal.ts";
import { findingsOf } from "./subject.ts";

/** Kills a subject's run, as the model of the disk tells it, before each of its calls and within each of its writes. */
export async function findCrashes<Step>(stage: Stage<Step>, most = 20): Promise<Tally> {
  const rehearsal = rehearse(stage);
  return examine(rehearsal, rehearsal.killed(), { isPowerCut: false, isThorough: () => true, most });
}

/** What came of killing real processes. */
export interface RealTally {
  killed: number;
  readonly findings: string[];
}

/**
 * Kills real processes at some of their calls. Each leaves on the real disk exactly what the model of the disk says after
 * the calls that very process had made, and what holds for the model's states holds there.
 */
export async function findRealCrashes<Step>(stage: Stage<Step>, count: number): Promise<RealTally> {
  const rehearsal = rehearse(stage);
  const counted = rehearsal.calls.filter(({ name }) => name !== "mark");
  const tally: RealTally = { killed: 0, findings: [] };
  for (let index = 0; index < count; index += 1) {
    const at = 1 + Math.floor((index * counted.length) / count);
    const kind = counted[at - 1]?.name === "write" && index % 2 === 0 ? "torn" : "kill";
    const found = await killReally(rehearsal, { stage, at, kind });
    if (found === undefined) continue;
    tally.killed += 1;
    tally.findings.push(...found.map((finding) => `${stage.subject.name}, ${kind} at call ${at}: ${finding}`));
  }
  return tally;
}

interface Kill<Step> {
  readonly stage: Stage<Step>;
  readonly at: number;
  readonly kind: "kill" | "torn";
}

/** `undefined` when this run made fewer calls and came to its end. */
async function killReally<Step>(
  { root, initial, shim }: Rehearsal<Step>,
  { stage, at, kind }: Kill<Step>,
): Promise<readonly string[] | undefined> {
  const { engine, subject, size, folder } = stage;
  writeTree(root, initial);
  const disk = readDisk(root);
  const log = join(folder, `calls-${at}`);
  const env = { ...faultEnvironment({ shim, root, at, kind }), FAULT_LOG: log };
  const { signal } = runProgram(engine.program, ["rehearse", subject.name, String(size), root], env);
  if (signal !== "SIGKILL") return undefined;
  const calls = readCalls(log);
  const last = calls.pop();
  for (const call of calls) disk.apply(call);
  if (last !== undefined && kind === "torn") disk.apply(halved(last));
  const [real, model] = [keyOf(readTree(root)), keyOf(collectNow(disk))];
  const differences = real === model ? [] : [`the disk holds\n${real}\nand the model\n${model}`];
  const moment = {
    ...momentsOf({ calls, steps: subject.steps(size) })(calls.length),
    isPowerCut: false,
    isThorough: true,
  };
  return [...differences, ...(await findingsOf(() => subject.check(engine.api, root, moment)))];
}

/** As the shim halves it. */
function halved(call: Call): Call {
  const length = call.more.length / 2;
  return { ...call, more: call.more.slice(0, length > 1 ? (length >> 1) * 2 : 0) };
}
