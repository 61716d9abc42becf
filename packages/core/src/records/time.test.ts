import { describe, expect, test } from "vitest";
import { compactTimestamp, day, renderAge, timestamp } from "./time.ts";

const date = new Date("2026-09-03T19:30:12.987Z");

describe("timestamp", () => {
  test("timestamp drops the fraction, and the compact form every mark as well", () => {
    expect(timestamp(date)).toBe("2026-09-03T19:30:12Z");
    expect(compactTimestamp(date)).toBe("20260903T193012Z");
    expect(day(date)).toBe("2026-09-03");
  });
});

describe("renderAge", () => {
  test.each([
    [-5_000, "0s"],
    [0, "0s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_599_999, "59m"],
    [3_600_000, "1h"],
    [86_399_999, "23h"],
    [86_400_000, "1d"],
    [40 * 86_400_000, "40d"],
  ])("renderAge says %i milliseconds as %s", (milliseconds, said) => {
    expect(renderAge(milliseconds)).toBe(said);
  });
});
