import { describe, expect, test } from "vitest";
import { type Change, describePlan, listPlan } from "./plan.ts";

const changes: readonly Change[] = [
  { kind: "write", root: "/r", path: "a/b.txt", bytes: "one\ntwo", mode: 0o600 },
  { kind: "append", root: "/r", path: "log.jsonl", bytes: "é\n" },
  { kind: "remove", root: "/r", path: "old" },
  { kind: "rename", root: "/r", from: "x", path: "y" },
  { kind: "mkdir", root: "/r", path: "d", mode: 0o700 },
  { kind: "symlink", root: "/r", path: "l", target: "../t" },
  { kind: "chmod", root: "/r", path: "d", mode: 0o755 },
];

describe("describePlan", () => {
  test("has one line for each change, with what a person wants to know of it", () => {
    expect(describePlan({ changes }).split("\n")).toEqual([
      "write a/b.txt (2 lines, 7 bytes, mode 0600)",
      "append log.jsonl (+1 line, 3 bytes)",
      "remove old",
      "rename x -> y",
      "mkdir d (mode 0700)",
      "symlink l -> ../t",
      "chmod d (mode 0755)",
    ]);
  });

  test("keeps to one line whatever a name holds, and is empty for an empty plan", () => {
    const path = "a\nwrite b\u001b[31m";
    const text = describePlan({ changes: [{ kind: "remove", root: "/r", path }] });
    expect(text).toBe("remove a\\nwrite b\\u001b[31m");
    expect(describePlan({ changes: [] })).toBe("");
  });
});

describe("listPlan", () => {
  test("gives the same as data", () => {
    expect(listPlan({ changes })).toEqual([
      { kind: "write", root: "/r", path: "a/b.txt", bytes: 7, lines: 2, mode: 0o600 },
      { kind: "append", root: "/r", path: "log.jsonl", bytes: 3, lines: 1 },
      { kind: "remove", root: "/r", path: "old" },
      { kind: "rename", root: "/r", path: "y", from: "x" },
      { kind: "mkdir", root: "/r", path: "d", mode: 0o700 },
      { kind: "symlink", root: "/r", path: "l", target: "../t" },
      { kind: "chmod", root: "/r", path: "d", mode: 0o755 },
    ]);
  });
});
