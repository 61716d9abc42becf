import type { Finding } from "@reeve/core/findings/finding.ts";
import { plural } from "@reeve/core/findings/plural.ts";

/** Findings as lines beside a value; their reproduce command and advice go below. */
export function renderFindings(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap((finding) => [
    `${finding.level} ${finding.category} ${finding.subject} — ${finding.message}${finding.reproduce === undefined ? "" : `  [reproduce: ${finding.reproduce}]`}`,
    ...(finding.next === undefined || finding.next === "" ? [] : [`  next: ${finding.next}`]),
  ]);
}

/** The last line of a check: how much was looked at, and how much of it fails. */
export function renderVerdict(name: string, findings: readonly Finding[]): string {
  const count = (level: Finding["level"]): number => findings.filter((finding) => finding.level === level).length;
  const failing = count("FAIL") + count("DRIFT");
  const warned = count("WARN");
  const notes = warned === 0 ? "" : `, ${plural(warned, "warning")}`;
  if (failing > 0) return `${name}: ${plural(failing, "failure")}${notes} of ${plural(findings.length, "finding")}`;
  return `${name}: passed, ${plural(count("OK"), "check")}${notes}`;
}
