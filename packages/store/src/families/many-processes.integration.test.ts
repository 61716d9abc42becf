import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryFolder, temporaryFolder } from "../testing/folder.ts";
import { type Crowd, findCollisions } from "./crowd.ts";
import { buildEngine } from "./engine.ts";
import { findUnborn } from "./newborn.ts";
import { say, scale, spelledCount } from "./scale.ts";

const crowds: readonly Crowd[] = [
  { writers: 16, readers: 4, count: 1000 * scale, durability: "os", compactEvery: 50, kills: 3, seed: 1 },
  { writers: 8, readers: 2, count: 50 * scale, durability: "fsync", compactEvery: 20, kills: 2, seed: 2 },
];

describe("many processes", () => {
  test.each(crowds)(
    "lose no acknowledged entry, tear no line and see none go back ($writers writers, $durability)",
    {
      timeout: 600_000,
    },
    async (crowd) => {
      const folder = crowd.durability === "os" ? memoryFolder() : temporaryFolder();
      const engine = await buildEngine(folder);
      mkdirSync(join(folder, "store"));
      const tally = await findCollisions(engine, join(folder, "store", "jobs.jsonl"), crowd);
      const { writers, readers, durability } = crowd;
      say(
        `many processes: ${writers} writers and ${readers} readers (${durability}): ${spelledCount(tally.acknowledged)} entries acknowledged, ${tally.kills} writers killed, ${spelledCount(tally.reads)} reads`,
      );
      expect(tally.findings).toEqual([]);
      expect(tally.acknowledged).toBeGreaterThanOrEqual(crowd.writers * crowd.count);
      expect(tally.kills).toBeGreaterThan(crowd.writers);
    },
  );

  test("never take a file that is just being made for anything else", { timeout: 120_000 }, async () => {
    const folder = memoryFolder();
    const engine = await buildEngine(folder);
    mkdirSync(join(folder, "made"));
    expect(await findUnborn(engine, join(folder, "made"), 1000 * scale)).toEqual([]);
    say(`many processes: ${spelledCount(3000 * scale)} files opened while another process made them`);
  });
});
