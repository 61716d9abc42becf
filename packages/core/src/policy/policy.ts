/** `.ai/repo/policy.yaml`: the contract of the repository (reference 1.2). Only `version` is required. */
export interface Policy {
  readonly version: 1;
  readonly context?: {
    readonly always_loaded_budget_lines?: number;
    readonly builder_budget_lines?: number;
    readonly recent_decisions?: number;
    readonly max_list_items?: number;
    readonly strategy?: string;
    readonly transcript_is_state?: boolean;
  };
  readonly profiles?: { readonly default?: string; readonly checkpoint_interval_default?: string };
  readonly verification?: {
    readonly required_for_changes?: boolean;
    readonly finish_requires?: readonly string[];
    readonly time_limit?: string;
  };
  readonly checkpoint?: { readonly max_body_lines?: number; readonly retention_max_files?: number };
  readonly handover?: {
    readonly required_sections?: readonly string[];
    readonly retention_max_files?: number;
    readonly derive_on_finish?: boolean;
  };
  readonly ledger?: { readonly retention_max_lines?: number; readonly rotate?: "auto" | "off" };
  readonly enforcement?: readonly Enforcement[];
  readonly projections?: readonly Projection[];
  readonly [block: string]: unknown;
}

export interface Enforcement {
  readonly name: string;
  /** The program, e.g. `reeve`. */
  readonly path: string;
  readonly args?: readonly string[];
  /** `git-hook:<name>`, `ci:<path>`, `git-config:<key>`, `provider-hook:<provider>[:session]` or `manual`. */
  readonly wired_by: string;
  /** An unwired clone fails `doctor` outside CI. */
  readonly required?: boolean;
}

export interface Projection {
  readonly provider: string;
  readonly target: string;
  readonly mode?: "file" | "region";
  readonly always_loaded?: boolean;
}

/** `.ai/repo/profiles/<name>.yaml` (reference 1.4). */
export interface Profile {
  readonly name: string;
  readonly description: string;
  readonly capability: "fast" | "standard" | "strong" | "strongest";
  readonly effort: "low" | "medium" | "high" | "xhigh" | "max";
  readonly verbosity: "terse" | "concise" | "detailed";
  readonly presentation: "machine" | "engineering" | "summary";
  readonly checkpoint_interval: string;
  readonly reasoning?: "offline" | "ci" | "fast" | "standard" | "strict";
  readonly effort_escalation?: { readonly after_blocked_attempts: number; readonly to: Profile["effort"] };
  readonly context?: Readonly<Record<string, boolean | number>>;
  readonly verification?: {
    readonly verify_command_required?: boolean | "if_files_changed";
    readonly regression_test_required?: boolean;
    readonly decision_record_required?: boolean;
  };
  readonly output_contract?: readonly string[];
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of a duration such as `90s`, `15m`, `2h` or `7d`; `undefined` when it is none. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+)([smhd])$/.exec(text);
  const unit = units[match?.[2] ?? ""];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
