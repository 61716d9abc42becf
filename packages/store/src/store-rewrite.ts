import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { infoOf, replaceFile, syncDirectory } from "./atomic.ts";
import { copyParts, type Part, readLineAt } from "./copy-parts.ts";
import { readWhole } from "./digest.ts";
import { StoreError, toStoreError } from "./errors.ts";
import type { Place } from "./key-table.ts";
import { refuseNoFile } from "./store-place.ts";
import type { DamagedLine, StoreView } from "./store-view.ts";
import { sweepTemporaries } from "./temporaries.ts";

/** What a compaction, a repair or a look at what they would do found. Sizes are bytes. */
export interface RewriteReport {
  /** Was the file replaced? */
  readonly changed: boolean;
  readonly linesBefore: number;
  readonly linesAfter: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Damaged lines, moved to {@link damagedPath}. */
  readonly moved: readonly DamagedLine[];
  readonly damagedPath: string;
}

/** Where damaged lines go: beside the file, byte for byte. */
export function damagedPathOf(path: string): string {
  return `${path}.damaged`;
}

/** The lines that stay, as parts of the open file in the order they are to have; a newline is added where one is missing. */
export interface Rewrite {
  readonly path: string;
  readonly file: number;
  readonly parts: Iterable<Part>;
  readonly damaged: readonly DamagedLine[];
}

/**
 * Replaces a file of lines by a part of its own lines, whole or not at all: damaged lines are on the disk in their own file
 * first, then the new file, then its name. The caller holds the lock. Throws `CONFLICT` when lines do not lie where they
 * should: somebody who does not know of the lock has changed the file in place.
 */
export function rewriteLines({ path, file, parts, damaged }: Rewrite): void {
  sweepTemporaries([path, damagedPathOf(path), `${path}.idx`]);
  try {
    keepDamaged(path, file, damaged);
    replaceFile(path, (target) => copyParts({ from: file, to: target, path }, parts), {});
    syncDirectory(dirname(path));
  } catch (error) {
    throw toStoreError(error, path, "rewrite the file");
  }
}

/**
 * One line for each key, in order of first appearance. The caller holds the store's lock; the view has taken in the file
 * as it is, and knows the new one after.
 */
export function compactView(view: StoreView, path: string): RewriteReport {
  try {
    return compactKnown(view, path);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "CONFLICT") throw error;
    view.reopen();
    return compactKnown(view, path);
  }
}

function compactKnown(view: StoreView, path: string): RewriteReport {
  const report = deriveCompaction(view, path);
  if (!report.changed) return report;
  rewriteLines({ path, file: view.file, parts: joined(placesOf(view)), damaged: report.moved });
  view.reopen({ table: view.table.packed(), damaged: [], lines: view.table.size });
  return report;
}

/** What {@link compactView} would do. */
export function deriveCompaction(view: StoreView, path: string): RewriteReport {
  view.judge();
  let bytesAfter = 0;
  for (const { length } of placesOf(view)) bytesAfter += length + 1;
  const bytesBefore = view.size;
  return {
    changed: bytesAfter !== bytesBefore || view.lines !== view.table.size || view.damaged.length > 0,
    linesBefore: view.lines,
    linesAfter: view.table.size,
    bytesBefore,
    bytesAfter,
    moved: view.damaged,
    damagedPath: damagedPathOf(path),
  };
}

function* placesOf({ table }: StoreView): Generator<Place> {
  const place: Place = { offset: 0, length: 0 };
  for (const row of table.rows()) {
    table.readPlace(row, place);
    yield place;
  }
}

/** As many lines are read at once. */
const mostLines = 1024;

/** Lines that follow each other in the file, with the newlines between, as one part. */
function* joined(places: Iterable<Readonly<Place>>): Generator<Part> {
  let run: (Place & { readonly ends: number[] }) | undefined;
  for (const { offset, length } of places) {
    if (run !== undefined && run.ends.length < mostLines && run.offset + run.length + 1 === offset) {
      run.length += length + 1;
      run.ends.push(offset + length);
      continue;
    }
    if (run !== undefined) yield run;
    run = { offset, length, ends: [offset + length] };
  }
  if (run !== undefined) yield run;
}

/** What an earlier try that was cut short after this step has added already is not added again. */
function keepDamaged(path: string, file: number, damaged: readonly DamagedLine[]): void {
  if (damaged.length === 0) return;
  const target = damagedPathOf(path);
  refuseNoFile(target);
  const kept = infoOf(target) === undefined ? Buffer.alloc(0) : readWhole(target);
  const lines = damaged.map((line) => Buffer.concat([readLineAt(file, path, line), newline]));
  const added = lines.slice(countKept(kept, lines));
  if (added.length === 0) return;
  const owner = lstatSync(path);
  replaceFile(target, Buffer.concat([kept, ...added]), { mode: owner.mode & 0o7777, owner });
  syncDirectory(dirname(target));
}

/** With how many of the lines, from the first one on, does the kept text end? */
function countKept(kept: Buffer, lines: readonly Buffer[]): number {
  for (let count = lines.length; count > 0; count -= 1) {
    const last = lines[count - 1] ?? newline;
    if (!kept.subarray(-last.length).equals(last)) continue;
    const beginning = Buffer.concat(lines.slice(0, count));
    if (kept.subarray(-beginning.length).equals(beginning)) return count;
  }
  return 0;
}

const newline = Buffer.from("\n");
