import { collectFindings } from "../../findings/finding.ts";
import { plural } from "../../findings/plural.ts";
import { ledgerPath } from "../../records/ledger.ts";
import { type Doctrine, defineDoctrine } from "../doctrine.ts";

export const ledgerIntegrity: Doctrine = defineDoctrine({
  id: "ledger-integrity",
  category: "records",
  validate(input) {
    const findings = collectFindings("records");
    const { problems } = input.ledger;
    for (const problem of problems) {
      findings.fail({
        subject: `${ledgerPath}:${problem.line}`,
        message: `${problem.reason}; the line is skipped, every other line counts`,
        reproduce: "reeve history --validate",
        next: `reeve store repair ${ledgerPath}`,
      });
    }
    if (problems.length === 0) findings.ok(ledgerPath, `${plural(input.ledger.lines.length, "line")}, all well-formed`);
    return findings.lines;
  },
});
