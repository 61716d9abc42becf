import { ReeveError } from "../findings/errors.ts";
import { statePath } from "../state/paths.ts";
import type { Policy } from "./policy.ts";

interface ValueTypes {
  readonly number: number;
  readonly text: string;
  readonly texts: readonly string[];
  readonly boolean: boolean;
}

/**
 * Every policy value some command reads. A reader has no default of its own: a policy that lacks one of these is
 * incomplete, and `doctor` names the key (doctrine `policy-completeness`).
 */
export const policyKeys = {
  "profiles.default": "text",
  "verification.finish_requires": "texts",
  "verification.required_for_changes": "boolean",
  "verification.time_limit": "text",
  "checkpoint.max_body_lines": "number",
  "checkpoint.retention_max_files": "number",
  "handover.required_sections": "texts",
  "handover.retention_max_files": "number",
  "handover.derive_on_finish": "boolean",
  "ledger.retention_max_lines": "number",
  "ledger.rotate": "text",
} as const;

export type PolicyKey = keyof typeof policyKeys;

export const policyPath: string = statePath(".ai/repo/policy.yaml");

/** The value under a dotted key, or `undefined` when the policy does not have it. */
export function findPolicyValue(policy: Policy, key: PolicyKey): unknown {
  let value: unknown = policy;
  for (const step of key.split(".")) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[step] : undefined;
  }
  return value;
}

export function policyValue<K extends PolicyKey>(policy: Policy, key: K): ValueTypes[(typeof policyKeys)[K]] {
  const value = findPolicyValue(policy, key);
  if (value === undefined) {
    throw new ReeveError("POLICY_INVALID", `${policyPath}: '${key}' is missing`, {
      hint: `add ${key} to the policy; reeve doctor --rule policy-completeness lists every missing key`,
      details: { path: policyPath, key },
    });
  }
  return value as ValueTypes[(typeof policyKeys)[K]];
}
