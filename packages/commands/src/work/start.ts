import { ReeveError } from "@reeve/core/findings/errors.ts";
import type { Finding } from "@reeve/core/findings/finding.ts";
import { writeChange } from "@reeve/core/layer/layer.ts";
import { readPolicy, readProfile } from "@reeve/core/policy/reader.ts";
import { policyPath, policyValue } from "@reeve/core/policy/values.ts";
import { ledgerChange } from "@reeve/core/records/ledger.ts";
import { checkOneLine } from "@reeve/core/records/one-line.ts";
import { compactTimestamp, timestamp } from "@reeve/core/records/time.ts";
import { findOverlaps, readOtherTasks } from "@reeve/core/work/overlap.ts";
import { isClaimed, resolveScope } from "@reeve/core/work/scope.ts";
import {
  archivePath,
  isActive,
  isElsewhere,
  readTask,
  renderTask,
  type Task,
  taskChange,
} from "@reeve/core/work/task.ts";
import { type Arguments, type Command, defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { renderFindings } from "../text.ts";

const args = {
  positionals: [{ name: "task", summary: "what is to be done, in one line", required: true }],
  flags: {
    scope: {
      type: "list",
      value: "path",
      required: true,
      summary: "paths the task may change; commas or several flags",
    },
    profile: { type: "string", value: "name", summary: "how to work; the policy's profiles.default when left out" },
    owner: { type: "string", value: "name", summary: "whose task it is; $USER when left out" },
    requires: { type: "list", value: "token", summary: "obligations the task takes on" },
    issue: { type: "string", value: "id", summary: "the issue it serves" },
    intent: { type: "string", value: "id", summary: "the intent it serves" },
    exempt: { type: "string", value: "class", summary: "why it serves neither, as a class; needs --because" },
    because: { type: "string", value: "reason", summary: "the reason of an exemption" },
  },
} as const;

interface StartResult {
  readonly task: Task;
  readonly replaced: string | undefined;
}

function checkWords(given: Arguments<typeof args>): void {
  checkOneLine("<task>", given.task);
  if ((given.exempt === undefined) !== (given.because === undefined)) {
    throw new ReeveError("USAGE", "--exempt and --because go together", {
      hint: '--exempt <class> --because "<reason>"',
    });
  }
}

async function refuseSecond(context: Context): Promise<Task | undefined> {
  const before = await readTask(context.layer);
  if (!isActive(before) || isElsewhere(context.layer, before)) return before;
  throw new ReeveError("TASK_ACTIVE", `'${before.task}' (${before.id}) is active in this checkout`, {
    hint: "finish it (reeve finish --outcome …) or hand it over (reeve handover --derive --close)",
    details: { task_id: before.id },
  });
}

async function planTask(given: Arguments<typeof args>, context: Context): Promise<Task> {
  const { layer, git, system } = context;
  const policy = await readPolicy(layer);
  const profile = await readProfile(layer, given.profile ?? policyValue(policy, "profiles.default"));
  const scope = given.scope.map((path) => resolveScope(system, git.repository, path));
  const now = system.now();
  const status = git.status();
  return {
    id: `t-${compactTimestamp(now).replaceAll(/[TZ]/g, "")}-${system.randomHex(4)}`,
    task: given.task.trim(),
    profile: profile.name,
    owner: given.owner ?? system.env["USER"] ?? system.env["LOGNAME"] ?? "unknown",
    scope: [...new Set(scope)],
    started_at: timestamp(now),
    outcome: "active",
    ...(given.requires.length === 0 ? {} : { requires: given.requires }),
    ...(given.issue === undefined ? {} : { issue: given.issue }),
    ...(given.intent === undefined ? {} : { intent: given.intent }),
    ...(given.exempt === undefined || given.because === undefined
      ? {}
      : { exempt: { class: given.exempt, because: given.because } }),
    repository_id: git.repository.commonDir,
    worktree: git.repository.top,
    branch: git.head().branch ?? "DETACHED",
    head: git.head().head ?? "NONE",
    working_tree: status.clean ? "clean" : "dirty",
    policy_sha256: system.sha256(layer.read(policyPath) ?? ""),
  };
}

async function findAlreadyOutside(task: Task, context: Context): Promise<readonly Finding[]> {
  const policy = await readPolicy(context.layer);
  const outside = context.git.status().entries.filter((entry) => !isClaimed(entry.path, task.scope, policy));
  if (outside.length === 0) return [];
  const [first] = outside;
  return [
    {
      level: "WARN",
      category: "scope",
      subject: first?.path ?? "",
      message: `${outside.length} changed files lie outside the scope already, and count as this task's`,
      reproduce: "git status --porcelain -uall",
      next: "commit or stash them before you begin to work",
    },
  ];
}

export const start: Command = defineCommand({
  name: "start",
  summary: "begin a task with a scope",
  about: `A checkout has one active task. Its scope is where it may change files; the layer itself (.ai/) and files Reeve
keeps a line in are always open. Other worktrees whose task overlaps are named, not refused.`,
  examples: [
    {
      command: 'reeve start "fix the OAuth callback" --scope lib/auth',
      shows: "begins a task that may change lib/auth",
    },
    { command: 'reeve start "tidy" --scope src,test --profile routine --dry-run', shows: "what would be recorded" },
  ],
  args,
  class: "state-mutating",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/repo/policy.yaml", ".ai/repo/profiles/"],
  writes: [".ai/local/state/current.yaml", ".ai/local/state/ledger.jsonl", ".ai/local/state/archive/"],
  result: { task: "the task record", replaced: "id of the ended task whose record was archived" },
  async run(given, context) {
    checkWords(given);
    const { layer, git } = context;
    const before = await refuseSecond(context);
    const task = await planTask(given, context);
    const { id, profile, owner, scope, requires, issue, intent, exempt } = task;
    const payload = { task_id: id, task: task.task, profile, owner, scope, requires, issue, intent, exempt };
    const archive = before === undefined ? undefined : archivePath(before.id);
    const changes = [
      ...(before === undefined || archive === undefined ? [] : [writeChange(layer, archive, renderTask(before))]),
      taskChange(layer, task),
      ledgerChange(layer, git.head(), { event: "task.started", payload }),
    ];
    const findings = [
      ...(await findAlreadyOutside(task, context)),
      ...findOverlaps(task.scope, await readOtherTasks(layer, git)),
    ];
    const result: StartResult = { task, replaced: before?.id };
    return { result, plan: { changes }, findings };
  },
  text({ task }: StartResult, findings) {
    const head = `started ${task.id}  profile=${task.profile}  scope=${task.scope.join(",")}`;
    return [head, ...renderFindings(findings), "next: work, then: reeve check"].join("\n");
  },
});
