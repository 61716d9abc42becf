import { type Decision, readDecisions } from "@reeve/core/records/decisions.ts";
import { type Command, defineCommand } from "../command.ts";

export const decisionList: Command = defineCommand({
  name: "decision list",
  summary: "list decisions, newest first",
  examples: [
    { command: "reeve decision list --limit 5", shows: "the five newest" },
    { command: "reeve decision list --task t-20260903193012-a4f1", shows: "those of one task" },
  ],
  args: {
    flags: {
      task: { type: "string", value: "id", summary: "only those of one task" },
      limit: { type: "number", summary: "at most this many" },
    },
  },
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/state/decisions.md"],
  writes: [],
  result: {
    decisions: "the entries: date, title, task, head, why, rejected, evidence, supersedes, supersededBy, line",
  },
  run(args, context) {
    const all = [...readDecisions(context.layer)].reverse();
    const chosen = all.filter((decision) => args.task === undefined || decision.task === args.task);
    return { result: { decisions: chosen.slice(0, args.limit ?? chosen.length) } };
  },
  text({ decisions }: { readonly decisions: readonly Decision[] }) {
    if (decisions.length === 0) return "no decisions recorded";
    return decisions
      .map((decision) => {
        const replaced = decision.supersededBy === undefined ? "" : `\n  Superseded by: ${decision.supersededBy}`;
        return `${decision.date}  ${decision.title}${replaced}`;
      })
      .join("\n");
  },
});
