import * as v from "valibot";
import type { RuleBlock, RuleFrontMatter, VendorManifest } from "./rule.ts";

const optional = v.exactOptional;
const texts = v.array(v.string());
const version = v.pipe(v.number(), v.integer(), v.minValue(1));
const oneLine = v.pipe(v.string(), v.regex(/^\S[^\n]*$/, "one line of text"));

const block: v.GenericSchema<unknown, RuleBlock> = v.strictObject({
  validator: optional(v.string()),
  category: optional(v.string()),
  enforced_by: optional(v.array(v.picklist(["doctor", "watch", "check", "finish"]))),
  exit_code: optional(v.picklist([0, 10])),
  policy_key: optional(v.string()),
  claims: optional(texts),
  tests: optional(texts),
  reviewed_because: optional(oneLine),
});

export const ruleSchema: v.GenericSchema<unknown, RuleFrontMatter> = v.strictObject({
  id: oneLine,
  version,
  kind: v.literal("rule"),
  title: oneLine,
  description: oneLine,
  statement: oneLine,
  status: v.picklist(["active", "deprecated"]),
  class: v.picklist(["blocking", "advisory"]),
  depends_on: texts,
  tags: optional(texts),
  "x-reeve": optional(block),
});

export const vendorManifestSchema: v.GenericSchema<unknown, VendorManifest> = v.strictObject({
  vendor: v.string(),
  package: v.string(),
  version,
  format: v.literal("ai-rules/v1"),
  source_revision: v.string(),
  rules: v.array(
    v.strictObject({
      id: v.string(),
      version,
      file: v.string(),
      sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    }),
  ),
});
