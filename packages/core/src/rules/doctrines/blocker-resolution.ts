import { collectFindings } from "../../findings/finding.ts";
import { shellQuote } from "../../findings/quote.ts";
import { blockingQuestions, openQuestions } from "../../records/questions.ts";
import { type Doctrine, defineDoctrine, requireSubject } from "../doctrine.ts";

export const blockerResolution: Doctrine = defineDoctrine({
  id: "blocker-resolution",
  category: "blockers",
  validate(input) {
    const findings = collectFindings("blockers");
    const { task } = requireSubject(input);
    const blocking = blockingQuestions(input.questions, task.id);
    for (const question of blocking) {
      findings.fail({
        subject: question.question,
        message: `open since ${question.opened}, asked by ${question.task === "none" ? "nobody's task" : "this task"}`,
        reproduce: "reeve question list",
        next: `reeve question resolve ${shellQuote(question.question)} --answer "<answer>"`,
      });
    }
    for (const problem of input.questions.problems) {
      findings.fail({
        subject: `open-questions.md:${problem.line}`,
        message: "cannot be read as a question, so it may be an open one",
        reproduce: "reeve question list --all",
        next: "mend the line: - [unresolved] <task id> — <question> (<YYYY-MM-DD>)",
      });
    }
    for (const question of openQuestions(input.questions)) {
      if (!blocking.includes(question))
        findings.info(question.question, `open for ${question.task}; it does not block this task`);
    }
    if (blocking.length === 0 && input.questions.problems.length === 0)
      findings.ok(task.id, "no open question blocks it");
    return findings.lines;
  },
});
