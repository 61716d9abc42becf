import { collectFindings } from "../../findings/finding.ts";
import { policyValue } from "../../policy/values.ts";
import { missingSections } from "../../records/note.ts";
import { type Doctrine, type DoctrineInput, defineDoctrine, requirePolicy } from "../doctrine.ts";

function requiredSections(input: DoctrineInput): readonly string[] {
  switch (input.finish?.outcome) {
    case "partial":
    case "blocked":
      return ["Next Action"];
    case "no_match":
    case "failed":
      return ["Reason"];
    case "completed":
    case undefined:
      return policyValue(requirePolicy(input), "handover.required_sections");
  }
}

export const noteIntegrity: Doctrine = defineDoctrine({
  id: "note-integrity",
  category: "note",
  validate(input) {
    const findings = collectFindings("note");
    const required = requiredSections(input);
    const wanted = required.map((name) => `# ${name}`).join(", ");
    const note = input.finish?.note;
    const reproduce = "reeve handover --resolve";
    if (note === undefined) {
      findings.fail({
        subject: "no note",
        message: `a note with ${wanted} is needed`,
        reproduce,
        next: "reeve finish … --note <file>",
      });
      return findings.lines;
    }
    const missing = missingSections(note.body, required);
    if (missing.length === 0) findings.ok(note.from, `has ${wanted}`);
    else {
      const message = `lacks ${missing.map((name) => `# ${name}`).join(", ")}, or leaves it empty`;
      findings.fail({ subject: note.from, message, reproduce, next: "reeve finish … --note <file>" });
    }
    return findings.lines;
  },
});
