import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { type Call, readCalls } from "../testing/fault.ts";
import { readTree, type Tree, writeTree } from "../testing/tree.ts";
import { type Api, differing, findingsOf, type Subject } from "./subject.ts";

/** How a call is refused: with an errno, or a write by taking a part of its bytes. */
export type RefusalKind = number | "short";

/** A pass over every call of a run. */
export interface Refusal {
  /** One after the other, from call to call. */
  readonly kinds: readonly RefusalKind[];
  /** Not once, but every time from then on. */
  readonly forever: boolean;
}

/** What came of refusing each call of a run. */
export interface RefusalTally {
  /** How many runs met a refusal, and in how many of them somebody was told. */
  met: number;
  told: number;
  /** The names of the calls that were refused and told of. */
  names: string[];
  findings: string[];
}

/** What the library says of an errno. */
export const codes: Readonly<Record<number, string>> = {
  5: "IO",
  13: "NO_PERMISSION",
  24: "IO",
  28: "NO_SPACE",
  30: "READ_ONLY",
};

interface Trial<Step> {
  readonly api: Api;
  readonly subject: Subject<Step>;
  readonly root: string;
  readonly steps: readonly Step[];
  readonly initial: Tree;
  /** What a reader finds after so many steps. */
  readonly looks: readonly string[];
  readonly tally: RefusalTally;
}

/** Runs in a process that has the shim: does the subject's steps again and again, each time with another call refused. */
export async function refuseEachCall<Step>(
  api: Api,
  { subject, root, size }: { readonly subject: Subject<Step>; readonly root: string; readonly size: number },
  refusals: readonly Refusal[],
): Promise<RefusalTally> {
  const steps = subject.steps(size).filter((step) => subject.isJoint?.(step) !== true);
  const initial = readTree(root);
  const looks = await readLooks(api, { subject, root, steps });
  const tally: RefusalTally = { met: 0, told: 0, names: [], findings: [] };
  const trial: Trial<Step> = { api, subject, root, steps, initial, looks, tally };
  for (const refusal of refusals) {
    for (let at = 1; await tryRefusal(trial, refusal, at); at += 1) if (tally.findings.length > 20) return tally;
  }
  return tally;
}

/** A run in which nothing is refused. */
async function readLooks<Step>(
  api: Api,
  { subject, root, steps }: Pick<Trial<Step>, "subject" | "root" | "steps">,
): Promise<string[]> {
  const session = subject.open(api, root);
  const looks = [subject.look(api, root)];
  for (const step of steps) {
    await session.run(step);
    looks.push(subject.look(api, root));
  }
  return looks;
}

/** Answers whether the run still had a call of that number. */
async function tryRefusal<Step>(trial: Trial<Step>, { kinds, forever }: Refusal, at: number): Promise<boolean> {
  const { api, subject, root, steps, initial, tally } = trial;
  const kind = kinds[at % kinds.length] ?? 5;
  writeTree(root, initial);
  writeFileSync(logPath(), "");
  order(`arm/${at}/${kind}${forever ? "/forever" : ""}`);
  const told = await runRefused(trial, kind, at);
  const wasMet = isMet();
  order("disarm");
  if (!wasMet) return false;
  const { name, path } = refusedCall(at);
  const findings = [...told.findings];
  if (told.count === 0 && mustTell(name, path, kind)) findings.push("nobody was told");
  const moment = { acknowledged: steps, underWay: undefined, isPowerCut: false, isThorough: true };
  const after = await findingsOf(() => subject.check(api, root, moment));
  // A temporary file that could not be removed stays until its process ends.
  findings.push(...after.filter((finding) => !(name === "unlink" && finding.startsWith("left behind"))));
  tally.met += 1;
  tally.told += told.count > 0 ? 1 : 0;
  if (told.count > 0 && !tally.names.includes(name)) tally.names.push(name);
  const where = `${subject.name}, ${kind}${forever ? " from" : " at"} call ${at}, ${name} ${path}`;
  tally.findings.push(...findings.map((finding) => `${where}: ${finding}`));
  return true;
}

/** What an append needs: its bytes, and their being on the disk. */
function mustTell(name: string, path: string, kind: RefusalKind): boolean {
  return kind !== "short" && /^(write|fdatasync)$/.test(name) && path.endsWith(".jsonl");
}

/** Does the steps; one that is refused changed nothing, and works when the disk does again. */
async function runRefused<Step>(
  { api, subject, root, steps, looks }: Trial<Step>,
  kind: RefusalKind,
  at: number,
): Promise<{ count: number; findings: string[] }> {
  const told: { count: number; findings: string[] } = { count: 0, findings: [] };
  const attempt = async <Result>(index: number, run: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await run();
    } catch (error) {
      order("hold");
      told.count += 1;
      told.findings.push(...judgeError(api, error, { root, kind }));
      if (isPending(error)) {
        await finish(api, root);
        told.findings.push(...differing("what was left for later", subject.look(api, root), looks[index + 1]));
        return undefined as Result;
      }
      const look = subject.look(api, root);
      if (look !== looks[index + 1] || !isSettled(at)) {
        told.findings.push(...differing("after the refusal, it", look, looks[index]));
      }
      return run();
    }
  };
  try {
    const session = await attempt(0, () => subject.open(api, root));
    for (const [index, step] of steps.entries()) await attempt(index, () => session.run(step));
  } catch (error) {
    told.findings.push(`does not work again: ${error instanceof Error ? error.stack : String(error)}`);
  }
  return told;
}

function judgeError(
  api: Api,
  error: unknown,
  { root, kind }: { readonly root: string; readonly kind: RefusalKind },
): string[] {
  if (!(error instanceof api.StoreError)) return [`told by ${error instanceof Error ? error.stack : String(error)}`];
  const findings: string[] = [];
  if (kind === "short" || error.code !== codes[kind]) findings.push(`told as ${error.code}: ${error.message}`);
  if (error.path === undefined || !error.path.startsWith(root)) findings.push(`names ${error.path} as the path`);
  if (error.path !== undefined && !error.message.includes(error.path)) findings.push(`says only ${error.message}`);
  return findings;
}

function isPending(error: unknown): boolean {
  return (error as { details?: { pending?: boolean } } | undefined)?.details?.pending === true;
}

async function finish(api: Api, root: string): Promise<void> {
  await api.recoverPlan({ journal: `${root}/run/journal` });
}

function order(words: string): void {
  mkdirSync(`/.fault/${words}`);
}

/** Was only a folder not synced, or a copy not made, after the content itself was in place? */
function isSettled(at: number): boolean {
  const { path } = refusedCall(at);
  return path.includes(".last-good") || (existsSync(path) && statSync(path).isDirectory());
}

function refusedCall(at: number): Call {
  return readCalls(logPath())[at - 1] ?? { name: "nothing", path: "", more: "" };
}

function isMet(): boolean {
  try {
    order("met");
    return true;
  } catch {
    return false;
  }
}

function logPath(): string {
  return process.env["FAULT_LOG"] ?? "";
}
