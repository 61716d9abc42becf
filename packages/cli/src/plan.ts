import { describePlan, type Plan, type PlanEntry } from "@reeve/store";

export interface Planned {
  readonly plan: Plan | undefined;
  readonly planned: readonly PlanEntry[] | undefined;
}

/** The plan of a dry run, for a person or as JSON. */
export function renderPlan({ plan, planned }: Planned, json: boolean): string {
  if (json) return `${JSON.stringify({ ok: true, result: { plan: planned } })}\n`;
  const said = describePlan(plan ?? { changes: [] });
  return said === "" ? "nothing would change\n" : `${said.replace(/\n$/, "")}\n`;
}
