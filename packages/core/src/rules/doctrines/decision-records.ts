import { collectFindings } from "../../findings/finding.ts";
import { plural } from "../../findings/plural.ts";
import { shellQuote } from "../../findings/quote.ts";
import { type Decision, decisionsPath, readDecisions } from "../../records/decisions.ts";
import { type Doctrine, defineDoctrine } from "../doctrine.ts";

function missingFields(decision: Decision): readonly string[] {
  const named = { Task: decision.task ?? "none", Head: decision.head, Why: decision.why };
  return Object.entries(named).flatMap(([name, value]) => (value === undefined ? [name] : []));
}

export const decisionRecords: Doctrine = defineDoctrine({
  id: "decision-records",
  category: "records",
  validate(input) {
    const findings = collectFindings("records");
    const decisions = readDecisions(input.layer);
    const lacking = decisions.filter((decision) => missingFields(decision).length > 0);
    for (const decision of lacking) {
      findings.warn({
        subject: `${decisionsPath}:${decision.line}`,
        message: `'${decision.title}' lacks ${missingFields(decision).join(", ")}`,
        reproduce: `reeve decision show ${shellQuote(decision.title)}`,
        next: "record it again with reeve decision add, naming it with --supersedes",
      });
    }
    if (lacking.length === 0)
      findings.ok(decisionsPath, `${plural(decisions.length, "decision")}, all with task, head and reason`);
    return findings.lines;
  },
});
