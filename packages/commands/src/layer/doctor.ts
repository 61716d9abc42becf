import { readEnvironment } from "@reeve/core/layer/environment.ts";
import { readDoctrineInput } from "@reeve/core/rules/input.ts";
import { readRules } from "@reeve/core/rules/resolve.ts";
import { findRule, runRules, selectRules } from "@reeve/core/rules/run.ts";
import { judgeForms } from "@reeve/core/state/doctor.ts";
import { type Command, defineCommand } from "../command.ts";
import { renderVerdict } from "../text.ts";

export const doctor: Command = defineCommand({
  name: "doctor",
  summary: "say whether the layer is real here: policy, hooks, records",
  about: "Reads and changes nothing. Meant for a pre-commit hook and for CI: exit 10 when anything fails.",
  examples: [
    { command: "reeve doctor", shows: "one line when the layer is sound" },
    { command: "reeve doctor --verbose", shows: "every check, and the environment" },
    { command: "reeve doctor --rule policy-integrity", shows: "one rule alone" },
  ],
  args: { flags: { rule: { type: "string", value: "id", summary: "evaluate one rule alone" } } },
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "findings",
  prefetch: "status",
  reads: [".ai/manifest.yaml", ".ai/repo/policy.yaml", ".ai/repo/state.jsonl", ".ai/repo/rules/", ".ai/local/state/"],
  writes: [],
  result: {},
  async run(args, context) {
    const { layer, git, system } = context;
    const set = await readRules(layer);
    const rules = selectRules(set, "doctor");
    const wanted = args.rule === undefined ? rules : [findRule(rules, args.rule)];
    const input = await readDoctrineInput({ layer, git, runBy: "doctor", set });
    const reports = await runRules(wanted, input);
    const findings = [...set.problems, ...reports.flatMap((report) => report.findings)];
    if (args.rule !== undefined) return { result: {}, findings };
    return { result: {}, findings: [...findings, ...(await judgeForms(layer)), ...readEnvironment(system)] };
  },
  text: (_result, findings) => renderVerdict("doctor", findings),
});
