import { closeSync, fstatSync } from "node:fs";
import { infoOf } from "./atomic.ts";
import { KeyTable, type Place } from "./key-table.ts";
import { openLines } from "./line-reader.ts";
import { LineScanner, type ScannedLine } from "./line-scanner.ts";
import { type LockOptions, releaseLock, takeLock } from "./lock.ts";
import { refuseNoFile } from "./store-place.ts";
import { damagedPathOf, type RewriteReport, rewriteLines } from "./store-rewrite.ts";
import type { DamagedLine } from "./store-view.ts";

/** What lies in a file of lines. */
export interface LinesReport {
  readonly path: string;
  readonly exists: boolean;
  /** The file's size. */
  readonly bytes: number;
  /** All lines, damaged and blank ones included. */
  readonly lines: number;
  /** Lines that hold an entry, superseded ones included. */
  readonly entries: number;
  /** In a store: keys that are there, and lines that remove one. */
  readonly keys: number | undefined;
  readonly removals: number;
  readonly blank: number;
  readonly damaged: readonly DamagedLine[];
  /** The last line has no newline. */
  readonly isUnfinished: boolean;
}

/** How a file of lines is read. */
export interface InspectOptions {
  /** The key member of a store; left out, the file is a log. */
  readonly key?: string | undefined;
  /** The decoder; a line it refuses is damaged. */
  readonly parse?: ((value: unknown) => unknown) | undefined;
}

/** Reads a store or log from end to end in bounded memory and writes nothing. Throws `REFUSED_PATH` for what is no file. */
export function inspectLines(path: string, options: InspectOptions = {}): LinesReport {
  const file = openFile(path);
  const found = { entries: 0, removals: 0, blank: 0, isUnfinished: false };
  const damaged: DamagedLine[] = [];
  const table = new KeyTable();
  const count = (what: "entries" | "removals" | "blank", { isTail }: Readonly<ScannedLine>): void => {
    found[what] += 1;
    if (isTail) found.isUnfinished = true;
  };
  let lines = 0;
  let bytes = 0;
  if (file !== undefined) {
    try {
      bytes = fstatSync(file).size;
      lines = new LineScanner({ path, key: options.key, decode: options.parse }).scan(
        file,
        { from: 0, line: 1 },
        {
          entry: (line, key) => {
            count("entries", line);
            if (options.key !== undefined) table.set(key, line);
          },
          removal: (line, key) => {
            count("removals", line);
            table.delete(key);
          },
          damaged: (line, reason) => {
            damaged.push(damagedOf(line, reason));
            if (line.isTail) found.isUnfinished = true;
          },
          blank: (line) => count("blank", line),
        },
      );
    } finally {
      closeSync(file);
    }
  }
  const keys = options.key === undefined ? undefined : table.size;
  return { path, exists: file !== undefined, bytes, lines, keys, damaged, ...found };
}

/** How a file of lines is repaired. */
export interface RepairOptions extends InspectOptions {
  /** Default: the path and `.lock`. */
  readonly lockPath?: string;
  readonly lock?: LockOptions;
  /** Says what would be done, takes no lock and writes nothing. */
  readonly dryRun?: boolean;
}

/**
 * Moves the damaged lines of a store or log to `<file>.damaged`, byte for byte; every other line stays as and where it is.
 * Under the file's lock; a crash leaves the file as it was or repaired.
 */
export async function repairLines(path: string, options: RepairOptions = {}): Promise<RewriteReport> {
  if (options.dryRun === true || infoOf(path) === undefined) return repair(path, options);
  const hold = await takeLock(options.lockPath ?? `${path}.lock`, options.lock ?? {});
  try {
    return repair(path, options);
  } finally {
    releaseLock(hold);
  }
}

function repair(path: string, options: RepairOptions): RewriteReport {
  const { damaged, lines, bytes } = inspectLines(path, options);
  const lost = damaged.reduce((sum, { length, isTail }) => sum + length + (isTail ? 0 : 1), 0);
  const report: RewriteReport = {
    changed: damaged.length > 0,
    linesBefore: lines,
    linesAfter: lines - damaged.length,
    bytesBefore: bytes,
    bytesAfter: bytes - lost,
    moved: damaged,
    damagedPath: damagedPathOf(path),
  };
  const file = report.changed && options.dryRun !== true ? openFile(path) : undefined;
  if (file === undefined) return report;
  try {
    rewriteLines({ path, file, parts: between(damaged, bytes), damaged });
  } finally {
    closeSync(file);
  }
  return report;
}

/** What lies before, between and after the damaged lines; a part ends before the newline that is added to it. */
function* between(damaged: readonly Place[], size: number): Generator<Place> {
  let at = 0;
  for (const { offset, length } of [...damaged, { offset: size, length: 0 }]) {
    if (offset > at) yield { offset: at, length: offset - at - 1 };
    at = offset + length + 1;
  }
}

function damagedOf({ number, offset, length, isTail }: Readonly<ScannedLine>, reason: string): DamagedLine {
  return { line: number, reason, offset, length, isTail };
}

function openFile(path: string): number | undefined {
  refuseNoFile(path);
  return openLines(path);
}
