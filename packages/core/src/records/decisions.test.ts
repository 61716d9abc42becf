import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReeveError } from "../findings/errors.ts";
import { type Decision, findDecision, type NewDecision, parseDecisions, renderDecision } from "./decisions.ts";

const made: NewDecision = {
  date: "2026-09-03",
  title: "Compare exactly",
  task: "t-20260903193012-a4f1",
  head: "b71e0c9",
  why: "forged states",
  rejected: undefined,
  evidence: "lib/auth.ts:12",
  supersedes: undefined,
};

const head = "# Decisions\n\n<!-- Kept by reeve.\n## 2026-01-01 — not an entry\n-->\n";

function record(...decisions: readonly Partial<NewDecision>[]): readonly Decision[] {
  return parseDecisions(`${head}${decisions.map((one) => renderDecision({ ...made, ...one })).join("")}`);
}

/** Text as it comes back: what stood on several lines stands on them again, without the space around. */
function tidy(text: string): string {
  return text
    .trim()
    .split(/\s*(?:\r\n?|[\n\u2028\u2029])\s*/)
    .map((row) => row.trim())
    .join("\n");
}

const line = fc
  .oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom("a — b", "Why: c", "## 2026-01-01 — d", "- x", "a\u2028b", "a\rb", "<b>", "a <!-- b", "--> a"),
  )
  .map((text) => text.replaceAll("\n", " ").trim())
  .filter((text) => text !== "" && text !== "-");
const title = line.filter((text) => !/[\p{Cc}\u2028\u2029]/u.test(text));
const value = fc
  .array(line, { minLength: 1, maxLength: 3 })
  .map((rows) => rows.join("\n"))
  .filter((text) => text.trim() !== "");

describe("renderDecision", () => {
  test("renderDecision writes every field, a dash where there is nothing to say", () => {
    expect(renderDecision({ ...made, task: undefined })).toBe(
      [
        "",
        "## 2026-09-03 — Compare exactly",
        "",
        "Task: -",
        "Head: b71e0c9",
        "Why: forged states",
        "Rejected: -",
        "Evidence: lib/auth.ts:12",
        "Supersedes: -",
        "",
      ].join("\n"),
    );
  });
});

describe("parseDecisions", () => {
  test("parseDecisions reads back what renderDecision wrote", () => {
    expect(record(made)).toEqual([{ ...made, line: 7, supersededBy: undefined }]);
  });

  test("parseDecisions reads back whatever was decided and why", () => {
    const decision = fc.record({ title, why: value, rejected: fc.option(value, { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(decision, { minLength: 1, maxLength: 3 }), (decisions) => {
        const back = record(...decisions).map(({ title, why, rejected }) => ({ title, why, rejected }));
        const wanted = decisions.map(({ title, why, rejected }) => ({
          title,
          why: tidy(why),
          rejected: rejected === undefined ? undefined : tidy(rejected),
        }));
        expect(back).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["a line separator", "a\u2028b"],
    ["a carriage return", "a\rb"],
    ["a comment that is never closed", "it said <!-- there"],
    ["a whole comment", "it said <!-- this --> there"],
  ])("parseDecisions keeps %s in a reason, and the entries after it", (_what, why) => {
    const back = record({ why }, { title: "Another" });
    expect(back.map((one) => one.title)).toEqual(["Compare exactly", "Another"]);
    expect(back[0]?.why?.replaceAll(/\s+/g, " ")).toBe(why.replaceAll(/\s+/g, " "));
    expect(back[0]?.evidence).toBe("lib/auth.ts:12");
  });

  test("parseDecisions takes a line that looks like a heading or a field for part of a reason", () => {
    const why = "first\n## 2026-01-01 — no entry\nTask: nobody's";
    expect(record({ why })).toMatchObject([{ why, task: made.task, title: made.title }]);
  });

  test("parseDecisions reads a file with carriage returns as one without", () => {
    const text = `${head}${renderDecision({ ...made, why: "one\ntwo" })}`;
    expect(parseDecisions(text.replaceAll("\n", "\r\n"))).toEqual(parseDecisions(text));
  });

  test("parseDecisions says nothing for what a hand-written entry lacks", () => {
    const [only, ...more] = parseDecisions("## 2026-09-03 — By hand\n\nsome prose\nWhy: -\nTask:\n");
    expect(more).toEqual([]);
    expect(only).toMatchObject({ title: "By hand", why: undefined, task: undefined, head: undefined });
  });

  test.each(["", "# Decisions\n", "## not a date — title\n", "## 2026-09-03 - hyphen\n", "Why: nobody's\n"])(
    "parseDecisions finds no entry in %j",
    (text) => {
      expect(parseDecisions(text)).toEqual([]);
    },
  );

  test("parseDecisions tells which entry replaced another", () => {
    const back = record(made, { title: "Compare loosely", supersedes: made.title });
    expect(back.map((one) => [one.supersedes, one.supersededBy])).toEqual([
      [undefined, "Compare loosely"],
      [made.title, undefined],
    ]);
  });
});

describe("findDecision", () => {
  const known = record({ title: "Use A" }, { title: "Use A everywhere" }, { title: "Keep B" });

  function refusal(text: string): ReeveError {
    try {
      findDecision(known, text);
    } catch (error) {
      return error as ReeveError;
    }
    throw new Error("nothing was refused");
  }

  test("findDecision takes a whole title before a part of one", () => {
    expect(findDecision(known, "Use A").title).toBe("Use A");
    expect(findDecision(known, "B").title).toBe("Keep B");
  });

  test("findDecision refuses what none or several titles have", () => {
    expect(refusal("C")).toMatchObject({ code: "NOT_FOUND" });
    expect(refusal("Use")).toMatchObject({ code: "AMBIGUOUS", message: /2 decisions/ });
  });
});
