import type { Finding, Level } from "@reeve/core/findings/finding.ts";
import { describe, expect, test } from "vitest";
import { renderColoured } from "./output.ts";

function finding(level: Level, subject = "a", category = "scope"): Finding {
  return { level, category, subject, message: "b", reproduce: "c", next: "d" };
}

const escapeCode = String.fromCodePoint(27);

describe("renderColoured", () => {
  test("renderColoured writes no escape without colour", () => {
    expect(renderColoured([finding("FAIL")], false)).toEqual(["FAIL scope a — b  [reproduce: c]", "  next: d"]);
  });

  test.each<[Level, number]>([
    ["OK", 32],
    ["INFO", 36],
    ["WARN", 33],
    ["FAIL", 31],
    ["DRIFT", 31],
    ["REFUSE", 31],
  ])("renderColoured colours the level %s and nothing else", (level, hue) => {
    expect(renderColoured([finding(level)], true)).toEqual([
      `${escapeCode}[${hue}m${level}${escapeCode}[0m scope a — b  [reproduce: c]`,
      "  next: d",
    ]);
  });

  test("renderColoured folds what is alike, and says how much there is", () => {
    const many = Array.from({ length: 25 }, (_, n) => finding("FAIL", `f${n}`));
    const lines = renderColoured([...many, finding("FAIL", "x", "note"), finding("WARN", "y")], false);
    expect(lines.filter((line) => /^FAIL scope/.test(line)).length).toBe(20);
    expect(lines.filter((line) => line.includes("5 more"))).toHaveLength(1);
    expect(lines.join("\n")).toMatch(/FAIL note x[\s\S]*WARN scope y/);
  });

  test("renderColoured shows every one of few", () => {
    const few = Array.from({ length: 20 }, (_, n) => finding("FAIL", `f${n}`));
    expect(renderColoured(few, false).filter((line) => line.startsWith("FAIL")).length).toBe(20);
    expect(renderColoured([], true)).toEqual([]);
  });
});
