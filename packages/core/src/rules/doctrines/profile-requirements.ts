import { collectFindings } from "../../findings/finding.ts";
import { readDecisions } from "../../records/decisions.ts";
import { type Doctrine, defineDoctrine, requireSubject } from "../doctrine.ts";

const looksLikeTest = /(?:^|\/)(?:tests?|spec|__tests__)\/|[._-](?:test|spec)\.|_test\.|(?:^|\/)test_/i;

export const profileRequirements: Doctrine = defineDoctrine({
  id: "profile-requirements",
  category: "regression",
  validate(input) {
    const findings = collectFindings("regression");
    const { task, profile, touched } = requireSubject(input);
    if (profile.verification?.regression_test_required === true) {
      const test = touched.find((file) => looksLikeTest.test(file.path));
      if (test !== undefined) findings.ok(test.path, "looks like a test (judged by its name alone)");
      else {
        findings.fail({
          subject: task.id,
          message: `profile ${profile.name} wants a regression test, and no touched file looks like one (judged by its name alone)`,
          reproduce: "reeve check --explain",
          next: "add the test, e.g. under test/ or as <name>.test.<ext>",
        });
      }
    }
    if (profile.verification?.decision_record_required === true) {
      const decision = readDecisions(input.layer).find((entry) => entry.task === task.id);
      if (decision !== undefined) findings.ok(decision.title, "is recorded for this task");
      else {
        findings.fail({
          subject: task.id,
          message: `profile ${profile.name} wants a decision recorded for this task, and there is none`,
          reproduce: `reeve decision list --task ${task.id}`,
          next: 'reeve decision add "<what>" --why "<why>"',
        });
      }
    }
    return findings.lines;
  },
});
