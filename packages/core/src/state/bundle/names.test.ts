import { describe, expect, test } from "vitest";
import { findClash, isNamed, judgeName } from "./names.ts";

describe("judgeName", () => {
  test.each([".ai/repo/a.md", "a", "ä/日本 x.md", "..a/b..", "a/...b"])("%s fits every machine", (path) => {
    expect(judgeName(path)).toBeUndefined();
  });

  test.each([
    ["", "has no name"],
    ["/etc/passwd", "absolute"],
    ["C:/x", "absolute"],
    ["c:x", "absolute"],
    ["a\\b", "backslash"],
    ["../x", ".."],
    ["a/../../x", ".."],
    ["a/..", ".."],
    ["a//b", "plain"],
    ["./a", "plain"],
    ["a/", "plain"],
    ["a\nb", "control"],
    ["a\0b", "control"],
    ["a\uFFFDb", "UTF-8"],
    ["a\uD800b", "UTF-8"],
    ["x".repeat(256), "too long"],
    [`${"x/".repeat(2100)}x`, "too long"],
  ])("%j is refused", (path, says) => {
    expect(judgeName(path)).toContain(says);
  });
});

describe("findClash", () => {
  test.each([
    [["a", "b", "ac"], undefined],
    [["a", "b", "a"], "a is there twice"],
    [["r/A.md", "r/a.md"], "r/a.md and r/A.md differ only in case"],
    [["r/e\u0301.md", "r/\u00e9.md"], "differ only in case"],
    [["r/a/b", "r/a"], "r/a/b lies below r/a"],
    [["r/A", "r/a/b/c"], "r/a/b/c lies below r/A"],
  ])("%j", (paths, says) => {
    if (says === undefined) expect(findClash(paths)).toBeUndefined();
    else expect(findClash(paths)).toContain(says);
  });
});

describe("isNamed", () => {
  test("by itself, or by a folder around it, however that is written", () => {
    expect(["a/b", "a", "a/", "./a"].map((name) => isNamed("a/b", [name]))).toEqual([true, true, true, true]);
    expect(["a/b/c", "a/bc", "b", "aa"].map((name) => isNamed("a/b", [name]))).toEqual([false, false, false, false]);
  });
});
