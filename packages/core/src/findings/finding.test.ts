import { describe, expect, test } from "vitest";
import { type ErrorCode, errorTable, ReeveError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import { collectFindings, exitOf, type Finding, type Level } from "./finding.ts";
import { plural } from "./plural.ts";

function line(level: Level): Finding {
  return { level, category: "a", subject: "b", message: "c" };
}

describe("exitOf", () => {
  test.each<[readonly Level[], number]>([
    [[], 0],
    [["OK", "INFO", "WARN"], 0],
    [["OK", "FAIL"], 10],
    [["DRIFT", "WARN"], 11],
    [["DRIFT", "FAIL"], 10],
    [["REFUSE"], 0],
  ])("exitOf answers for %j the code %i", (levels, code) => {
    expect(exitOf(levels.map(line))).toBe(code);
  });
});

describe("collectFindings", () => {
  test("collectFindings keeps the lines in order, each with its level and category", () => {
    const findings = collectFindings("scope");
    findings.ok("a", "fine");
    findings.info("b", "known");
    findings.warn({ subject: "c", message: "odd", reproduce: "reeve check" });
    findings.fail({ subject: "d", message: "bad", reproduce: "reeve check", next: "mend it" });
    expect(findings.lines).toEqual([
      { level: "OK", category: "scope", subject: "a", message: "fine" },
      { level: "INFO", category: "scope", subject: "b", message: "known" },
      { level: "WARN", category: "scope", subject: "c", message: "odd", reproduce: "reeve check" },
      { level: "FAIL", category: "scope", subject: "d", message: "bad", reproduce: "reeve check", next: "mend it" },
    ]);
  });
});

describe("exitCodes", () => {
  test("exitCodes are those of the product, no two alike", () => {
    expect(exitCodes).toEqual({
      OK: 0,
      USAGE: 2,
      NOTHING_FIT: 3,
      CONTRACT_UNMET: 10,
      DRIFT_FOUND: 11,
      MISSING_ARTIFACT: 12,
      INTERNAL_ERROR: 13,
      BUSY: 14,
      REFUSED: 15,
    });
  });
});

describe("ReeveError", () => {
  test.each(Object.keys(errorTable) as ErrorCode[])("ReeveError %s never exits as if all were well", (code) => {
    const error = new ReeveError(code, "what happened");
    expect(error.exit).toBe(exitCodes[errorTable[code].exit]);
    expect(error.exit).not.toBe(0);
    expect(errorTable[code].says).toMatch(/^[^\n]+\.$/);
  });

  test("ReeveError carries its hint, details and cause", () => {
    const cause = new Error("deeper");
    const error = new ReeveError("NO_TASK", "none", { hint: "reeve start", details: { a: 1 }, cause });
    expect(error).toMatchObject({ code: "NO_TASK", message: "none", hint: "reeve start", details: { a: 1 }, cause });
    const bare = new ReeveError("NO_TASK", "none");
    expect([bare.hint, bare.details, bare.cause]).toEqual([undefined, {}, undefined]);
  });
});

describe("plural", () => {
  test.each([
    [0, "file", "0 files"],
    [1, "file", "1 file"],
    [2, "entry", "2 entries"],
    [1, "entry", "1 entry"],
  ])("plural says %i %s as '%s'", (count, noun, said) => {
    expect(plural(count, noun)).toBe(said);
  });
});
