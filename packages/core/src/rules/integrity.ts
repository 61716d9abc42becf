import { collectFindings, type Finding, type Findings } from "../findings/finding.ts";
import type { Rule } from "./rule.ts";

const reproduce = "reeve doctor";

function judgeIdentity(findings: Findings, rules: readonly Rule[]): void {
  const seen = new Map<string, string>();
  for (const rule of rules) {
    const key = `${rule.id}@${rule.version}`;
    const other = seen.get(key);
    if (other !== undefined) {
      const message = `is ${key}, which ${other} is already`;
      findings.fail({ subject: rule.path, message, reproduce, next: "give one of them another id" });
    }
    seen.set(key, rule.path);
    if (rule.id.startsWith("reeve.") && rule.path.includes("/rules/project/")) {
      const message = `is named ${rule.id}; that namespace belongs to the rules Reeve ships`;
      findings.fail({ subject: rule.path, message, reproduce, next: "give it an id of the repository's own" });
    }
  }
}

/** A rule with a validator says when it runs and what it means; one that leaves it out would silently never run. */
function judgeBlocks(findings: Findings, rules: readonly Rule[]): void {
  for (const rule of rules) {
    const block = rule["x-reeve"];
    if (block?.validator === undefined) continue;
    const missing = (["category", "enforced_by", "exit_code", "tests"] as const).filter((key) => {
      const value = block[key];
      return value === undefined || (Array.isArray(value) && value.length === 0);
    });
    if (missing.length === 0) continue;
    const message = `names a validator and lacks ${missing.join(", ")} in x-reeve`;
    findings.fail({
      subject: rule.path,
      message,
      reproduce,
      next: "complete the block, or take the file from Reeve again",
    });
  }
}

function judgeDependencies(findings: Findings, rules: readonly Rule[]): void {
  const known = new Map(rules.map((rule) => [`${rule.id}@${rule.version}`, rule]));
  const ordered = new Set<string>();
  const visit = (rule: Rule, path: readonly string[]): void => {
    const key = `${rule.id}@${rule.version}`;
    if (ordered.has(key)) return;
    if (path.includes(key)) {
      findings.fail({
        subject: rule.path,
        message: `depends on itself: ${[...path, key].join(" → ")}`,
        reproduce,
        next: "cut the circle",
      });
      return;
    }
    for (const wanted of rule.depends_on) {
      const other = known.get(wanted);
      if (other === undefined || other.status === "deprecated") {
        const message = `depends on ${wanted}, which is ${other === undefined ? "not there" : "deprecated"}`;
        findings.fail({ subject: rule.path, message, reproduce, next: "mend depends_on, or add the rule" });
      } else visit(other, [...path, key]);
    }
    ordered.add(key);
  };
  for (const rule of rules) if (rule.status === "active") visit(rule, []);
}

/** What is wrong with a set of rules as a whole (reference 1.5, fail-closed causes). */
export function judgeRuleSet(rules: readonly Rule[]): readonly Finding[] {
  const findings = collectFindings("rules");
  judgeIdentity(findings, rules);
  judgeBlocks(findings, rules);
  judgeDependencies(findings, rules);
  return findings.lines;
}
