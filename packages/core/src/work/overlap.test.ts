import { describe, expect, test } from "vitest";
import type { AbsPath } from "../system/paths.ts";
import { findOverlaps } from "./overlap.ts";
import type { Task } from "./task.ts";

function other(...scope: readonly string[]): { readonly worktree: AbsPath; readonly task: Task } {
  return { worktree: "/there" as AbsPath, task: { id: "t-1", task: "theirs", scope } as unknown as Task };
}

describe("findOverlaps", () => {
  test.each<[readonly string[], readonly string[], readonly string[]]>([
    [["src"], ["src"], ["claims src, the same as yours"]],
    [["src"], ["src/auth"], ["claims src/auth, inside your src"]],
    [["src/auth"], ["src"], ["claims src, around your src/auth"]],
    [["."], ["docs"], ["claims docs, inside your ."]],
    [["docs"], ["."], ["claims ., around your docs"]],
    [["."], ["."], ["claims ., the same as yours"]],
    [["src"], ["src2", "sr", "docs/src"], []],
    [["a", "b"], ["b/c", "d"], ["claims b/c, inside your b"]],
    [["läs mig"], ["läs mig/ü"], ["claims läs mig/ü, inside your läs mig"]],
  ])("findOverlaps of %j with %j says %j", (mine, theirs, says) => {
    const found = findOverlaps(mine, [other(...theirs)]);
    expect(found.map((finding) => finding.message)).toEqual(says.map((said) => `'theirs' (t-1) ${said}`));
    for (const finding of found)
      expect(finding).toMatchObject({ level: "INFO", subject: "/there", reproduce: "reeve check --overlap" });
  });

  test("findOverlaps names every other task", () => {
    expect(findOverlaps(["src"], [other("src"), other("docs"), other("src/a")]).length).toBe(2);
    expect(findOverlaps(["src"], [])).toEqual([]);
  });

  test("findOverlaps names a record that cannot be read", () => {
    const found = findOverlaps(["src"], [{ worktree: "/there" as AbsPath, task: undefined }]);
    expect(found).toMatchObject([
      { level: "INFO", subject: "/there", message: expect.stringContaining("cannot be read") },
    ]);
  });
});
