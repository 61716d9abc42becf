import { describe, expect, test } from "vitest";
import { deriveAncestry, deriveLabel, deriveStanding } from "./divergence.ts";
import type { ReflogEntry } from "./reflog.ts";

const recorded = { branch: "main", head: "a".repeat(40) };
const ahead = { branch: "main", head: "b".repeat(40) };
const elsewhere = { branch: "topic", head: "b".repeat(40) };
const fresh = { branch: "main", head: undefined };

function entry(before: string, after: string): ReflogEntry {
  return { before, after, seconds: 0, kind: "commit", message: "" };
}
const passed = [entry("0".repeat(40), recorded.head), entry(recorded.head, ahead.head)];
const strange = [entry("0".repeat(40), ahead.head)];

test("deriveAncestry tells an ancestor, another line and a missing commit", () => {
  expect(deriveAncestry({ kind: "missing" })).toBe("missing");
  for (const ancestor of [true, false]) {
    expect(deriveAncestry({ kind: "commits", ancestor, commits: [] })).toBe(ancestor);
  }
});

describe("deriveLabel", () => {
  test.each([
    ["different_context", recorded, { ...recorded, branch: "topic" }, true],
    ["different_context", recorded, { ...recorded, branch: undefined }, true],
    ["different_context", recorded, elsewhere, "missing"],
    ["exact", recorded, recorded, true],
    ["exact", fresh, fresh, true],
    ["exact", { ...recorded, branch: undefined }, { ...recorded, branch: undefined }, true],
    ["unknown", recorded, ahead, "missing"],
    ["advanced", recorded, ahead, true],
    ["advanced", fresh, ahead, true],
    ["diverged", recorded, ahead, false],
  ] as const)("deriveLabel says %s", (label, was, is, ancestor) => {
    expect(deriveLabel(was, is, ancestor)).toBe(label);
  });
});

describe("deriveStanding", () => {
  test("deriveStanding keeps a label that needs no following", () => {
    for (const [current, ancestor, label] of [
      [recorded, true, "exact"],
      [ahead, true, "advanced"],
      [ahead, "missing", "unknown"],
    ] as const) {
      expect(deriveStanding({ recorded, current, ancestor, reflog: passed })).toEqual({ label, moved: false });
    }
  });

  test("deriveStanding follows a branch switched and commits rewritten where this reflog knows the recorded commit", () => {
    for (const current of [elsewhere, ahead]) {
      expect(deriveStanding({ recorded, current, ancestor: false, reflog: passed })).toEqual({
        label: "advanced",
        moved: true,
      });
    }
  });

  test("deriveStanding does not follow where this reflog never was at the recorded commit", () => {
    expect(deriveStanding({ recorded, current: ahead, ancestor: false, reflog: strange })).toEqual({
      label: "diverged",
      moved: false,
    });
    expect(deriveStanding({ recorded, current: elsewhere, ancestor: true, reflog: strange })).toEqual({
      label: "different_context",
      moved: false,
    });
  });

  test("deriveStanding follows without a reflog while git has the commit", () => {
    expect(deriveStanding({ recorded, current: elsewhere, ancestor: false, reflog: undefined }).moved).toBe(true);
    expect(deriveStanding({ recorded, current: elsewhere, ancestor: "missing", reflog: undefined })).toEqual({
      label: "different_context",
      moved: false,
    });
  });

  test("deriveStanding follows a record made before the first commit", () => {
    const standing = deriveStanding({ recorded: fresh, current: elsewhere, ancestor: true, reflog: strange });
    expect(standing).toEqual({ label: "advanced", moved: true });
  });
});
