import type { Answer } from "@reeve/commands/execute.ts";
import { exitCodes } from "@reeve/core/findings/exit.ts";
import { exitOf } from "@reeve/core/findings/finding.ts";
import { describePlan } from "@reeve/store";

/** What a dry run found and would change, for a person or as JSON. `said` is what the command itself would print. */
export function renderPlan(answer: Answer, said: string, json: boolean): string {
  const { plan, planned, outcome } = answer;
  const { findings } = outcome;
  if (json) {
    const ok = exitOf(findings ?? []) === exitCodes.OK;
    return `${JSON.stringify({ ok, result: { plan: planned, ...(findings === undefined ? {} : { findings }) } })}\n`;
  }
  const changes = describePlan(plan ?? { changes: [] }).replace(/\n$/, "");
  const above = findings === undefined || findings.length === 0 ? "" : said;
  return `${above}${changes === "" ? "nothing would change" : `would change:\n${changes}`}\n`;
}
