import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDuration } from "./policy.ts";

describe("parseDuration", () => {
  test.each([
    ["0s", 0],
    ["90s", 90],
    ["15m", 900],
    ["2h", 7200],
    ["7d", 604_800],
    ["007m", 420],
  ])("parseDuration reads %s as %i seconds", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each([
    "",
    "15",
    "m",
    "15 m",
    " 15m",
    "15m ",
    "15m\n",
    "-15m",
    "+15m",
    "1.5h",
    "15M",
    "15min",
    "1h30m",
    "15w",
    "١m",
  ])("parseDuration refuses %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test("parseDuration answers a finite number of seconds or nothing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,5}[smhd]$/)), (text) => {
        const seconds = parseDuration(text);
        expect(seconds === undefined || (Number.isFinite(seconds) && seconds >= 0)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
