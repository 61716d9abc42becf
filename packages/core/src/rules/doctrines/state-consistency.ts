import { collectFindings } from "../../findings/finding.ts";
import { type Doctrine, defineDoctrine, requireSubject } from "../doctrine.ts";

function short(head: string | undefined): string {
  return head === undefined ? "no commit" : head.slice(0, 7);
}

export const stateConsistency: Doctrine = defineDoctrine({
  id: "state-consistency",
  category: "state",
  validate(input) {
    const findings = collectFindings("state");
    const { task, standing } = requireSubject(input);
    const { recorded, current, label, moved } = standing;
    const from = `${recorded.branch ?? "DETACHED"} at ${short(recorded.head)}`;
    const to = `${current.branch ?? "DETACHED"} at ${short(current.head)}`;
    if (label === "exact") findings.ok(task.id, `exact (${to})`);
    else if (label === "advanced") {
      findings.ok(task.id, `advanced (from ${from} to ${to})`);
      if (moved) findings.info(task.id, `moved: this worktree went from ${from} to ${to}, and the task with it`);
    } else {
      const says = {
        diverged: `the commit it began at (${short(recorded.head)}) is no part of this history (${to})`,
        different_context: `it began on ${from}; this is ${to}`,
        unknown: `git does not have the commit it began at (${short(recorded.head)})`,
      }[label];
      findings.fail({
        subject: task.id,
        message: `${label}: ${says}`,
        reproduce: `git log --oneline -n 5`,
        next: "go back to where the task began, or hand it over: reeve handover --close",
      });
    }
    return findings.lines;
  },
});
