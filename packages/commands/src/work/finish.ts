import { resolve as resolvePath } from "node:path";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import type { Finding } from "@reeve/core/findings/finding.ts";
import { plural } from "@reeve/core/findings/plural.ts";
import type { GitReading } from "@reeve/core/git/reading.ts";
import { readTreeId } from "@reeve/core/git/tree.ts";
import { type Layer, writeChange } from "@reeve/core/layer/layer.ts";
import { parseDuration } from "@reeve/core/policy/policy.ts";
import { readPolicy } from "@reeve/core/policy/reader.ts";
import { policyValue } from "@reeve/core/policy/values.ts";
import { ledgerChange, readLedger } from "@reeve/core/records/ledger.ts";
import type { FinishRequest, Verification } from "@reeve/core/rules/doctrine.ts";
import { readDoctrineInput } from "@reeve/core/rules/input.ts";
import { readRules } from "@reeve/core/rules/resolve.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import type { System } from "@reeve/core/system/port.ts";
import { type Contract, evaluateContract } from "@reeve/core/work/finish.ts";
import { type FinishNote, readFinishNote } from "@reeve/core/work/finish-note.ts";
import { readSubject, type TaskSubject } from "@reeve/core/work/subject.ts";
import { completedPath, isElsewhere, outcomes, readTask, type Task, taskChange } from "@reeve/core/work/task.ts";
import type { Change } from "@reeve/store";
import { type Arguments, type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";

const finishOutcomes = outcomes.filter((name) => name !== "active" && name !== "handed_over");

const args = {
  flags: {
    outcome: { type: "string", value: "outcome", choices: finishOutcomes, summary: "how it ended" },
    "verify-command": {
      type: "string",
      value: "command",
      summary: "run this in the repository's root and record what it did",
    },
    note: { type: "string", value: "file", summary: "the completion note; the newest handover of the task otherwise" },
    check: { type: "boolean", summary: "evaluate scope and state alone and write nothing (for a pre-push hook)" },
  },
  exclusive: [
    ["check", "outcome"],
    ["check", "verify-command"],
    ["check", "note"],
  ],
} as const;

interface Prepared {
  /** The task that was active when the verification began. */
  readonly task: string | undefined;
  readonly verification: Verification | undefined;
  readonly note: string | undefined;
}

interface FinishResult {
  readonly task: Task | undefined;
  readonly outcome: string | undefined;
  readonly unmet: readonly string[];
  readonly note: string | undefined;
  readonly check: boolean;
}

async function requireOpenTask(layer: Layer): Promise<Task> {
  const task = await readTask(layer);
  if (task === undefined) {
    throw new ReeveError("NO_TASK", "no task has been started in this checkout", {
      hint: 'reeve start "<what>" --scope <path>',
    });
  }
  if (isElsewhere(layer, task)) {
    throw new ReeveError("TASK_ELSEWHERE", `the task record here belongs to another worktree: ${task.worktree}`, {
      hint: "finish it there, or move the copied record away: .ai/local/state/current.yaml",
    });
  }
  if (task.outcome !== "active") {
    throw new ReeveError("TASK_OVER", `${task.id} is over already: ${task.outcome}`, {
      hint: `reeve history --task ${task.id}`,
    });
  }
  return task;
}

function readTree({ system, git }: Context): string {
  return system.withScratch((scratch) => readTreeId(system, git.repository, scratch));
}

/** The verification against the tree as it is under the lock: what changed since it ran was not verified. */
function readSettled(context: Context, verification: Verification | undefined): Verification | undefined {
  if (verification === undefined || verification.supposed === true) return verification;
  return { ...verification, treeAfter: readTree(context) };
}

async function verify(context: Context, command: string): Promise<Verification> {
  const { system, git } = context;
  if (context.dry) {
    const result = { exit: 0, milliseconds: 0, ended: "exited", tail: "" } as const;
    return { supposed: true, command, result, treeBefore: "", treeAfter: "" };
  }
  const limit = parseDuration(policyValue(await readPolicy(context.layer), "verification.time_limit"));
  const { REEVE_EXTRA_CA_CERTS: certificates, REEVE_STDOUT: _, ...env } = system.env;
  const treeBefore = readTree(context);
  const result = await system.runWatched(command, {
    cwd: git.repository.top,
    env: certificates === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: certificates },
    timeLimitMs: (limit ?? 1800) * 1000,
    tailBytes: 16_384,
  });
  return { command, result, treeBefore, treeAfter: readTree(context) };
}

function readNoteFile(system: System, file: string): string {
  const text = system.readText(resolvePath(system.cwd, file) as AbsPath);
  if (text === undefined)
    throw new ReeveError("MISSING_FILE", `--note ${file}: there is no such file`, {
      hint: "name a file that is there; without --note the newest handover is taken, or one derived",
      details: { path: file },
    });
  return text;
}

function renderVerify(verification: Verification | undefined): Readonly<Record<string, unknown>> | null {
  if (verification === undefined) return null;
  const { command, result, treeBefore, treeAfter } = verification;
  const seconds = Math.round(result.milliseconds / 100) / 10;
  return { command, exit: result.exit, seconds, tier: "self-chosen", tree: treeAfter, tree_before: treeBefore };
}

interface Asked extends Omit<Prepared, "task"> {
  readonly outcome: FinishRequest["outcome"];
  readonly only?: readonly string[];
}

interface Evaluated {
  readonly subject: TaskSubject;
  readonly contract: Contract;
  readonly note: FinishNote | undefined;
  readonly request: FinishRequest;
}

async function evaluate(context: Context, task: Task, asked: Asked): Promise<Evaluated> {
  const { layer, git } = context;
  const { outcome, verification } = asked;
  await readPolicy(layer);
  const subject = await readSubject(layer, git, task);
  const note =
    asked.only === undefined
      ? await readFinishNote({ layer, git, subject, outcome, verification, text: asked.note })
      : undefined;
  const request: FinishRequest = { outcome, verification, note };
  const set = await readRules(layer);
  const input = await readDoctrineInput({ layer, git, runBy: "finish", set, subject, finish: request });
  const only = asked.only === undefined ? {} : { only: asked.only };
  return { subject, note, request, contract: await evaluateContract({ set, input, outcome, ...only }) };
}

function planAccepted(layer: Layer, git: GitReading, evaluated: Evaluated): readonly Change[] {
  const { subject, contract, note, request } = evaluated;
  const { task } = subject;
  const checkpoints = readLedger(layer).lines.filter(
    ({ value }) => value.event === "task.checkpoint" && value["task_id"] === task.id,
  ).length;
  const completed = note === undefined ? undefined : completedPath(task.id);
  const handed = { handover_path: note?.planned?.path ?? "", closed: false, task_id: task.id };
  const payload = {
    task_id: task.id,
    outcome: request.outcome,
    contract: contract.states,
    verify: renderVerify(request.verification),
    checkpoints,
    tree: request.verification?.treeAfter,
    note: completed,
  };
  return [
    taskChange(layer, { ...task, outcome: request.outcome }),
    ...(completed === undefined || note === undefined ? [] : [writeChange(layer, completed, note.body)]),
    ...(note?.planned === undefined
      ? []
      : [note.planned.change, ledgerChange(layer, git.head(), { event: "task.handed_over", payload: handed })]),
    ledgerChange(layer, git.head(), { event: "task.finished", payload }),
  ];
}

async function checkOnly(context: Context): Promise<Outcome<FinishResult>> {
  const task = await readTask(context.layer);
  const result = { task, outcome: undefined, unmet: [], note: undefined, check: true };
  const level = "OK" as const;
  if (task === undefined || task.outcome !== "active" || isElsewhere(context.layer, task)) {
    const message =
      task === undefined
        ? "no task is active"
        : task.outcome === "active"
          ? "the record here is another worktree's"
          : `${task.outcome}`;
    return { result, findings: [{ level, category: "contract", subject: task?.id ?? "no task", message }] };
  }
  const only = ["scope_respected", "state_updated"];
  const asked = { outcome: "completed", verification: undefined, note: undefined, only } as const;
  const { contract } = await evaluate(context, task, asked);
  return { result: { ...result, unmet: contract.unmet }, findings: contract.findings };
}

async function judge(
  given: Arguments<typeof args>,
  context: Context,
  prepared: Prepared,
): Promise<Outcome<FinishResult>> {
  const { layer, git } = context;
  const task = await requireOpenTask(layer);
  if (task.id !== prepared.task) {
    throw new ReeveError("CONFLICT", `${prepared.task} ended while the verification ran; ${task.id} is another task`, {
      hint: "look at reeve history, then finish the task that is active now",
    });
  }
  const outcome = given.outcome as FinishRequest["outcome"];
  const verification = readSettled(context, prepared.verification);
  const evaluated = await evaluate(context, task, { ...prepared, outcome, verification });
  const { contract, note } = evaluated;
  const { findings, unmet } = contract;
  const result = { task, outcome, unmet, note: note?.from, check: false };
  if (unmet.length > 0) {
    const payload = { task_id: task.id, outcome, unmet, verify: renderVerify(verification) };
    const refused = ledgerChange(layer, git.head(), { event: "task.refused", payload });
    return { result, findings, plan: { changes: [refused] } };
  }
  return { result, findings, plan: { changes: planAccepted(layer, git, evaluated) } };
}

function lastLine({ task, outcome, unmet, note, check }: FinishResult, findings: readonly Finding[]): string {
  if (check)
    return unmet.length === 0 ? "finish --check: passed" : `finish --check: ${plural(unmet.length, "line")} unmet`;
  if (unmet.length > 0) {
    const rules = unmet.map((id) => `- ${id}`);
    return [`finish: refused, ${unmet.length} unmet; the task stays active`, ...rules].join("\n");
  }
  const met = findings.filter((finding) => finding.level === "OK").length;
  return `finished ${task?.id}: ${outcome}, ${plural(met, "line")} met${note === undefined ? "" : `, note: ${note}`}`;
}

export const finish: Command = defineCommand({
  name: "finish",
  summary: "end the task, if its contract is met",
  about: `The contract is the policy's verification.finish_requires, each key evaluated by its rule. A refusal prints every
line, leaves a task.refused line in the ledger, and the task active. partial and blocked want a note with
'# Next Action'; no_match and failed one with '# Reason'. Without a newer handover the note is derived from the records.`,
  examples: [
    {
      command: 'reeve finish --outcome completed --verify-command "npm test"',
      shows: "runs the tests and ends the task if all holds",
    },
    {
      command: "reeve finish --outcome blocked --note note.md",
      shows: "ends it unfinished, with a note that says what is next",
    },
    { command: "reeve finish --check", shows: "what a pre-push hook runs: scope and state, nothing written" },
  ],
  args,
  class: "state-mutating",
  readsWith: ["check"],
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "findings",
  everyLine: true,
  gate: true,
  prefetch: "history",
  reads: [".ai/repo/policy.yaml", ".ai/local/state/current.yaml", ".ai/local/state/handovers/"],
  writes: [
    ".ai/local/state/current.yaml",
    ".ai/local/state/ledger.jsonl",
    ".ai/local/state/completed/",
    ".ai/local/state/handovers/",
  ],
  result: {},
  async prepare(given, context): Promise<Prepared> {
    if (given.check) return { task: undefined, verification: undefined, note: undefined };
    if (given.outcome === undefined) {
      throw new ReeveError("USAGE", `--outcome is missing: ${finishOutcomes.join(", ")}`, {
        hint: "reeve finish --help",
      });
    }
    const task = (await requireOpenTask(context.layer)).id;
    const note = given.note === undefined ? undefined : readNoteFile(context.system, given.note);
    const command = given["verify-command"];
    return { task, note, verification: command === undefined ? undefined : await verify(context, command) };
  },
  run: (given, context, prepared: Prepared) => (given.check ? checkOnly(context) : judge(given, context, prepared)),
  text: lastLine,
});
