import type { Finding } from "@reeve/core/findings/finding.ts";
import type { Label } from "@reeve/core/git/divergence.ts";
import type { Policy, Profile } from "@reeve/core/policy/policy.ts";
import { readPolicy, readProfile } from "@reeve/core/policy/reader.ts";
import { planCheckpointStamp } from "@reeve/core/records/writer.ts";
import { readDoctrineInput } from "@reeve/core/rules/input.ts";
import { readRules } from "@reeve/core/rules/resolve.ts";
import { findRule, runRules, selectRules } from "@reeve/core/rules/run.ts";
import { findOverlaps, readOtherTasks } from "@reeve/core/work/overlap.ts";
import { readSubject } from "@reeve/core/work/subject.ts";
import type { Task } from "@reeve/core/work/task.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { renderVerdict } from "../text.ts";

interface CheckResult {
  readonly task: Task;
  readonly explained: { readonly policy: Policy; readonly profile: Profile } | undefined;
  /** How the task's record stands to git, when the whole task was judged. */
  readonly label: Label | undefined;
}

async function explain(context: Context): Promise<Outcome<CheckResult>> {
  const { layer, task } = context;
  const explained = { policy: await readPolicy(layer), profile: await readProfile(layer, task.profile) };
  return { result: { task, explained, label: undefined }, as: "value" };
}

async function listOverlaps(context: Context): Promise<Outcome<CheckResult>> {
  const { layer, git, task } = context;
  const found = findOverlaps(task.scope, await readOtherTasks(layer, git));
  const none: Finding = {
    level: "OK",
    category: "overlap",
    subject: task.scope.join(", "),
    message: "no other worktree's task overlaps",
  };
  const shown = found.map((finding): Finding => ({ ...finding, level: "WARN", next: "agree who changes what" }));
  return { result: { task, explained: undefined, label: undefined }, findings: found.length === 0 ? [none] : shown };
}

interface Evaluated {
  readonly label: Label;
  readonly findings: readonly Finding[];
}

async function evaluate(context: Context, only: string | undefined): Promise<Evaluated> {
  const { layer, git, task } = context;
  await readPolicy(layer);
  const set = await readRules(layer);
  const rules = selectRules(set, "check");
  const wanted = only === undefined ? rules : [findRule(rules, only)];
  const subject = await readSubject(layer, git, task);
  const input = await readDoctrineInput({ layer, git, runBy: "check", set, subject });
  const reports = await runRules(wanted, input);
  const findings = [...set.problems, ...reports.flatMap((report) => report.findings)];
  return { label: subject.standing.label, findings };
}

function renderValue(value: unknown, indent: string): string {
  if (
    typeof value !== "object" ||
    value === null ||
    (Array.isArray(value) && value.every((item) => typeof item !== "object"))
  ) {
    return ` ${Array.isArray(value) ? `[${value.join(", ")}]` : String(value)}`;
  }
  return Object.entries(value)
    .map(([key, member]) => `\n${indent}${key}:${renderValue(member, `${indent}  `)}`)
    .join("");
}

export const check: Command = defineCommand({
  name: "check",
  summary: "say whether the task is within its claim",
  about: `What counts as touched: every file the working tree changed, and the commits this worktree made since the task
began. What a merge, a pull or a fast-forward brought in is not yours.`,
  examples: [
    { command: "reeve check", shows: "one line when all is well, else a line for each thing that is not" },
    { command: "reeve check --explain", shows: "the policy and the profile that apply" },
    { command: "reeve check --rule scope-integrity", shows: "one rule alone" },
  ],
  args: {
    flags: {
      explain: { type: "boolean", summary: "print the policy and profile that apply to this task" },
      overlap: { type: "boolean", summary: "compare the scope with those of other worktrees" },
      rule: { type: "string", value: "id", summary: "evaluate one rule alone" },
      checkpoint: { type: "boolean", summary: "also record that work goes on (checkpoint_at)" },
    },
    exclusive: [
      ["explain", "overlap", "rule"],
      ["explain", "overlap", "checkpoint"],
    ],
  },
  class: "read-only",
  writesWith: ["checkpoint"],
  needs: "task",
  surfaces: ["cli", "mcp", "http"],
  output: "findings",
  prefetch: "history",
  reads: [".ai/local/state/current.yaml", ".ai/repo/policy.yaml", ".ai/local/state/open-questions.md"],
  writes: [".ai/local/state/current.yaml", ".ai/local/state/ledger.jsonl"],
  result: {},
  async run(args, context): Promise<Outcome<CheckResult>> {
    if (args.explain) return explain(context);
    if (args.overlap) return listOverlaps(context);
    const { label, findings } = await evaluate(context, args.rule);
    const result: CheckResult = { task: context.task, explained: undefined, label };
    if (!args.checkpoint) return { result, findings };
    return { result, findings, plan: planCheckpointStamp(context.layer, context.git.head(), context.task) };
  },
  text({ explained, task, label }: CheckResult, findings) {
    const verdict = renderVerdict("check", findings);
    if (explained === undefined) return label === undefined ? verdict : `${verdict} (${task.id} is ${label})`;
    return [
      `task: ${task.id} ${task.task}`,
      `scope: ${task.scope.join(", ")}`,
      `policy:${renderValue(explained.policy, "  ")}`,
      `profile:${renderValue(explained.profile, "  ")}`,
    ].join("\n");
  },
});
