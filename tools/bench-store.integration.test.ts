import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deriveGrowth } from "../bench/store/growth.ts";
import { measureInterleaved } from "../bench/store/measure.ts";
import { idOf, type Series, type Sizes } from "../bench/store/plan.ts";
import { makeBench, measureRows, storeGroup } from "../bench/store.ts";

const tiny: Sizes = {
  appended: 40,
  synced: 10,
  callers: 4,
  perCaller: 5,
  rewritten: 5,
  large: 200,
  huge: 400,
  lookups: 50,
  locks: 20,
  tortureMs: 200,
  growth: [20, 200],
  grown: 10,
};

const floors = ["bare", "read, split", "write the same", "exclusive create", "naive takeover"];

let folder = "";
let packages = "";
let said: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bench-store-"));
  packages = join(folder, "packages");
  mkdirSync(packages);
  writeFileSync(join(packages, "package.json"), "{}");
  said = [];
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function makeMeasuring(only: readonly string[]) {
  const bench = makeBench({ root: process.cwd(), folder }, packages);
  return { bench, sizes: tiny, runs: 1, only, progress: (text: string) => said.push(text) };
}

describe("the group store", () => {
  test("measures every row and names every peer that is not installed", () => {
    const { results, comparisons, absent } = measureRows(makeMeasuring([]));
    const peers = ["better-sqlite3", "conf", "lmdb", "lmdb putSync", "lowdb", "nedb", "proper-lockfile"];
    expect(Object.keys(absent).sort()).toEqual(peers);
    for (const peer of peers) expect(said.join("\n")).toContain(`${peer} is not installed: Error: Cannot find module`);
    expect([...new Set(comparisons.map((one) => one.row)), "growth"]).toEqual(storeGroup.rows);
    for (const { row, against, ours, theirs, verdict } of comparisons) {
      const where = `${row}, ${against}`;
      const isFloor = against === undefined || floors.some((floor) => against.startsWith(floor));
      expect(ours, where).toBeGreaterThanOrEqual(row === "torture" ? 0 : Number.MIN_VALUE);
      expect(verdict === "not installed", where).toBe(!isFloor);
      expect(theirs === undefined, where).toBe(!isFloor || against === undefined);
    }
    const violations = comparisons.find((one) => one.row === "torture");
    expect(violations).toMatchObject({ ours: 0, verdict: "met" });
    const grown = deriveGrowth(tiny, results).map(({ subject, lines }) => `${subject} ${lines}`);
    expect(grown).toEqual(["@reeve/store 20", "@reeve/store 200", "plain fs 20", "plain fs 200"]);
  });

  test("measures only the rows asked for", () => {
    const { comparisons, results } = measureRows(makeMeasuring(["lock"]));
    expect(new Set(comparisons.map((one) => one.row))).toEqual(new Set(["lock"]));
    expect(results.size).toBe(2);
  });

  test("stops at a subject that loses entries", () => {
    const { bench } = makeMeasuring([]);
    const series: Series = {
      subject: "plain",
      work: { kind: "open", lines: 200 },
      fixture: { subject: "plain", lines: 100 },
    };
    expect(() => measureInterleaved(bench, [series], { warm: 0, atMost: 1 })).toThrow("50 entries instead of 100");
    expect(idOf(series)).toContain("open");
  });
});
