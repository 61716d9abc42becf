import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const keys = ["recent_decisions", "max_list_items", "strategy", "verification", "version", "args", "name"];

describe("nearest", () => {
  test.each([
    ["recent_desicions", "recent_decisions"],
    ["max_list_item", "max_list_items"],
    ["stratgey", "strategy"],
    ["Strategy", "strategy"],
    ["vrsion", "version"],
    ["verif", "verification"],
    ["agrs", "args"],
    ["nmae", "name"],
  ])("nearest takes %s for %s", (word, meant) => {
    expect(nearest(word, keys)).toBe(meant);
  });

  test.each(["wholly_different", "", "zz", "xyzzy"])("nearest guesses nothing for %j", (word) => {
    expect(nearest(word, keys)).toBeUndefined();
  });

  test("nearest guesses nothing when there are no candidates", () => {
    expect(nearest("name", [])).toBeUndefined();
  });

  test("nearest prefers the closer of two candidates, and the first of two equally close ones", () => {
    expect(nearest("checkpont", ["checkpoints", "checkpoint"])).toBe("checkpoint");
    expect(nearest("cat", ["car", "can"])).toBe("car");
  });

  test("nearest finds a word again after any one mistake in it", () => {
    const word = fc.stringMatching(/^[a-z]{4,12}$/);
    const mistake = fc.tuple(fc.nat(), fc.constantFrom("drop", "double", "swap", "other"));
    fc.assert(
      fc.property(word, mistake, (meant, [seed, kind]) => {
        const at = seed % (meant.length - 1);
        const [a = "", b = ""] = [meant[at], meant[at + 1]];
        const middle = { drop: b, double: `${a}${a}${b}`, swap: `${b}${a}`, other: `_${b}` }[kind] ?? "";
        const typed = `${meant.slice(0, at)}${middle}${meant.slice(at + 2)}`;
        expect(nearest(typed, ["0123456789012345", meant])).toBe(meant);
      }),
      { numRuns: 300 },
    );
  });
});
