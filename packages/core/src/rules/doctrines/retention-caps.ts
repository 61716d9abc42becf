import { collectFindings } from "../../findings/finding.ts";
import { plural } from "../../findings/plural.ts";
import { policyValue } from "../../policy/values.ts";
import { ledgerPath } from "../../records/ledger.ts";
import { noteFolders } from "../../records/note.ts";
import { type Doctrine, defineDoctrine } from "../doctrine.ts";

export const retentionCaps: Doctrine = defineDoctrine({
  id: "retention-caps",
  category: "retention",
  validate(input) {
    const findings = collectFindings("retention");
    const { policy } = input;
    if (policy === undefined) return findings.lines;
    const cap = policyValue(policy, "ledger.retention_max_lines");
    const { count } = input.ledger;
    if (count <= cap) findings.ok(ledgerPath, `${plural(count, "line")}, cap ${cap}`);
    else if (policyValue(policy, "ledger.rotate") === "auto") {
      findings.info(ledgerPath, `${count} lines, cap ${cap}; the next writing command rotates it`);
    } else {
      const message = `${count} lines, cap ${cap}, and the policy's ledger.rotate is off`;
      findings.fail({
        subject: ledgerPath,
        message,
        reproduce: 'wc -l "$(git rev-parse --show-toplevel)/.ai/local/state/ledger.jsonl"',
        next: "reeve history --rotate",
      });
    }
    for (const kind of ["handover", "checkpoint"] as const) {
      const most = policyValue(policy, `${kind}.retention_max_files`);
      const files = input.layer.list(noteFolders[kind]).filter((name) => name.endsWith(".md")).length;
      if (files <= most) findings.ok(noteFolders[kind], `${plural(files, "file")}, cap ${most}`);
      else {
        findings.fail({
          subject: noteFolders[kind],
          message: `${plural(files, "file")}, cap ${most}`,
          reproduce: `reeve ${kind} --list`,
          next: `raise ${kind}.retention_max_files, or move the oldest files elsewhere`,
        });
      }
    }
    return findings.lines;
  },
});
