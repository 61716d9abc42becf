import { type Overview, readOverview } from "@reeve/core/work/overview.ts";
import { type Command, defineCommand } from "../command.ts";
import { overviewMembers, renderScreen, toValue } from "./screen.ts";

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
