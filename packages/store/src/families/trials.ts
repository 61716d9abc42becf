import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findCrashes } from "./crash-points.ts";
import { findCollisions } from "./crowd.ts";
import type { Engine } from "./engine.ts";
import { findMisreadings } from "./hostile-bytes.ts";
import { findLosses } from "./lost-states.ts";
import { codes } from "./refusal.ts";
import { findRefusals } from "./refused-disk.ts";
import type { Stage } from "./rehearsal.ts";
import { stagesFor } from "./stages.ts";

export type Family = "every crash point" | "lost cache" | "refused disk" | "many processes" | "hostile bytes";

/** A family's checks in small, on any engine, below a folder, of all subjects or one; what they find. */
export type Trial = (engine: Engine, folder: string, subject?: string) => Promise<readonly string[]>;

type Sizes = Readonly<Record<string, number>>;

const sizes: Sizes = {
  "a store, synced": 24,
  "a new store, synced": 12,
  "a store, not synced": 6,
  "a log": 12,
  "a document": 6,
  plans: 2,
  blobs: 6,
  "a store with an index": 6,
};
const refusedSizes: Sizes = { "a store, synced": 10, "a log": 6, "a document": 5, blobs: 6 };

function sizesOf(all: Sizes, subject: string | undefined): Sizes {
  return Object.fromEntries(Object.entries(all).filter(([name]) => subject === undefined || name === subject));
}

/** One subject after the other, until something is found. */
async function untilFound(
  stages: readonly Stage<unknown>[],
  look: (stage: Stage<unknown>) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  for (const stage of stages) {
    const findings = await look(stage);
    if (findings.length > 0) return findings;
  }
  return [];
}

export const trials: Readonly<Record<Family, Trial>> = {
  "every crash point": (engine, folder, subject) =>
    untilFound(
      stagesFor(engine, folder, sizesOf(sizes, subject)),
      async (stage) => (await findCrashes(stage, 1)).findings,
    ),
  "lost cache": (engine, folder, subject) =>
    untilFound(
      stagesFor(engine, folder, sizesOf(sizes, subject)),
      async (stage) => (await findLosses(stage, 1)).findings,
    ),
  "refused disk": (engine, folder, subject) =>
    untilFound(stagesFor(engine, folder, sizesOf(refusedSizes, subject)), async (stage) => {
      const kinds = Object.keys(codes).map(Number);
      const refusals = [
        { kinds, forever: false },
        { kinds: ["short" as const], forever: false },
      ];
      return findRefusals(stage, refusals).findings;
    }),
  "many processes": async (engine, folder) => {
    mkdirSync(join(folder, "crowd"));
    const crowd = { writers: 4, readers: 1, count: 150, durability: "os", compactEvery: 3, kills: 1, seed: 7 } as const;
    return (await findCollisions(engine, join(folder, "crowd", "jobs.jsonl"), crowd)).findings;
  },
  "hostile bytes": async ({ api }, folder) => {
    return (await findMisreadings({ api, folder: join(folder, "fuzz"), seed: 11, inputs: 3000, most: 1 })).findings;
  },
};
