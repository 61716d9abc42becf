import { describe, expect, test } from "vitest";
import { canInjectFaults } from "../testing/fault.ts";
import { memoryFolder } from "../testing/folder.ts";
import { codes, type Refusal } from "./refusal.ts";
import { findRefusals } from "./refused-disk.ts";
import { say, scale, spelledCount } from "./scale.ts";
import { openStages, resized } from "./stages.ts";

/** How many steps each subject's run has. */
const sizes: Readonly<Record<string, number>> = {
  "a store, synced": 13,
  "a new store, synced": 13,
  "a store, not synced": 12,
  "a store with an index": 6,
  "a log": 10,
  "a document": 5,
  plans: 2,
  blobs: 6,
};

const errnos = Object.keys(codes).map(Number);
const partly: readonly Refusal[] = [
  { kinds: ["short"], forever: false },
  { kinds: [28], forever: true },
];
const fully: readonly Refusal[] = [...errnos.map((errno) => ({ kinds: [errno], forever: false })), ...partly];
const inTurn: readonly Refusal[] = [{ kinds: errnos, forever: false }, ...partly];
const toRead: readonly Refusal[] = [{ kinds: [5], forever: false }];

/** Those whose runs take long meet the errnos in turn. */
function refusalsOf(name: string, reads: boolean): readonly Refusal[] {
  if (reads) return toRead;
  return name === "plans" || name === "a store with an index" ? inTurn : fully;
}

describe.skipIf(!canInjectFaults)("a disk that refuses", () => {
  test.each([
    ["to write", false],
    ["to read", true],
  ])("%s is told of by path, changes nothing, and works again later", { timeout: 600_000 }, async (what, reads) => {
    let [met, told] = [0, 0];
    const names = new Set<string>();
    const findings: string[] = [];
    for (const stage of await openStages(memoryFolder(), resized(sizes, scale))) {
      const tally = findRefusals(stage, refusalsOf(stage.subject.name, reads), reads);
      say(`refused disk: ${stage.subject.name}: ${spelledCount(tally.met)} refusals ${what}`);
      met += tally.met;
      told += tally.told;
      for (const name of tally.names) names.add(name);
      findings.push(...tally.findings);
    }
    say(
      `refused disk: ${spelledCount(met)} refusals ${what}, ${spelledCount(told)} of them told: ${[...names].sort().join(", ")}`,
    );
    expect(findings).toEqual([]);
    expect(told).toBeGreaterThan(100);
  });
});
