import { readPolicy } from "@reeve/core/policy/reader.ts";
import { policyValue } from "@reeve/core/policy/values.ts";
import { followHistory, planFilter, readAllHistory, readHistory } from "@reeve/core/records/history.ts";
import { type LedgerEvent, type LedgerLine, ledgerPath } from "@reeve/core/records/ledger.ts";
import { planLedgerRotation } from "@reeve/core/records/rotation.ts";
import { ledgerIntegrity } from "@reeve/core/rules/doctrines/ledger-integrity.ts";
import { readDoctrineInput } from "@reeve/core/rules/input.ts";
import { readRules } from "@reeve/core/rules/resolve.ts";
import { type Arguments, type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { renderVerdict } from "../text.ts";

const args = {
  flags: {
    task: { type: "string", value: "id", summary: "only one task's lines" },
    event: { type: "string", value: "name", summary: "only one event, e.g. task.finished" },
    since: { type: "string", value: "time", summary: "30m, 12h, 7d ago, or an ISO time" },
    limit: { type: "number", summary: "at most this many, the newest (20)" },
    all: { type: "boolean", summary: "no limit, and rotated lines too" },
    "all-checkouts": { type: "boolean", summary: "every worktree's lines, also of removed ones" },
    follow: { type: "boolean", short: "f", summary: "go on printing what is appended" },
    validate: { type: "boolean", summary: "name every line that is no event; exit 10 if there is one" },
    rotate: { type: "boolean", summary: "move lines over the policy's cap into an archive" },
  },
  exclusive: [
    ["validate", "rotate", "follow"],
    ["validate", "rotate", "all-checkouts"],
    ["all", "limit"],
  ],
} as const;

interface HistoryResult {
  readonly lines: readonly string[];
  readonly shown: readonly LedgerEvent[];
  readonly mode: "lines" | "validate" | "rotate";
  readonly rotated?: { readonly archived: number; readonly kept: number; readonly archive: string } | undefined;
}

const envelope = new Set(["ts", "event", "head", "branch", "by", "session", "task_id"]);

function renderMember(value: unknown): string {
  return typeof value === "string" ? value : Array.isArray(value) ? value.join(",") : JSON.stringify(value);
}

function renderLine(event: LedgerEvent): string {
  const members = Object.entries(event)
    .filter(([name]) => !envelope.has(name))
    .map(([name, value]) => `${name}=${renderMember(value)}`);
  const task = typeof event["task_id"] === "string" ? event["task_id"] : "-";
  return [event.ts, event.event.padEnd(18), task, (event.head ?? "").slice(0, 7), members.join(" ")]
    .join("  ")
    .trimEnd();
}

async function validate(context: Context): Promise<Outcome<HistoryResult>> {
  const { layer, git } = context;
  const input = await readDoctrineInput({ layer, git, runBy: "doctor", set: await readRules(layer) });
  const findings = await ledgerIntegrity.validate(input);
  return { result: { lines: [], shown: [], mode: "validate" }, findings, as: "findings" };
}

async function rotate(context: Context): Promise<Outcome<HistoryResult>> {
  const { layer, git } = context;
  const cap = policyValue(await readPolicy(layer), "ledger.retention_max_lines");
  const rotation = planLedgerRotation({ layer, head: git.head(), cap, keep: cap });
  const { archived, kept, archive } = rotation ?? { archived: 0, kept: 0, archive: ledgerPath };
  const rotated = rotation === undefined ? undefined : { archived, kept, archive };
  const result: HistoryResult = { lines: [], shown: [], mode: "rotate", rotated };
  return { result, as: "value", ...(rotation === undefined ? {} : { plan: rotation.plan }) };
}

async function* followLines(
  context: Context,
  passes: (event: LedgerEvent) => boolean,
  json: boolean,
): AsyncGenerator<string> {
  const stop = new AbortController();
  for await (const { text, value } of followHistory(context.layer, stop.signal)) {
    if (passes(value)) yield json ? text : renderLine(value);
  }
}

function choose(
  given: Arguments<typeof args>,
  context: Context,
  passes: (event: LedgerEvent) => boolean,
): readonly LedgerLine[] {
  const all = given["all-checkouts"]
    ? readAllHistory(context.layer, context.git)
    : readHistory(context.layer, given.all);
  const lines = all.filter(({ value }) => passes(value));
  return given.all ? lines : lines.slice(Math.max(0, lines.length - (given.limit ?? 20)));
}

export const history: Command = defineCommand({
  name: "history",
  summary: "read the ledger back, oldest line first",
  about: "What happened, when, for which task and at which commit; never what anybody said.",
  examples: [
    { command: "reeve history --limit 5", shows: "the five newest lines" },
    {
      command: "reeve history --event task.finished --since 7d --json",
      shows: "the ledger's own lines, as they stand in the file",
    },
    { command: "reeve history --validate", shows: "which lines are damaged, if any" },
  ],
  args,
  class: "read-only",
  writesWith: ["rotate"],
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "lines",
  reads: [".ai/local/state/ledger.jsonl"],
  writes: [".ai/local/state/ledger.jsonl"],
  result: { lines: "ledger lines as they stand in the file" },
  run(given, context): Outcome<HistoryResult> | Promise<Outcome<HistoryResult>> {
    if (given.validate) return validate(context);
    if (given.rotate) return rotate(context);
    const passes = planFilter(given, context.system.now());
    const chosen = choose(given, context, passes);
    const result: HistoryResult = {
      lines: chosen.map((line) => line.text),
      shown: chosen.map((line) => line.value),
      mode: "lines",
    };
    return given.follow ? { result, stream: (json) => followLines(context, passes, json) } : { result };
  },
  text(result: HistoryResult, findings) {
    if (result.mode === "validate") return renderVerdict("history", findings);
    if (result.mode === "lines") return result.shown.map(renderLine).join("\n");
    if (result.rotated === undefined) return "the ledger is within its cap; nothing was moved";
    return `moved ${result.rotated.archived} lines to ${result.rotated.archive}`;
  },
});
