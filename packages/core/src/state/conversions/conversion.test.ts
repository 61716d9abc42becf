import { describe, expect, test } from "vitest";
import { nodeSystem } from "../../system/node.ts";
import { type Conversion, defineConversions, digestOf, noConversions } from "./conversion.ts";
import { conversions } from "./registry.ts";

const system = nodeSystem({ env: {} });

function step(id: string, describes = `what ${id} does`): Conversion {
  return { id, describe: describes, touches: "local", plan: () => undefined };
}

describe("defineConversions", () => {
  test("refuses an identity that is used twice or is no name, and a step that says nothing", () => {
    const codeOf = (steps: readonly Conversion[]): unknown => {
      try {
        return defineConversions(steps);
      } catch (error) {
        return (error as { readonly code?: unknown }).code;
      }
    };
    expect(codeOf([step("a"), step("b"), step("a", "another")])).toBe("INTERNAL");
    expect(codeOf([step("A b")])).toBe("INTERNAL");
    expect(codeOf([step("a", " ")])).toBe("INTERNAL");
    expect(codeOf([step("a"), step("b")])).toHaveLength(2);
  });
});

describe("digestOf", () => {
  test("tells sets of steps apart and not their order", () => {
    const [a, b, c] = [step("a"), step("b"), step("c")];
    expect(digestOf(system, [a, b])).toMatch(/^[0-9a-f]{16}$/);
    expect(digestOf(system, [a, b])).toBe(digestOf(system, [b, a]));
    const others = [[a], [a, c], [a, b, c], [a, step("b", "something else")]];
    expect(new Set([[a, b], ...others].map((steps) => digestOf(system, steps))).size).toBe(5);
    expect(digestOf(system, [])).toBe(noConversions);
  });
});

describe("conversions", () => {
  test("are declared, each with its identity and its sentence", () => {
    expect(defineConversions(conversions)).toBe(conversions);
    for (const { describe: sentence } of conversions) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });
});
