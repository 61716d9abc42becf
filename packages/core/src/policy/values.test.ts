import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { decodeDocument } from "../documents/decode.ts";
import { ReeveError } from "../findings/errors.ts";
import type { Policy } from "./policy.ts";
import { findPolicyValue, type PolicyKey, policyKeys, policyPath, policyValue } from "./values.ts";

const keys = Object.keys(policyKeys) as PolicyKey[];

function shippedPolicy(): Policy {
  const file = path.resolve(import.meta.dirname, "../../../../share/skeleton/ai/repo/policy.yaml");
  const decoded = decodeDocument("policy", fs.readFileSync(file, "utf8"));
  if (!decoded.ok) throw new Error("the shipped policy does not decode");
  return decoded.value;
}

describe("policyValue", () => {
  test.each(keys)("policyValue finds %s, of its type, in the shipped policy", (key) => {
    const value: unknown = policyValue(shippedPolicy(), key);
    const type = { number: "number", text: "string", boolean: "boolean", texts: "object" }[policyKeys[key]];
    expect(typeof value).toBe(type);
    if (policyKeys[key] === "texts") expect(Array.isArray(value)).toBe(true);
  });

  test.each(keys)("policyValue has no default for %s", (key) => {
    let thrown: unknown;
    try {
      policyValue({ version: 1 }, key);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ReeveError);
    expect(thrown).toMatchObject({ code: "POLICY_INVALID", exit: 10, details: { path: policyPath, key } });
    expect((thrown as ReeveError).hint).toContain("policy-completeness");
  });

  test("policyValue takes false and nought for values", () => {
    expect(policyValue({ version: 1, handover: { derive_on_finish: false } }, "handover.derive_on_finish")).toBe(false);
    expect(policyValue({ version: 1, checkpoint: { max_body_lines: 0 } }, "checkpoint.max_body_lines")).toBe(0);
  });
});

describe("findPolicyValue", () => {
  test.each([[null], ["text"], [5], [[]], [undefined]])("findPolicyValue finds nothing below %j", (block) => {
    expect(findPolicyValue({ version: 1, ledger: block } as unknown as Policy, "ledger.rotate")).toBeUndefined();
  });
});
