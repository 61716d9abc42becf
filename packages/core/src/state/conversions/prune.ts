import { join } from "node:path";
import { applyPlan, type Store } from "@reeve/store";
import { type Episode, imagesFolder, openEpisodes, settled } from "./episode.ts";
import { applyOptions, type ConversionPlace } from "./place.ts";
import { isOver, readStamp, writeStamp } from "./stamp.ts";

/**
 * Writes down how interrupted episodes ended, and removes the pre-images of those that ended seven days ago, or that never
 * changed anything. The caller holds the layer's lock.
 */
export async function pruneEpisodes(place: ConversionPlace): Promise<void> {
  const store = openEpisodes(place, { readOnly: false });
  try {
    await pruneAll(place, store);
  } finally {
    await store.close();
  }
  const stamp = readStamp(place);
  if (stamp?.kept === true && isOver(place, stamp.committed_at)) {
    await applyPlan({ changes: [writeStamp(place, { ...stamp, kept: false })] }, applyOptions(place));
  }
}

async function pruneAll(place: ConversionPlace, store: Store<Episode>): Promise<void> {
  for (const episode of settled(place, store)) {
    const known = store.get(episode.id);
    const pruned = episode.pruned || isDue(place, episode);
    if (known?.state !== episode.state || known.pruned !== pruned) await store.put({ ...episode, pruned });
  }
  const kept = [...store.entries()].flatMap(([, { pruned, files }]) =>
    pruned ? [] : files.map(({ before }) => before),
  );
  await removeImages(place, new Set(kept));
}

function isDue(place: ConversionPlace, { state, ended_at }: Episode): boolean {
  return state === "abandoned" || (state !== "open" && ended_at !== null && isOver(place, ended_at));
}

async function removeImages(place: ConversionPlace, kept: ReadonlySet<string | null>): Promise<void> {
  const root = imagesFolder(place);
  for (const { name, kind } of place.system.list(root) ?? []) {
    if (kind !== "file" || kept.has(name)) continue;
    await applyPlan({ changes: [{ kind: "remove", root, path: name }] }, { journal: join(root, "journal") });
  }
}
