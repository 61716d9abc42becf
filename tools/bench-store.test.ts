import { encodeLine } from "@reeve/store";
import { describe, expect, test } from "vitest";
import { deriveComparisons, judge, type Results } from "../bench/store/compare.ts";
import { deriveGrowth, type GrowthPoint, listGrowth } from "../bench/store/growth.ts";
import { replaceMeasured } from "../bench/store/page.ts";
import { idOf, type Row, type Series, usualSizes } from "../bench/store/plan.ts";
import { formatTick, listDecades, makeLogScale, renderPlot } from "../bench/store/plot.ts";
import { keyOf, keysIn, listPuts, makeRecord, pickKeys } from "../bench/store/records.ts";
import { listRows } from "../bench/store/rows.ts";
import { formatFigure, renderComparisons, renderGrowth, renderMarkdown } from "../bench/store/table.ts";

const ours: Series = { subject: "reeve", work: { kind: "lock", times: 5 } };
const theirs: Series = { ...ours, subject: "plain" };
const absent: Series = { ...ours, subject: "proper-lockfile" };
const row: Row = {
  name: "lock",
  title: "take and give",
  unit: "µs",
  figure: "us",
  statistic: "median",
  ours,
  against: [
    { name: "create", series: theirs, bound: { sense: "at most", value: 2 } },
    { name: "proper", series: absent, bound: { sense: "at most", value: 0.1 } },
  ],
};

function makeResults(own: readonly number[], other: readonly number[]): Results {
  return new Map([
    [idOf(ours), own.map((us) => ({ us }))],
    [idOf(theirs), other.map((us) => ({ us }))],
  ]);
}

describe("judge", () => {
  test("counts the bound itself as reached, in both senses", () => {
    expect([3.9, 4].map((value) => judge(value, { sense: "at least", value: 4 }))).toEqual(["under", "met"]);
    expect([0.3, 0.31].map((value) => judge(value, { sense: "at most", value: 0.3 }))).toEqual(["met", "over"]);
    expect(judge(1, undefined)).toBeUndefined();
  });
});

describe("deriveComparisons", () => {
  test("divides our median by theirs and judges the ratio", () => {
    const [create] = deriveComparisons(row, makeResults([9, 30, 10], [4, 4, 40]));
    expect(create).toMatchObject({ ours: 10, theirs: 4, ratio: 2.5, ratioOfBest: 2.25, verdict: "over" });
  });

  test("names who is not installed", () => {
    const [, proper] = deriveComparisons(row, makeResults([10], [5]));
    expect(proper).toMatchObject({ against: "proper", theirs: undefined, ratio: undefined, verdict: "not installed" });
  });

  test("puts a bound of our own figure first, and takes the worst round where the row says so", () => {
    const own: Row = { ...row, statistic: "most", bound: { sense: "at most", value: 25 } };
    const [first, second] = deriveComparisons(own, makeResults([9, 30, 10], [10]));
    expect(first).toMatchObject({ against: undefined, ours: 30, verdict: "over" });
    expect(second).toMatchObject({ against: "create", ratio: 3 });
  });

  test("takes the highest rate for the best", () => {
    const rate: Row = { ...row, unit: "entries/s" };
    expect(deriveComparisons(rate, makeResults([9, 30, 10], [4, 4, 40]))[0]).toMatchObject({ ratioOfBest: 0.75 });
  });

  test("has no ratio to nothing", () => {
    expect(deriveComparisons(row, makeResults([10], [0]))[0]).toMatchObject({ theirs: 0, ratio: undefined });
  });

  test("refuses a round that lacks the figure", () => {
    expect(() => deriveComparisons({ ...row, figure: "ms" }, makeResults([1], [1]))).toThrow('no figure "ms"');
  });
});

describe("listRows", () => {
  test("asks for what the design asks for", () => {
    const asked = listRows(usualSizes).flatMap(({ name, bound, against }) => [
      ...(bound === undefined ? [] : [`${name} ${bound.sense} ${bound.value}`]),
      ...against.flatMap((one) => (one.bound === undefined ? [] : [`${name} ${one.bound.sense} ${one.bound.value}`])),
    ]);
    expect(asked).toEqual([
      "append-queued at least 4",
      "append-queued at least 20",
      "append-awaited at least 1",
      "append-synced at least 0.9",
      "append-synced at least 0.9",
      "append-synced-64 at least 10",
      "append-synced-64 at least 1.2",
      "open-100k at most 0.3",
      "open-100k at most 0.35",
      "open-1m at most 0.4",
      "memory-1m at most 130",
      "reopen at most 0.2",
      "get at most 0.8",
      "compact at most 0.4",
      "compact at most 3",
      "lock at most 1",
      "lock at most 0.1",
      "takeover at most 100",
      "torture at most 0",
    ]);
  });

  test("gives every row a name of its own and never compares ours with itself", () => {
    const rows = listRows(usualSizes);
    expect(new Set(rows.map((one) => one.name)).size).toBe(rows.length);
    for (const one of rows) for (const { series } of one.against) expect(idOf(series)).not.toBe(idOf(one.ours));
  });

  test("gives the peers a file without our index", () => {
    const reopen = listRows(usualSizes).find((one) => one.name === "reopen");
    expect(reopen?.ours.fixture).toEqual({ subject: "reeve", lines: 100_000, indexed: true });
    expect(reopen?.against[0]?.series.fixture).toEqual({ subject: "better-sqlite3", lines: 100_000 });
  });
});

describe("records", () => {
  test("are 216 bytes a line on average, in the library's own form", () => {
    const lines = [...listPuts(100_000)].filter((_, at) => at % 1000 === 0).map((entry) => encodeLine(entry, "id"));
    expect(Math.round(lines.reduce((sum, line) => sum + line.length + 1, 0) / lines.length)).toBe(216);
    for (const line of lines) expect(JSON.stringify(JSON.parse(line))).toBe(line);
    expect(JSON.stringify(makeRecord(3, 7))).toBe(encodeLine(makeRecord(3, 7), "id"));
  });

  test("put each key twice, the second time in the same order", () => {
    const puts = [...listPuts(10)];
    expect(keysIn(10)).toBe(5);
    expect(puts.map((entry) => entry.id)).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4].map(keyOf));
    expect(puts.map((entry) => entry.rev)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("are looked up in no order, the same every time, and only where there are some", () => {
    const keys = pickKeys(500, 100);
    expect(keys).toEqual(pickKeys(500, 100));
    expect(new Set(keys).size).toBeGreaterThan(90);
    const known = new Set(Array.from({ length: 100 }, (_, at) => keyOf(at)));
    expect(keys.every((key) => known.has(key))).toBe(true);
  });
});

describe("renderComparisons", () => {
  const comparisons = deriveComparisons(row, makeResults([10.26], [5]));

  test("heads a work with our figure and says who, how much, what is asked for and whether it is reached", () => {
    const text = renderComparisons(comparisons);
    expect(text).toContain("\ntake and give (lock): 10.3 µs\n");
    expect(text).toMatch(/^ {2}create +5\.00 +2\.05 +2\.05 +≤ 2 +over$/m);
    expect(text).toMatch(/^ {2}proper +≤ 0\.1 +not installed$/m);
  });

  test("says the same in Markdown, the work once", () => {
    const [, , first, second] = renderMarkdown(comparisons).split("\n");
    expect(first).toBe("| take and give | 10.3 µs | create | 5.00 | 2.05 | 2.05 | ≤ 2 | over |");
    expect(second).toBe("|  |  | proper |  |  |  | ≤ 0.1 | not installed |");
  });

  test("gives our own bound its unit", () => {
    const own = deriveComparisons({ ...row, bound: { sense: "at most", value: 100 } }, makeResults([3], [5]));
    expect(renderComparisons(own)).toMatch(/^ {2}itself +≤ 100 µs +met$/m);
  });
});

describe("formatFigure", () => {
  test("keeps two places of short times and groups what is counted", () => {
    expect([1.234, 12.34, 123.4].map((value) => formatFigure(value, "ms"))).toEqual(["1.23", "12.3", "123"]);
    expect(formatFigure(123_456.7, "entries/s")).toBe("123,457");
  });
});

const points: readonly GrowthPoint[] = [
  { subject: "a<b", lines: 1000, openMs: 1, appendRate: 1000 },
  { subject: "a<b", lines: 100_000, openMs: 100, appendRate: 100_000 },
  { subject: "other", lines: 1000, openMs: 10, appendRate: 10_000 },
];

describe("plot", () => {
  test("lays equal factors at equal distances", () => {
    const scale = makeLogScale([1, 10_000], [0, 400]);
    expect([1, 10, 100, 10_000].map(scale)).toEqual([0, 100, 200, 400]);
    const down = makeLogScale([10, 1000], [300, 100]);
    expect([10, 100, 1000].map(down)).toEqual([300, 200, 100]);
  });

  test("encloses what it shows in powers of ten", () => {
    expect(listDecades([3, 250])).toEqual([1, 10, 100, 1000]);
    expect(listDecades([100])).toEqual([100, 1000]);
    expect(listDecades([0.4, 9])).toEqual([0.1, 1, 10]);
  });

  test("names ticks shortly", () => {
    expect([0.1, 1, 100, 1000, 100_000, 1_000_000].map(formatTick)).toEqual(["0.1", "1", "100", "1k", "100k", "1M"]);
  });

  test("draws every subject's points where they belong, in both panels, and names it", () => {
    const svg = renderPlot(points);
    const lines = [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, spots]) => spots);
    expect(lines).toEqual(["76,364 406,96", "76,230", "506,364 836,96", "506,230"]);
    expect(svg).toContain(">a&lt;b</text>");
    expect(svg).toContain(">other</text>");
    expect(svg).toContain("prefers-color-scheme:dark");
  });
});

describe("deriveGrowth", () => {
  const sizes = { ...usualSizes, growth: [1000, 1_000_000] };

  test("takes the medians of a size, and leaves out what was not measured there", () => {
    const [open, grow] = listGrowth(sizes, 1000);
    if (open === undefined || grow === undefined) throw new Error("no series");
    const results: Results = new Map([
      [idOf(open), [{ loadedMs: 3 }, { loadedMs: 1 }, { loadedMs: 2 }]],
      [idOf(grow), [{ rate: 10 }]],
    ]);
    const found = deriveGrowth(sizes, results);
    expect(found).toEqual([{ subject: "@reeve/store", lines: 1000, openMs: 2, appendRate: 10 }]);
    expect(renderGrowth(found)).toMatch(/^ {2}@reeve\/store +1,000 +2\.00 +10$/m);
  });

  test("spares nedb the million", () => {
    const subjects = (lines: number) => new Set(listGrowth(sizes, lines).map((one) => one.subject));
    expect(subjects(100_000).has("nedb")).toBe(true);
    expect(subjects(1_000_000).has("nedb")).toBe(false);
  });
});

describe("replaceMeasured", () => {
  const page = "above\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nbelow\n";

  test("replaces what stands between the marks, and only that", () => {
    const once = replaceMeasured(page, "new\n");
    expect(once).toBe("above\n<!-- measured: begin -->\n\nnew\n\n<!-- measured: end -->\nbelow\n");
    expect(replaceMeasured(once, "new\n")).toBe(once);
  });

  test("refuses a page without them", () => {
    expect(() => replaceMeasured("nothing", "new")).toThrow("has no <!-- measured: begin -->");
  });
});
