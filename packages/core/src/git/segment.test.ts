import { describe, expect, test } from "vitest";
import type { ReflogEntry } from "./reflog.ts";
import { deriveSegment } from "./segment.ts";

/** Entries named by letters: `"ab@5"` moved HEAD from commit a to commit b in second 5; `0` is no commit. */
function reflog(...entries: string[]): readonly ReflogEntry[] {
  return entries.map((entry) => {
    const [ids = "", seconds = ""] = entry.split("@");
    const [before = "", after = ""] = ids;
    return { before, after, seconds: Number(seconds), kind: "commit", message: "" };
  });
}

function segment(entries: readonly ReflogEntry[] | undefined, ends: { base?: string; head: string; at?: number }) {
  const { base, head, at = 5 } = ends;
  const found = deriveSegment({ reflog: entries, base, head, startedAt: new Date(at * 1000 + 999) });
  return found?.map((entry) => `${entry.before}${entry.after}`);
}

describe("deriveSegment", () => {
  test("deriveSegment begins after the last arrival at the base not later than the start", () => {
    const entries = reflog("0a@1", "ab@2", "ba@5", "ac@5", "cd@9");
    expect(segment(entries, { base: "a", head: "d" })).toEqual(["ac", "cd"]);
    expect(segment(entries, { base: "a", head: "d", at: 4 })).toEqual(["ab", "ba", "ac", "cd"]);
  });

  test("deriveSegment does not mind a clock that went back after the start", () => {
    expect(segment(reflog("0a@1", "ab@9", "bc@2"), { base: "a", head: "c" })).toEqual(["ab", "bc"]);
  });

  test("deriveSegment falls back to the first movement at or away from the base since the start", () => {
    expect(segment(reflog("xy@3", "ya@4", "ab@5", "bc@7").slice(2), { base: "a", head: "c" })).toEqual(["ab", "bc"]);
    expect(segment(reflog("0x@8", "xa@9", "ab@9"), { base: "a", head: "b" })).toEqual(["ab"]);
    expect(segment(reflog("0b@6", "bc@7"), { head: "c" })).toEqual(["0b", "bc"]);
  });

  test("deriveSegment cannot tell when entries since the start are lost", () => {
    expect(segment(reflog("bc@7"), { base: "a", head: "c" })).toBeUndefined();
    expect(segment(reflog("bc@7"), { head: "c" })).toBeUndefined();
  });

  test("deriveSegment cannot tell without a reflog, or with nothing since the start", () => {
    expect(segment(undefined, { base: "a", head: "b" })).toBeUndefined();
    expect(segment([], { base: "a", head: "b" })).toBeUndefined();
    expect(segment(reflog("xy@3"), { base: "a", head: "y" })).toBeUndefined();
  });

  test("deriveSegment cannot tell when HEAD moved without a trace", () => {
    expect(segment(reflog("0a@1", "ab@6"), { base: "a", head: "c" })).toBeUndefined();
    expect(segment(reflog("0a@1", "ab@6", "cd@7"), { base: "a", head: "d" })).toBeUndefined();
    expect(segment(reflog("0a@1", "cd@7"), { base: "a", head: "d" })).toBeUndefined();
  });

  test("deriveSegment takes a new root for a movement like others", () => {
    expect(segment(reflog("0a@1", "0b@6", "bc@7"), { base: "a", head: "c" })).toEqual(["0b", "bc"]);
  });
});
