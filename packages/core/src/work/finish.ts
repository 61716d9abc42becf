import { collectFindings, type Finding } from "../findings/finding.ts";
import { policyValue } from "../policy/values.ts";
import { type DoctrineInput, requirePolicy } from "../rules/doctrine.ts";
import type { RuleSet } from "../rules/resolve.ts";
import type { Rule } from "../rules/rule.ts";
import { runRule, selectRules } from "../rules/run.ts";

export type LineState = "pass" | "fail" | "skipped";

/** The evaluated contract: one state per rule, every line printed whatever it says. */
export interface Contract {
  readonly states: Readonly<Record<string, LineState>>;
  readonly findings: readonly Finding[];
  /** Ids of the rules that are not met, and finish keys no rule defines. */
  readonly unmet: readonly string[];
}

function isSkipped(rule: Rule, outcome: string): boolean {
  if (outcome === "completed") return false;
  const validator = rule["x-reeve"]?.validator;
  if (validator === "verification-integrity" || validator === "profile-requirements") return true;
  return outcome === "blocked" && validator === "blocker-resolution";
}

/** The finish keys of the policy no rule of the layer defines: reported, and they refuse. */
function judgeUndefined(keys: readonly string[], set: RuleSet): readonly Finding[] {
  const findings = collectFindings("contract");
  const defined = set.rules.flatMap((rule) => rule["x-reeve"]?.policy_key ?? []);
  for (const key of keys.filter((name) => !defined.includes(name))) {
    findings.fail({
      subject: key,
      message: "the policy's finish_requires names it, and no rule of this layer defines it",
      reproduce: "reeve check --explain",
      next: `known keys: ${defined.join(", ")}`,
    });
  }
  return findings.lines;
}

/** The rules `finish` evaluates: those the policy's `finish_requires` selects, and those that have no key. */
function selectContract(set: RuleSet, keys: readonly string[]): readonly Rule[] {
  const position = (rule: Rule): number => {
    const at = keys.indexOf(rule["x-reeve"]?.policy_key ?? "");
    return at < 0 ? keys.length : at;
  };
  return selectRules(set, "finish")
    .filter((rule) => rule["x-reeve"]?.policy_key === undefined || keys.includes(rule["x-reeve"].policy_key))
    .sort((a, b) => position(a) - position(b));
}

export interface ContractRequest {
  readonly set: RuleSet;
  readonly input: DoctrineInput;
  readonly outcome: string;
  /** Only these policy keys, for `finish --check`. */
  readonly only?: readonly string[];
}

export async function evaluateContract({ set, input, outcome, only }: ContractRequest): Promise<Contract> {
  const keys = policyValue(requirePolicy(input), "verification.finish_requires");
  const wanted = only === undefined ? keys : keys.filter((key) => only.includes(key));
  const undefinedKeys = judgeUndefined(wanted, set);
  const findings: Finding[] = [...set.problems, ...undefinedKeys];
  const states: Record<string, LineState> = {};
  const unmet = [...set.problems.map(() => "rules"), ...undefinedKeys.map((finding) => finding.subject)];
  for (const rule of selectContract(set, wanted)) {
    if (only !== undefined && rule["x-reeve"]?.policy_key === undefined) continue;
    if (isSkipped(rule, outcome)) {
      states[rule.id] = "skipped";
      continue;
    }
    const report = await runRule(rule, input);
    const failed = report.findings.some((finding) => finding.level === "FAIL");
    states[rule.id] = failed ? "fail" : "pass";
    if (failed) unmet.push(rule.id);
    findings.push(...report.findings);
  }
  return { states, findings, unmet };
}
