import { type Overview, readOverview } from "@reeve/core/work/overview.ts";
import { type Command, defineCommand } from "../command.ts";
import { renderScreen, toValue } from "./screen.ts";

export const overviewMembers: Readonly<Record<string, string>> = {
  layer: "is there a layer",
  branch: "the branch; absent on a detached head",
  head: "the commit; absent before the first",
  clean: "nothing is changed",
  changed: "changed files",
  home: "this checkout's half: mode, exists, path",
  task: "the task record",
  elsewhere: "the record belongs to another worktree",
  standing: "the active task's label against git",
  moved: "the task followed its worktree",
  touched: "files the active task touched",
  findings: "what reeve check finds, without what passed",
  questions: "open, and blocking the active task",
  decisions: "how many are recorded",
  ledgerLines: "lines of the ledger",
  lastEvent: "ts and event of the last one",
  others: "active tasks of other worktrees",
  trouble: "what could not be read, and what to type",
  pending: "changes of an interrupted command",
};

interface StatusResult {
  readonly value: Readonly<Record<string, unknown>>;
  readonly overview: Overview;
  readonly now: Date;
}

export const status: Command = defineCommand({
  name: "status",
  summary: "show the state of work in this checkout",
  examples: [
    { command: "reeve status", shows: "task, scope, questions, records, other worktrees, what is next" },
    { command: "reeve status --json", shows: "the same for a program" },
  ],
  args: {},
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  prefetch: "history",
  reads: [".ai/local/state/", ".ai/repo/"],
  writes: [],
  result: overviewMembers,
  async run(_args, context) {
    const overview = await readOverview(context.layer, context.git);
    const result: StatusResult = { value: toValue(overview), overview, now: context.system.now() };
    return { result };
  },
  json: (result: StatusResult) => result.value,
  text: (result: StatusResult) => renderScreen(result.overview, result.now),
});
