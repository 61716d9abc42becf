import { describe, expect, test } from "vitest";
import { canInjectFaults } from "../testing/fault.ts";
import { memoryFolder } from "../testing/folder.ts";
import { findLosses } from "./lost-states.ts";
import { say, scale, spelledCount } from "./scale.ts";
import { openStages, resized } from "./stages.ts";

/** How many steps each subject's run has. */
const sizes: Readonly<Record<string, number>> = {
  "a store, synced": 260,
  "a new store, synced": 180,
  "a store, not synced": 120,
  "a store with an index": 20,
  "a log": 120,
  "a document": 70,
  plans: 5,
  blobs: 24,
};

describe.skipIf(!canInjectFaults)("a power cut that loses what was not synced", () => {
  test("leaves what was acknowledged, no wrong entry, and a working place", { timeout: 600_000 }, async () => {
    let [states, distinct] = [0, 0];
    const findings: string[] = [];
    for (const stage of await openStages(memoryFolder(), resized(sizes, scale))) {
      const tally = await findLosses(stage);
      say(`lost cache: ${stage.subject.name}: ${spelledCount(tally.distinct)} disk states`);
      states += tally.states;
      distinct += tally.distinct;
      findings.push(...tally.findings);
    }
    say(`lost cache: ${spelledCount(distinct)} disk states that differ, of ${spelledCount(states)}`);
    expect(findings).toEqual([]);
    expect(distinct).toBeGreaterThanOrEqual(20_000);
  });
});
