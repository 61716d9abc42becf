import { collectFindings, type Findings } from "../../findings/finding.ts";
import { shellQuote } from "../../findings/quote.ts";
import { policyValue } from "../../policy/values.ts";
import { renderAge } from "../../records/time.ts";
import {
  type Doctrine,
  type DoctrineInput,
  defineDoctrine,
  requirePolicy,
  requireSubject,
  type Verification,
} from "../doctrine.ts";

const typed = 'reeve finish --outcome completed --verify-command "<command>"';

function judgeRun(findings: Findings, verification: Verification): void {
  const { command, result, treeBefore, treeAfter } = verification;
  const took = renderAge(result.milliseconds);
  const reproduce = `sh -c ${shellQuote(command)}`;
  if (verification.supposed === true) findings.ok(command, "not run in a dry run; supposed to exit 0");
  else if (result.ended !== "exited") {
    const message = `${result.ended === "timed-out" ? "reached its time limit" : "was interrupted"} after ${took} (exit ${result.exit})`;
    findings.fail({
      subject: command,
      message,
      reproduce,
      next: "run it again; verification.time_limit in the policy bounds it",
    });
  } else if (result.exit !== 0) {
    const said = result.exit === 127 ? " (the shell found no such command)" : "";
    findings.fail({
      subject: command,
      message: `exit ${result.exit} after ${took}${said}`,
      reproduce,
      next: "mend what fails, then finish again",
    });
  } else if (treeBefore !== treeAfter) {
    findings.fail({
      subject: command,
      message: `exit 0, but the working tree changed while it ran (${treeBefore.slice(0, 7)} to ${treeAfter.slice(0, 7)}), so it describes neither state`,
      reproduce: "git status --porcelain -uall",
      next: "let the tree settle, ignore what the command generates, and finish again",
    });
  } else findings.ok(command, `exit 0 after ${took}, self-chosen, tree ${treeAfter.slice(0, 7)}`);
}

function isRequired(input: DoctrineInput): boolean {
  const { profile, touched } = requireSubject(input);
  const required = profile.verification?.verify_command_required ?? true;
  const changed = touched.length > 0;
  if (changed && policyValue(requirePolicy(input), "verification.required_for_changes")) return true;
  return required === "if_files_changed" ? changed : required;
}

export const verificationIntegrity: Doctrine = defineDoctrine({
  id: "verification-integrity",
  category: "verification",
  validate(input) {
    const findings = collectFindings("verification");
    const verification = input.finish?.verification;
    if (verification !== undefined) judgeRun(findings, verification);
    else if (isRequired(input)) {
      findings.fail({
        subject: "no command",
        message: "nothing was run to verify the work",
        reproduce: "reeve check --explain",
        next: typed,
      });
    } else findings.ok("no command", `profile ${requireSubject(input).profile.name} does not ask for one here`);
    return findings.lines;
  },
});
