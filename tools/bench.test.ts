import { describe, expect, test } from "vitest";
import { deriveRow, renderColumns, renderRows, type Timed, type TimedCase } from "../bench/report.ts";
import { parseBenchRequest } from "../bench/request.ts";
import { addSamples, deriveSummary } from "../bench/samples.ts";

const known = { cli: { rows: [] }, store: { rows: ["lock", "get"] } };

describe("parseBenchRequest", () => {
  test("takes every group, as often as it usually runs, when nothing is said", () => {
    expect(parseBenchRequest([], known)).toEqual({ groups: ["cli", "store"], runs: undefined, only: [] });
  });

  test("takes a group once, and the number of runs in both spellings", () => {
    const store = { groups: ["store"], runs: 7, only: [] };
    expect(parseBenchRequest(["store", "--runs", "7", "store"], known)).toEqual(store);
    expect(parseBenchRequest(["--runs=3"], known)).toEqual({ groups: ["cli", "store"], runs: 3, only: [] });
  });

  test("takes the rows asked for, and then only the groups that have them", () => {
    const rows = { groups: ["store"], runs: undefined, only: ["get", "lock"] };
    expect(parseBenchRequest(["--only", "get", "--only=lock"], known)).toEqual(rows);
    expect(parseBenchRequest(["store", "--only", "get"], known)).toMatchObject({ only: ["get"] });
  });

  test("names the groups for a word it does not know, and the rows for a row", () => {
    expect(parseBenchRequest(["stroe"], known)).toMatch(/no group "stroe".*cli, store/);
    expect(parseBenchRequest(["--only", "gte"], known)).toMatch(/no row "gte".*lock, get/);
    expect(parseBenchRequest(["cli", "--only", "get"], known)).toMatch(/no row "get"/);
  });

  test("refuses a number of runs that is none", () => {
    for (const words of [["--runs"], ["--runs", "0"], ["--runs", "2.5"], ["--runs", "-1"], ["--runs=many"]]) {
      expect(parseBenchRequest(words, known)).toMatch(/^--runs takes a whole number/);
    }
  });
});

describe("deriveSummary", () => {
  test("gives the middle of an odd count and the mean of the two in the middle of an even one", () => {
    expect(deriveSummary([9, 1, 10])).toEqual({ median: 9, minimum: 1 });
    expect(deriveSummary([10, 2, 4, 100])).toEqual({ median: 7, minimum: 2 });
  });

  test("refuses to say something about nothing", () => {
    expect(() => deriveSummary([])).toThrow("a median of nothing");
  });
});

describe("addSamples", () => {
  test("adds round by round, as far as all were timed", () => {
    expect(
      addSamples([
        [1, 2, 3],
        [10, 20],
      ]),
    ).toEqual([11, 22]);
  });
});

const floors: readonly Timed[] = [
  { name: "node", samples: [20, 21, 22] },
  { name: "git", files: 1000, samples: [5, 4, 6] },
];
const timed: TimedCase = { name: "doctor", files: 1000, floor: ["node", "git"], samples: [50, 39, 52], git: 3 };

describe("deriveRow", () => {
  test("compares with the sum of the floors, by medians and by minima", () => {
    const row = deriveRow(timed, floors);
    expect(row.floorMedian).toBe(25);
    expect(row.ratio).toBe(2);
    expect(row.ratioOfMinima).toBeCloseTo(39 / 25);
    expect(row.floor).toBe("node + git");
  });

  test("refuses a floor that was not timed", () => {
    expect(() => deriveRow({ ...timed, floor: ["bun"] }, floors)).toThrow('compared with "bun", which was not timed');
  });
});

describe("renderRows", () => {
  test("marks a ratio over its target and a git process too many", () => {
    const over = renderRows([deriveRow({ ...timed, target: 1.3, gitAtMost: 2 }, floors)]);
    expect(over).toMatch(/ 1\.30 over +3 over\n$/);
    const within = renderRows([deriveRow({ ...timed, target: 2, gitAtMost: 3 }, floors)]);
    expect(within).toMatch(/ 2\.00 +3\n$/);
    expect(within).not.toContain("over");
  });

  test("leaves the target out where the design names none", () => {
    expect(renderRows([deriveRow(timed, floors)]).split("\n")[1]).toMatch(
      /^doctor +1000 +50\.0 +39\.0 +25\.0 +2\.00 +1\.56 +3$/,
    );
  });
});

describe("renderColumns", () => {
  test("pads the first column to the right and the others to the left", () => {
    expect(
      renderColumns([
        ["a", "long"],
        ["bcd", "1"],
      ]),
    ).toBe("a    long\nbcd     1\n");
  });
});
