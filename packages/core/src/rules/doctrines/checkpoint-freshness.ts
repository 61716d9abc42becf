import { collectFindings } from "../../findings/finding.ts";
import { parseDuration } from "../../policy/policy.ts";
import { renderAge } from "../../records/time.ts";
import { type Doctrine, defineDoctrine, requireSubject } from "../doctrine.ts";

export const checkpointFreshness: Doctrine = defineDoctrine({
  id: "checkpoint-freshness",
  category: "checkpoint",
  validate(input) {
    const findings = collectFindings("checkpoint");
    const { task, profile } = requireSubject(input);
    const since = task.checkpoint_at ?? task.started_at;
    const age = input.layer.system.now().getTime() - Date.parse(since);
    const interval = profile.checkpoint_interval;
    const what = task.checkpoint_at === undefined ? "none yet; the task began" : "the last was";
    const message = `${what} ${renderAge(age)} ago, interval ${interval}`;
    if (age <= (parseDuration(interval) ?? 0) * 1000) findings.ok(task.id, message);
    else {
      findings.warn({
        subject: task.id,
        message,
        reproduce: "reeve checkpoint --list",
        next: "reeve checkpoint --derive",
      });
    }
    return findings.lines;
  },
});
