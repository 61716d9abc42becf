import { describe, expect, test } from "vitest";
import { canInjectFaults } from "../testing/fault.ts";
import { memoryFolder } from "../testing/folder.ts";
import { findCrashes, findRealCrashes } from "./crash-points.ts";
import { say, scale, spelledCount } from "./scale.ts";
import { openStages, resized } from "./stages.ts";

/** How many steps each subject's run has. */
const sizes: Readonly<Record<string, number>> = {
  "a store, synced": 90,
  "a new store, synced": 60,
  "a store, not synced": 60,
  "a store with an index": 16,
  "a log": 60,
  "a document": 40,
  plans: 9,
  blobs: 30,
};

describe.skipIf(!canInjectFaults)("every crash point", () => {
  test("leaves every acknowledged entry, no half one, and a working place without leftovers", {
    timeout: 600_000,
  }, async () => {
    let points = 0;
    const findings: string[] = [];
    for (const stage of await openStages(memoryFolder(), resized(sizes, scale))) {
      const tally = await findCrashes(stage);
      say(`every crash point: ${stage.subject.name}: ${spelledCount(tally.distinct)} points`);
      points += tally.distinct;
      findings.push(...tally.findings);
    }
    say(`every crash point: ${spelledCount(points)} points that differ, each recovered from twice`);
    expect(findings).toEqual([]);
    expect(points).toBeGreaterThanOrEqual(2000);
  });

  test("is what a process leaves that is really killed there", { timeout: 600_000 }, async () => {
    let killed = 0;
    const findings: string[] = [];
    for (const stage of await openStages(memoryFolder(), resized(sizes, 1 / 4))) {
      const tally = await findRealCrashes(stage, 12 * scale);
      expect(tally.killed, stage.subject.name).toBeGreaterThan(8);
      killed += tally.killed;
      findings.push(...tally.findings);
    }
    say(`every crash point: ${killed} processes killed in earnest, each leaving what the model of the disk says`);
    expect(findings).toEqual([]);
  });
});
