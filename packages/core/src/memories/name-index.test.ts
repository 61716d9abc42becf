import { describe, expect, test } from "vitest";
import { indexNames, type NameClaim } from "./name-index.ts";

const at = (day: number): string => `2026-08-0${day}T00:00:00.000Z`;
const claim = (key: string, day: number, ...names: readonly string[]): NameClaim => ({ key, addedAt: at(day), names });
const nothing = new Map<string, string>();

describe("the index of names", () => {
  test("gives a name to the source that was installed first, in whatever order they come", () => {
    const claims = [claim("@b/r", 2, "x", "y"), claim("@a/r", 1, "x")];
    for (const given of [claims, claims.toReversed()]) {
      const { owners, collisions } = indexNames(given, nothing);
      expect(Object.fromEntries(owners)).toEqual({ x: "@a/r", y: "@b/r" });
      expect(collisions).toEqual([{ name: "x", key: "@b/r", heldBy: "@a/r" }]);
    }
  });

  test("goes by the key where two came at one instant", () => {
    expect(indexNames([claim("@b/r", 1, "x"), claim("@a/r", 1, "x")], nothing).owners.get("x")).toBe("@a/r");
  });

  test("leaves a name with the source that has it on the disk: nobody takes it over by shipping it", () => {
    const { owners, collisions } = indexNames([claim("@a/r", 1, "x"), claim("@b/r", 2, "x")], new Map([["x", "@b/r"]]));
    expect(owners.get("x")).toBe("@b/r");
    expect(collisions).toEqual([{ name: "x", key: "@a/r", heldBy: "@b/r" }]);
  });

  test("frees the name of a source that is gone, or that no longer ships it", () => {
    expect(indexNames([claim("@a/r", 1, "x")], new Map([["x", "@gone/r"]])).owners.get("x")).toBe("@a/r");
    const claims = [claim("@a/r", 1, "x"), claim("@b/r", 2, "y")];
    expect(indexNames(claims, new Map([["x", "@b/r"]])).owners.get("x")).toBe("@a/r");
  });

  test("takes names for one that differ in case alone", () => {
    const { collisions } = indexNames([claim("@a/r", 1, "x"), claim("@b/r", 2, "X")], nothing);
    expect(collisions).toEqual([{ name: "X", key: "@b/r", heldBy: "@a/r" }]);
  });
});
