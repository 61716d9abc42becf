import { ReeveError } from "@reeve/core/findings/errors.ts";
import { decisionChange, findDecision, readDecisions } from "@reeve/core/records/decisions.ts";
import { ledgerChange } from "@reeve/core/records/ledger.ts";
import { checkOneLine } from "@reeve/core/records/one-line.ts";
import { day } from "@reeve/core/records/time.ts";
import { findTask } from "@reeve/core/work/subject.ts";
import { type Command, defineCommand } from "../command.ts";

interface DecisionResult {
  readonly title: string;
  readonly task: string | undefined;
  readonly supersedes: string | undefined;
}

export const decisionAdd: Command = defineCommand({
  name: "decision add",
  summary: "record a decision and its reason",
  about: "An entry is never edited or deleted. A later one replaces it by naming it with --supersedes.",
  examples: [
    {
      command: 'reeve decision add "Normalise the callback URI" --why "it differs by a slash alone"',
      shows: "records it with the task and the commit",
    },
    {
      command: 'reeve decision add "Compare exactly" --why "forged states" --supersedes "Normalise the callback URI"',
      shows: "replaces an earlier one",
    },
  ],
  args: {
    positionals: [{ name: "what", summary: "what was decided, in one line", required: true }],
    flags: {
      why: {
        type: "string",
        value: "reason",
        required: true,
        summary: "why; without it a decision can only be argued again",
      },
      rejected: { type: "string", value: "what", summary: "what was considered and left" },
      evidence: { type: "string", value: "where", summary: "what shows it, e.g. file:line" },
      supersedes: { type: "string", value: "title", summary: "the earlier decision it replaces" },
    },
  },
  class: "state-mutating",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/state/decisions.md", ".ai/local/state/current.yaml"],
  writes: [".ai/local/state/decisions.md", ".ai/local/state/ledger.jsonl"],
  result: { title: "what was decided", task: "id of the active task", supersedes: "title of the decision it replaces" },
  async run(args, context) {
    const { layer, git, system } = context;
    const title = checkOneLine("<what>", args.what);
    if (args.why.trim() === "") throw new ReeveError("USAGE", "--why is empty: a decision needs its reason");
    const known = readDecisions(layer);
    if (known.some((decision) => decision.title === title)) {
      throw new ReeveError("REFUSED", `'${title}' is recorded already`, {
        hint: "give it a title of its own; --supersedes names the one it replaces",
      });
    }
    const earlier = args.supersedes === undefined ? undefined : findDecision(known, args.supersedes).title;
    const head = git.head();
    const task = (await findTask(layer))?.id;
    const decision = {
      date: day(system.now()),
      title,
      task,
      head: head.head ?? "NONE",
      why: args.why,
      rejected: args.rejected,
      evidence: args.evidence,
      supersedes: earlier,
    };
    const payload = { task_id: task, decision: title, supersedes: earlier };
    const changes = [
      decisionChange(layer, decision),
      ledgerChange(layer, head, { event: "decision.recorded", payload }),
    ];
    const result: DecisionResult = { title, task, supersedes: earlier };
    return { result, plan: { changes } };
  },
  text: ({ title, supersedes }: DecisionResult) =>
    `recorded: ${title}${supersedes === undefined ? "" : ` (replaces: ${supersedes})`}`,
});
