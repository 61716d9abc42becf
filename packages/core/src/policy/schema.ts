import * as v from "valibot";
import type { Policy, Profile } from "./policy.ts";

const optional = v.exactOptional;
const duration = v.pipe(v.string(), v.regex(/^[0-9]+[smh]$/, "a duration such as 90s, 15m or 2h"));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const texts = v.array(v.string());
const coverage = v.picklist(["required", "advisory", "off"]);
const severity = v.picklist(["off", "info", "warning", "error"]);

const context = v.strictObject({
  always_loaded_budget_lines: optional(positive),
  builder_budget_lines: optional(positive),
  recent_decisions: optional(count),
  max_list_items: optional(positive),
  strategy: optional(v.picklist(["minimum-sufficient"])),
  transcript_is_state: optional(v.boolean()),
});

const session = v.strictObject({
  briefing_on_start: optional(v.boolean()),
  checkpoint_on_compact: optional(v.boolean()),
  handover_on_end: optional(v.boolean()),
  handover_on_fill: optional(v.boolean()),
  knowledge_on_end: optional(v.boolean()),
  knowledge_on_compact: optional(v.boolean()),
  ensure_server_on_start: optional(v.boolean()),
  commit_record_on_end: optional(v.boolean()),
  push_record_on_end: optional(v.boolean()),
  briefing_budget_lines: optional(positive),
  stranded_after: optional(duration),
  freshness: optional(v.strictObject({ fresh_minutes: positive, stale_minutes: positive })),
  record_sections: optional(texts),
});

const benchmark = v.strictObject({
  samples: optional(positive),
  warmup: optional(count),
  regression: optional(v.strictObject({ p50: v.number(), p95: v.number(), p99: v.number() })),
  budget: optional(
    v.strictObject({
      doctor_ms: optional(positive),
      watch_ms: optional(positive),
      enter_ms: optional(positive),
      enter_cold_ms: optional(positive),
    }),
  ),
});

const enforcement = v.strictObject({
  name: v.string(),
  path: v.string(),
  args: optional(texts),
  wired_by: v.pipe(
    v.string(),
    v.regex(/^(git-hook:|ci:|git-config:|provider-hook:).+$|^manual$/, "git-hook:<name>, ci:<path> or manual"),
  ),
  required: optional(v.boolean()),
});

const projection = v.strictObject({
  provider: v.string(),
  target: v.string(),
  mode: optional(v.picklist(["file", "region"])),
  always_loaded: optional(v.boolean()),
});

const intent = v.strictObject({
  binding: optional(v.picklist(["off", "advisory", "required"])),
  exemptions: optional(
    v.array(v.strictObject({ id: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]*$/)), description: v.string() })),
  ),
  opposition: optional(v.picklist(["off", "required"])),
});

const commit = v.strictObject({
  subject_max_chars: optional(v.pipe(v.number(), v.integer(), v.minValue(20))),
  scope_unknown: optional(severity),
  fix_requires_test: optional(severity),
  reference_unresolved: optional(severity),
  breaking_unexplained: optional(severity),
});

const server = v.strictObject({
  probe_timeout_seconds: optional(positive),
  bind_grace_seconds: optional(positive),
  join_timeout_seconds: optional(positive),
  busy_grace_seconds: optional(positive),
});

export const policySchema: v.GenericSchema<unknown, Policy> = v.strictObject({
  version: v.literal(1),
  context: optional(context),
  profiles: optional(
    v.strictObject({ default: optional(v.string()), checkpoint_interval_default: optional(duration) }),
  ),
  verification: optional(
    v.strictObject({
      required_for_changes: optional(v.boolean()),
      finish_requires: optional(texts),
      time_limit: optional(duration),
    }),
  ),
  checkpoint: optional(v.strictObject({ max_body_lines: optional(positive), retention_max_files: optional(positive) })),
  handover: optional(
    v.strictObject({
      required_sections: optional(texts),
      retention_max_files: optional(positive),
      derive_on_finish: optional(v.boolean()),
    }),
  ),
  ledger: optional(
    v.strictObject({ retention_max_lines: optional(positive), rotate: optional(v.picklist(["auto", "off"])) }),
  ),
  session: optional(session),
  prompts: optional(
    v.strictObject({ retention_max_days: optional(positive), retention_max_bytes: optional(positive) }),
  ),
  knowledge: optional(
    v.strictObject({ candidates_max_files: optional(positive), candidate_max_age_minutes: optional(positive) }),
  ),
  enforcement: optional(v.array(enforcement)),
  projections: optional(v.array(projection)),
  benchmark: optional(benchmark),
  use_cases: optional(
    v.strictObject({
      coverage: v.strictObject({
        commands: optional(coverage),
        claims: optional(coverage),
        mcp_tools: optional(coverage),
      }),
    }),
  ),
  intent: optional(intent),
  commit: optional(commit),
  server: optional(server),
  release: optional(v.strictObject({ cadence: optional(v.string()) })),
});

const flag = v.union([v.boolean(), count]);
const effort = v.picklist(["low", "medium", "high", "xhigh", "max"]);

export const profileSchema: v.GenericSchema<unknown, Profile> = v.strictObject({
  name: v.string(),
  description: v.string(),
  capability: v.picklist(["fast", "standard", "strong", "strongest"]),
  effort,
  verbosity: v.picklist(["terse", "concise", "detailed"]),
  presentation: v.picklist(["machine", "engineering", "summary"]),
  checkpoint_interval: duration,
  reasoning: optional(v.picklist(["offline", "ci", "fast", "standard", "strict"])),
  effort_escalation: optional(v.strictObject({ after_blocked_attempts: positive, to: effort })),
  context: optional(
    v.strictObject({
      task: optional(flag),
      current_state: optional(flag),
      decisions: optional(flag),
      relevant_files: optional(flag),
      failing_output: optional(flag),
      architecture_notes: optional(flag),
      recent_history_depth: optional(flag),
      knowledge: optional(flag),
      knowledge_max_items: optional(flag),
    }),
  ),
  verification: optional(
    v.strictObject({
      verify_command_required: optional(v.union([v.boolean(), v.literal("if_files_changed")])),
      regression_test_required: optional(v.boolean()),
      decision_record_required: optional(v.boolean()),
    }),
  ),
  output_contract: optional(texts),
});
