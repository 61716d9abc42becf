import { describe, expect, test } from "vitest";
import type { AbsPath } from "../system/paths.ts";
import { type From, foldKey, keyOf } from "./from.ts";

describe("a source's key", () => {
  test.each<[From, string]>([
    [{ type: "github", repo: "Octocat/rules", ref: "HEAD" }, "@Octocat/rules"],
    [{ type: "github", repo: "Octocat/rules", ref: "V2" }, "@Octocat/rules#V2"],
    [{ type: "github", repo: "o/r", ref: "HEAD", host: "git.example.org" }, "@git.example.org/o/r"],
    [{ type: "git", url: "ssh://host/a.git", ref: "HEAD" }, "ssh://host/a.git"],
    [{ type: "git", url: "file:///a", ref: "v1" }, "file:///a#v1"],
    [{ type: "local", path: "/rules" as AbsPath }, "/rules"],
  ])("keyOf %j is %s", (from, key) => {
    expect(keyOf(from)).toBe(key);
  });

  test("foldKey joins names that differ in case alone, and leaves the pin as typed", () => {
    const one = foldKey({ type: "github", repo: "Octocat/Rules", ref: "V2" });
    expect(one).toBe(foldKey({ type: "github", repo: "octocat/rules", ref: "V2" }));
    expect(one).not.toBe(foldKey({ type: "github", repo: "octocat/rules", ref: "v2" }));
    expect(foldKey({ type: "git", url: "https://h/A", ref: "HEAD" })).toBe("https://h/A");
  });
});
