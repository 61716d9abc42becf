import { readdirSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ensureDirSync, infoOf, replaceFile, syncDirectory, unlinkFile } from "./atomic.ts";
import { checksum } from "./checksum.ts";
import { anchorOf, readWhole } from "./digest.ts";
import { errnoOf, StoreError, toStoreError } from "./errors.ts";
import { type JournalledStep, parseJournal, renderJournal, type Staged } from "./journal-form.ts";
import { readBefore } from "./judge.ts";
import type { Step } from "./steps.ts";
import { sweepTemporaries } from "./temporaries.ts";

/** Contents longer than this lie beside the journal rather than in it. */
const inlineLimit = 256 * 1024;

/**
 * Writes down what is about to be done, with what each step finds, and answers the steps with that when it is
 * on the disk. Contents too large for the journal are staged first: the journal's own appearance is what makes the plan binding.
 */
export function writeJournal(path: string, steps: readonly Step[]): readonly Step[] {
  ensureDirSync(dirname(path), { mode: 0o700 });
  sweepTemporaries([path]);
  const sealed = steps.map(sealStep);
  const entries = sealed.map((step, index) => stageStep(path, index, step));
  if (entries.some(({ staged }) => staged !== undefined)) syncDirectory(stagedFolder(path));
  replaceFile(path, renderJournal(entries), { mode: 0o600 });
  syncDirectory(dirname(path));
  return sealed;
}

/**
 * The steps of a journal, or `undefined` when there is none. Throws `DAMAGED` or `NEWER`, naming the journal, which is
 * left untouched. One that its writer takes away, or replaces by the next, while it is read is none, or is read again.
 */
export function readJournal(path: string): Step[] | undefined {
  const info = infoOf(path);
  if (info === undefined) return undefined;
  if (!info.isFile()) throw new StoreError("REFUSED_PATH", `${path}: is not a journal`, { path });
  try {
    return parseJournal(readWhole(path), path).map(({ step, staged }) => {
      return staged === undefined ? step : ({ ...step, bytes: readStaged(path, staged) } as Step);
    });
  } catch (error) {
    const now = infoOf(path);
    if (now !== undefined && now.ino === info.ino && now.mtimeMs === info.mtimeMs) throw error;
    return readJournal(path);
  }
}

/**
 * Takes a journal away of which nothing is left to do, and its staged contents after it. Only a journal that stays is an
 * error: one that comes back, for its removal was not synced, is found to be done, and staged contents left behind go
 * with the next plan.
 */
export function removeJournal(path: string): void {
  unlinkFile(path);
  try {
    syncDirectory(dirname(path));
    removeStaged(path);
  } catch {
    // As said above.
  }
}

/** Removes staged contents without a journal: what a crash before the journal was complete left behind. */
export function removeStaged(path: string): void {
  const folder = stagedFolder(path);
  if (infoOf(folder) === undefined) return;
  try {
    for (const name of readdirSync(folder)) unlinkFile(join(folder, name));
    rmdirSync(folder);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw toStoreError(error, folder, "remove the staged contents");
  }
}

function stagedFolder(path: string): string {
  return join(dirname(path), `${basename(path)}.staged`);
}

function sealStep(step: Step): Step {
  const before = step.before ?? readBefore(step);
  if (step.kind !== "append") return { ...step, before };
  return { ...step, before, anchor: anchorOf(step.place.real, step.offset) };
}

function stageStep(path: string, index: number, step: Step): JournalledStep {
  if (!("bytes" in step) || step.bytes.length <= inlineLimit) return { step };
  const staged: Staged = { name: String(index), checksum: checksum(step.bytes) };
  ensureDirSync(stagedFolder(path), { mode: 0o700 });
  replaceFile(join(stagedFolder(path), staged.name), step.bytes, { mode: 0o600 });
  return { step, staged };
}

function readStaged(path: string, staged: Staged): Uint8Array {
  const file = join(stagedFolder(path), staged.name);
  const bytes = infoOf(file)?.isFile() === true ? readWhole(file) : undefined;
  if (bytes === undefined || checksum(bytes) !== staged.checksum) {
    throw new StoreError("DAMAGED", `${file}: a content of the pending plan is missing or changed`, { path: file });
  }
  return bytes;
}
