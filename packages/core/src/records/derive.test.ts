import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RepoPath } from "../system/paths.ts";
import type { Task } from "../work/task.ts";
import { type DerivedFrom, deriveCheckpoint, deriveHandover } from "./derive.ts";
import { missingSections, type Note, parseSections } from "./note.ts";

const required = ["Objective", "Current State", "Next Action"];
const task = {
  id: "t-20260903193012-a4f1",
  task: "fix the callback",
  profile: "implementation",
  scope: ["src/auth"],
  started_at: "2026-09-03T19:30:12Z",
} as unknown as Task;
const nothing: DerivedFrom = {
  task: undefined,
  branch: "main",
  head: "b".repeat(40),
  touched: [],
  questions: [],
  checkpoint: undefined,
  decisions: [],
  verified: undefined,
  outcome: undefined,
};

function touched(count: number, commit?: string): DerivedFrom["touched"] {
  return Array.from({ length: count }, (_, index) => ({ path: `src/${index}.ts` as RepoPath, commit }));
}

function question(text: string): DerivedFrom["questions"][number] {
  return { line: 1, task: task.id, question: text, opened: "2026-09-03", resolved: undefined, answer: undefined };
}

function checkpoint(body: string): Note {
  return { path: "a.md", body, front: { created_at: "2026-09-03T20:00:00Z" } } as unknown as Note;
}

const all: DerivedFrom = {
  ...nothing,
  task,
  touched: [...touched(25), ...touched(2, "c".repeat(40))],
  questions: [question("which port")],
  checkpoint: checkpoint("half way"),
  decisions: ["Compare exactly"],
  verified: "npm test, exit 0 after 3s",
  outcome: "partial",
};

describe("deriveHandover", () => {
  test("deriveHandover fills every section of the skeleton, with and without a task", () => {
    for (const from of [nothing, all, { ...nothing, task }, { ...all, outcome: "completed" }]) {
      const { body, unfilled } = deriveHandover(from, required);
      expect(missingSections(body, required)).toEqual([]);
      expect(unfilled).toEqual([]);
    }
  });

  test("deriveHandover says what the records say, and counts what it leaves out", () => {
    const sections = parseSections(deriveHandover(all, required).body);
    expect(sections.get("Objective")).toContain("fix the callback");
    expect(sections.get("Objective")).toContain("src/auth");
    const state = sections.get("Current State") ?? "";
    expect(state).toContain("On main at bbbbbbb; 27 files touched, 25 of them not committed.");
    expect(state).toContain("npm test, exit 0 after 3s");
    expect(state).toContain("Outcome: partial.");
    expect(state).toContain("half way");
    expect(state.match(/^- src\//gm)?.length).toBe(20);
    expect(state).toContain("- and 7 more");
    expect(sections.get("Next Action")).toContain("which port");
    expect(sections.get("Next Action")).toContain("fix the callback");
    expect(sections.get("Decisions")).toContain("- Compare exactly");
  });

  test("deriveHandover names the required sections no record can fill, and writes none of them", () => {
    const { body, unfilled } = deriveHandover(all, ["Objective", "Risks", "constructor", "toString"]);
    expect(unfilled).toEqual(["Risks", "constructor", "toString"]);
    expect([...parseSections(body).keys()]).toEqual(["Objective", "Decisions"]);
  });

  test("deriveHandover keeps the order the policy names, each section once", () => {
    const order = ["Next Action", "Decisions", "Open Work", "Current State", "Objective"];
    expect([...parseSections(deriveHandover(all, order).body).keys()]).toEqual(order);
  });

  test.each([
    ["a heading", "# Done\n\nall of it"],
    ["the heading of a section", "# Next Action\n"],
    ["a fence that is never closed", "it printed\n```\n# out"],
    ["placeholders", "<nothing>"],
  ])("deriveHandover fills every section over a checkpoint with %s", (_what, body) => {
    const derived = deriveHandover({ ...all, checkpoint: checkpoint(body) }, required).body;
    expect(missingSections(derived, required)).toEqual([]);
    expect([...parseSections(derived).keys()]).toEqual([...required, "Decisions"]);
  });

  test.each(["# Next Action", "```", "~~~", "<what>"])("deriveHandover fills every section of the task %j", (text) => {
    const derived = deriveHandover({ ...all, task: { ...task, task: text } }, required).body;
    expect(missingSections(derived, required)).toEqual([]);
    expect([...parseSections(derived).keys()]).toEqual([...required, "Decisions"]);
  });
});

describe("deriveCheckpoint", () => {
  test("deriveCheckpoint says where the work stands", () => {
    expect(deriveCheckpoint({ ...all, touched: [...touched(1), ...touched(2, "c".repeat(40))] }, 40)).toBe(
      [
        "Branch main at bbbbbbb, 1 file changed and not committed.",
        "Since the task began: 3 files touched, in 1 commit and the working tree.",
        "Open questions that block: 1.",
        "- src/0.ts",
        "- src/0.ts",
        "- src/1.ts",
      ].join("\n"),
    );
    expect(deriveCheckpoint(nothing, 40)).toContain("clean.");
  });

  test("deriveCheckpoint stays within the policy's lines", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.nat({ max: 60 }), (most, count) => {
        const rows = deriveCheckpoint({ ...all, touched: touched(count) }, most).split("\n");
        expect(rows.length).toBeLessThanOrEqual(most);
        expect(rows[0]).toMatch(/^Branch main/);
      }),
      { numRuns: 200 },
    );
  });
});
