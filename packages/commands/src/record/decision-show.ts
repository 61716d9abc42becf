import { ReeveError } from "@reeve/core/findings/errors.ts";
import { type Decision, readDecisions } from "@reeve/core/records/decisions.ts";
import { type Command, defineCommand } from "../command.ts";

export const decisionShow: Command = defineCommand({
  name: "decision show",
  summary: "show the first decision whose title contains a text",
  examples: [{ command: 'reeve decision show "callback"', shows: "the entry in full" }],
  args: { positionals: [{ name: "text", summary: "part of its title", required: true }] },
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/state/decisions.md"],
  writes: [],
  result: { decision: "the entry" },
  run(args, context) {
    const decision = readDecisions(context.layer).find((entry) => entry.title.includes(args.text));
    if (decision === undefined) {
      throw new ReeveError("NOT_FOUND", `no recorded decision has '${args.text}' in its title`, {
        hint: "reeve decision list",
      });
    }
    return { result: { decision } };
  },
  text({ decision }: { readonly decision: Decision }) {
    const rows = {
      Task: decision.task,
      Head: decision.head,
      Why: decision.why,
      Rejected: decision.rejected,
      Evidence: decision.evidence,
      Supersedes: decision.supersedes,
      "Superseded by": decision.supersededBy,
    };
    const lines = Object.entries(rows).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
    return [`${decision.date} — ${decision.title}`, ...lines].join("\n");
  },
});
