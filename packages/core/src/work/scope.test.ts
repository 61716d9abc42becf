import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Policy } from "../policy/policy.ts";
import { isClaimed, isInside, overlaps } from "./scope.ts";

const policy: Policy = { version: 1, projections: [{ provider: "agents", target: "AGENTS.md" }] };
const where = fc
  .array(fc.constantFrom("a", "b", "ab", "ä"), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join("/"));

describe("isInside", () => {
  test.each([
    ["src/a.ts", "src", true],
    ["src", "src", true],
    ["src2/a.ts", "src", false],
    ["src.ts", "src", false],
    ["a/src/b.ts", "src", false],
    ["anything", ".", true],
    [".ai/x", ".", true],
    ["Src/a.ts", "src", false],
    ["läs mig/ü.txt", "läs mig", true],
  ])("isInside answers of %s in %s %s", (file, scope, inside) => {
    expect(isInside(file, scope)).toBe(inside);
  });
});

describe("overlaps", () => {
  test("overlaps is the same both ways, and true of a path and what is below it", () => {
    fc.assert(
      fc.property(where, where, (a, b) => {
        expect(overlaps(a, b)).toBe(overlaps(b, a));
        expect(overlaps(a, `${a}/${b}`)).toBe(true);
        expect(overlaps(a, ".")).toBe(true);
        expect(overlaps(`x${a}`, `y${b}`)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

describe("isClaimed", () => {
  test.each([
    ["src/a.ts", true],
    [".ai/local/state/decisions.md", true],
    [".gitignore", true],
    [".gitattributes", true],
    ["AGENTS.md", true],
    ["src/.gitignore", true],
    ["docs/.gitignore", false],
    ["docs/AGENTS.md", false],
    ["AGENTS.md.bak", false],
    [".aim", false],
    [".github/workflows/ci.yml", false],
  ])("isClaimed answers of %s under the scope src %s", (file, claimed) => {
    expect(isClaimed(file, ["src"], policy)).toBe(claimed);
  });

  test("isClaimed does without projections", () => {
    expect(isClaimed("AGENTS.md", ["src"], { version: 1 })).toBe(false);
  });
});
