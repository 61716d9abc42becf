import { collectFindings } from "../../findings/finding.ts";
import { plural } from "../../findings/plural.ts";
import { questionsPath } from "../../records/questions.ts";
import { type Doctrine, defineDoctrine } from "../doctrine.ts";

export const questionsStoreIntegrity: Doctrine = defineDoctrine({
  id: "questions-store-integrity",
  category: "records",
  validate(input) {
    const findings = collectFindings("records");
    for (const problem of input.questions.problems) {
      findings.fail({
        subject: `${questionsPath}:${problem.line}`,
        message: `is no question: ${problem.text.slice(0, 80)}`,
        reproduce: "reeve question list --all",
        next: "write it as: - [unresolved] <task id> — <question> (<YYYY-MM-DD>)",
      });
    }
    if (input.questions.problems.length === 0)
      findings.ok(questionsPath, `${plural(input.questions.entries.length, "entry")}, all parsed`);
    return findings.lines;
  },
});
