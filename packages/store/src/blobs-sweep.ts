import { lstatSync } from "node:fs";
import { join } from "node:path";
import { infoOf, unlinkFile } from "./atomic.ts";
import { type BlobPlace, blobInfo, entriesIn, foldersIn, isBlobName, writerOf } from "./blobs-place.ts";
import { StoreError } from "./errors.ts";
import { withLock } from "./lock.ts";
import { discard, isAlive } from "./temporaries.ts";

/** How a sweep goes. */
export interface BlobSweepOptions {
  /**
   * What was put within so many milliseconds stays: whoever put it may be about to say that it is kept. Default
   * 3,600,000 (an hour).
   */
  readonly graceMs?: number | undefined;
}

/** What a sweep removed. */
export interface BlobSweepReport {
  readonly removed: readonly string[];
  /** What the removed blobs took, in bytes. */
  readonly bytes: number;
  /** How many temporary files of writers that are gone. */
  readonly temporaries: number;
}

/** Removes what nobody keeps. */
export async function sweepBlobs(
  place: BlobPlace,
  isKept: (hash: string) => boolean,
  { graceMs = 3_600_000 }: BlobSweepOptions,
): Promise<BlobSweepReport> {
  if (!(graceMs >= 0)) {
    throw new StoreError("BAD_VALUE", `${place.path}: the grace must be a number of milliseconds, not ${graceMs}`);
  }
  const report = { removed: [] as string[], bytes: 0, temporaries: sweepTemporaries(place.path, graceMs) };
  for (const folder of foldersIn(place.path)) {
    const hashes = entriesIn(folder).filter((entry) => entry.isFile() && isBlobName(folder, entry.name));
    const loose = hashes.map(({ name }) => name).filter((hash) => !isKept(hash));
    const old = loose.filter((hash) => isOlder(join(folder, hash), graceMs));
    if (old.length === 0) continue;
    await withLock(place.lockPath, place.lock, async () => {
      for (const hash of old) {
        // A put since then has renewed it.
        const info = blobInfo(place.path, hash);
        if (info === undefined || !isOlder(join(folder, hash), graceMs)) continue;
        if (!unlinkFile(join(folder, hash))) continue;
        report.removed.push(hash);
        report.bytes += info.size;
      }
    });
  }
  return report;
}

function isOlder(path: string, graceMs: number): boolean {
  const info = infoOf(path);
  return info !== undefined && Date.now() - info.mtimeMs >= graceMs;
}

function sweepTemporaries(root: string, graceMs: number): number {
  let count = 0;
  for (const { name } of entriesIn(root)) {
    const writer = writerOf(name);
    if (writer === undefined || isAlive(writer) || !isOlder(join(root, name), graceMs)) continue;
    discard(join(root, name));
    if (lstatSync(join(root, name), { throwIfNoEntry: false }) === undefined) count += 1;
  }
  return count;
}
