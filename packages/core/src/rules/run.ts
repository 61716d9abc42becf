import { ReeveError } from "../findings/errors.ts";
import { collectFindings, type Finding } from "../findings/finding.ts";
import type { DoctrineInput } from "./doctrine.ts";
import { doctrines } from "./doctrines/registry.ts";
import type { RuleSet } from "./resolve.ts";
import type { Rule } from "./rule.ts";

/** What one rule's validator found. */
export interface RuleReport {
  readonly rule: Rule;
  readonly findings: readonly Finding[];
}

function slug(id: string): string {
  return id.slice(id.indexOf(".") + 1);
}

/** The rules a command enforces, in the order their findings are printed. */
export function selectRules(set: RuleSet, runBy: DoctrineInput["runBy"]): readonly Rule[] {
  const position = (rule: Rule): number =>
    doctrines.findIndex((doctrine) => doctrine.id === rule["x-reeve"]?.validator);
  return set.rules
    .filter((rule) => rule["x-reeve"]?.validator !== undefined && rule["x-reeve"].enforced_by?.includes(runBy))
    .sort((a, b) => position(a) - position(b));
}

/** Finds a rule by its id, with or without its namespace. */
export function findRule(rules: readonly Rule[], name: string): Rule {
  const found = rules.find((rule) => rule.id === name || slug(rule.id) === name);
  if (found !== undefined) return found;
  throw new ReeveError("NOT_FOUND", `no rule '${name}' is enforced here`, {
    hint: `rules enforced here: ${rules.map((rule) => slug(rule.id)).join(", ")}`,
  });
}

function failure(rule: Rule, message: string, next: string): readonly Finding[] {
  const findings = collectFindings(rule["x-reeve"]?.category ?? "rules");
  findings.fail({
    subject: rule.id,
    message,
    reproduce: `reeve doctor --rule ${slug(rule.id)}`,
    next,
  });
  return findings.lines;
}

/** Runs one rule's validator. A validator that does not exist or fails has not passed. */
export async function runRule(rule: Rule, input: DoctrineInput): Promise<RuleReport> {
  const doctrine = doctrines.find((candidate) => candidate.id === rule["x-reeve"]?.validator);
  if (doctrine === undefined) {
    const message = `names validator '${rule["x-reeve"]?.validator}', which this Reeve does not have`;
    return { rule, findings: failure(rule, message, `look at ${rule.path}`) };
  }
  try {
    const findings = await doctrine.validate(input);
    const advisory = rule.class === "advisory";
    return {
      rule,
      findings: advisory
        ? findings.map((finding) => (finding.level === "FAIL" ? { ...finding, level: "WARN" } : finding))
        : findings,
    };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code === "NO_GIT") throw error;
    return { rule, findings: failure(rule, error.message, error.hint ?? `look at ${rule.path}`) };
  }
}

export async function runRules(rules: readonly Rule[], input: DoctrineInput): Promise<readonly RuleReport[]> {
  const reports: RuleReport[] = [];
  for (const rule of rules) reports.push(await runRule(rule, input));
  return reports;
}
