import type { Finding, Level } from "@reeve/core/findings/finding.ts";
import { describe, expect, test } from "vitest";
import { renderFindings, renderVerdict } from "./text.ts";

function finding(level: Level, more: Partial<Finding> = {}): Finding {
  return { level, category: "scope", subject: "docs/a.md", message: "outside", ...more };
}

describe("renderFindings", () => {
  test("renderFindings puts what to reproduce beside the message and what to do below it", () => {
    expect(renderFindings([finding("FAIL", { reproduce: "git status", next: "undo it" })])).toEqual([
      "FAIL scope docs/a.md — outside  [reproduce: git status]",
      "  next: undo it",
    ]);
  });

  test("renderFindings leaves out what a finding does not have", () => {
    expect(renderFindings([finding("OK"), finding("INFO", { next: "" })])).toEqual([
      "OK scope docs/a.md — outside",
      "INFO scope docs/a.md — outside",
    ]);
    expect(renderFindings([])).toEqual([]);
  });
});

describe("renderVerdict", () => {
  test.each<[readonly Level[], string]>([
    [[], "check: passed, 0 checks"],
    [["OK"], "check: passed, 1 check"],
    [["OK", "OK", "INFO"], "check: passed, 2 checks"],
    [["OK", "WARN"], "check: passed, 1 check, 1 warning"],
    [["OK", "FAIL"], "check: 1 failure of 2 findings"],
    [["FAIL", "DRIFT", "WARN", "WARN"], "check: 2 failures, 2 warnings of 4 findings"],
    [["FAIL"], "check: 1 failure of 1 finding"],
  ])("renderVerdict says of %j '%s'", (levels, said) => {
    expect(
      renderVerdict(
        "check",
        levels.map((level) => finding(level)),
      ),
    ).toBe(said);
  });
});
