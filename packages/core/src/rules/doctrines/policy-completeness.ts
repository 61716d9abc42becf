import { collectFindings } from "../../findings/finding.ts";
import { findPolicyValue, type PolicyKey, policyKeys, policyPath } from "../../policy/values.ts";
import { type Doctrine, defineDoctrine } from "../doctrine.ts";

export const policyCompleteness: Doctrine = defineDoctrine({
  id: "policy-completeness",
  category: "policy",
  validate(input) {
    const findings = collectFindings("policy");
    const { policy } = input;
    if (policy === undefined) return findings.lines;
    const keys = Object.keys(policyKeys) as PolicyKey[];
    const missing = keys.filter((key) => findPolicyValue(policy, key) === undefined);
    for (const key of missing) {
      findings.fail({
        subject: policyPath,
        message: `'${key}' is missing; no command has a default of its own`,
        reproduce: "reeve doctor --rule policy-completeness",
        next: `add ${key} to ${policyPath}`,
      });
    }
    if (missing.length === 0) findings.ok(policyPath, `${keys.length} values read, all declared`);
    return findings.lines;
  },
});
