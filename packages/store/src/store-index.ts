import { type BigIntStats, fstatSync, fsyncSync, futimesSync } from "node:fs";
import { writeFileAtomicSync } from "./atomic.ts";
import { checksumOfWords } from "./checksum.ts";
import { readWhole } from "./digest.ts";
import { type KeyColumns, KeyTable } from "./key-table.ts";
import { hasNumber } from "./platform.ts";
import type { Contents, DamagedLine } from "./store-view.ts";
import { sweepTemporaries } from "./temporaries.ts";

/**
 * An index is a cache: what a store found in its file, kept beside it so that opening it again need not read the file. It is
 * good for exactly one state of the file, told by its inode, size and times; anything else and it is not looked at. Sixteen
 * digits of checksum, a line of JSON, and the table's columns in this machine's byte order.
 */
export interface IndexFile {
  readonly indexPath: string;
  /** The member whose values are the keys. */
  readonly key: string;
}

interface Header {
  readonly form: 1;
  readonly order: "little" | "big";
  readonly key: string;
  readonly inode: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
  readonly lines: number;
  readonly rows: number;
  readonly slots: number;
  readonly keys: number;
  readonly damaged: readonly DamagedLine[];
}

/** Smaller files are read as quickly as their index. */
export const indexFromBytes: number = 256 * 1024;

/** More damage than this is not worth remembering. */
const mostDamaged = 1000;

/** The content kept for the open file, or `undefined` when there is none that holds. */
export function readIndex({ indexPath, key }: IndexFile, file: number): Contents | undefined {
  const info = fstatSync(file, { bigint: true });
  if (info.size < indexFromBytes || !hasNumber(info)) return undefined;
  try {
    const bytes = readWhole(indexPath);
    const start = bytes.indexOf(0x0a) + 1;
    if (bytes.toString("latin1", 0, checksumLength) !== checksumOfWords(bytes.subarray(checksumLength)))
      return undefined;
    const header = JSON.parse(bytes.toString("utf8", checksumLength, start)) as Header;
    if (!isOf(header, info, key)) return undefined;
    const { lines, damaged } = header;
    return { table: KeyTable.from(columnsIn(bytes, start, header)), damaged, lines };
  } catch {
    return undefined;
  }
}

/**
 * Keeps the content of the open file, all of which is known. The caller holds the store's lock. A file that was changed a
 * moment ago gets a time of change no later change will repeat, for file systems count time in ticks.
 */
export function saveIndex({ indexPath, key }: IndexFile, file: number, contents: Contents): void {
  const { table, damaged, lines } = contents;
  const found = fstatSync(file, { bigint: true });
  if (found.size < indexFromBytes || !hasNumber(found) || damaged.length > mostDamaged) return;
  // After a power cut an index must not know more than its file holds.
  fsyncSync(file);
  const info = isRecent(found) ? stamp(file) : found;
  if (info === undefined) return;
  const columns = table.columns();
  const header: Header = {
    form: 1,
    order: byteOrder,
    key,
    inode: String(info.ino),
    size: String(info.size),
    mtimeNs: String(info.mtimeNs),
    ctimeNs: String(info.ctimeNs),
    lines,
    rows: columns.offsets.length,
    slots: columns.slots.length,
    keys: columns.keys.length,
    damaged,
  };
  const head = Buffer.from(JSON.stringify(header), "utf8");
  const padding = Buffer.alloc(7 - ((checksumLength + head.length) % 8), " ");
  const end = Buffer.alloc(paddingOf(columns.keys.length));
  const parts = [head, padding, Buffer.from("\n"), ...listOf(columns).map(bytesOf), end];
  const body = Buffer.concat(parts);
  sweepTemporaries([indexPath]);
  writeFileAtomicSync(indexPath, Buffer.concat([Buffer.from(checksumOfWords(body), "latin1"), body]), {
    mode: Number(info.mode & 0o777n),
  });
}

const checksumLength = 16;
const byteOrder: Header["order"] = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? "little" : "big";

/** The whole has a length that is a multiple of four. */
function paddingOf(keys: number): number {
  return (4 - (keys % 4)) % 4;
}

function isOf(header: Header, info: BigIntStats, key: string): boolean {
  return (
    header.form === 1 &&
    header.order === byteOrder &&
    header.key === key &&
    header.inode === String(info.ino) &&
    header.size === String(info.size) &&
    header.mtimeNs === String(info.mtimeNs) &&
    header.ctimeNs === String(info.ctimeNs)
  );
}

/** Within the coarsest tick that a change and this look could share. */
function isRecent({ ctimeMs }: BigIntStats): boolean {
  return Math.abs(Date.now() - Number(ctimeMs)) < 2000;
}

/** Gives the file a time of change with a fraction that no clock tick has; `undefined` where times are not that fine. */
function stamp(file: number): BigIntStats | undefined {
  const info = fstatSync(file);
  futimesSync(file, info.atimeMs / 1000, (Date.now() + 0.1 + 0.8 * Math.random()) / 1000);
  const stamped = fstatSync(file, { bigint: true });
  return stamped.mtimeNs % 1_000_000n === 0n ? undefined : stamped;
}

function listOf({ offsets, hashes, lengths, keyOffsets, keyLengths, slots, keys }: KeyColumns): readonly Column[] {
  return [offsets, hashes, lengths, keyOffsets, keyLengths, slots, keys];
}

type Column = Float64Array | Int32Array | Uint32Array | Uint8Array;

function bytesOf(column: Column): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

/** Views of the file's own bytes; the longest members come first, so that each begins where its type may. */
function columnsIn(bytes: Buffer, start: number, { rows, slots, keys }: Header): KeyColumns {
  if (bytes.length !== start + rows * 24 + slots * 4 + keys + paddingOf(keys))
    throw new Error("the index has another length");
  const { buffer } = bytes;
  let at = bytes.byteOffset + start;
  const next = (width: number, count: number = rows): number => {
    at += count * width;
    return at - count * width;
  };
  return {
    offsets: new Float64Array(buffer, next(8), rows),
    hashes: new Int32Array(buffer, next(4), rows),
    lengths: new Uint32Array(buffer, next(4), rows),
    keyOffsets: new Uint32Array(buffer, next(4), rows),
    keyLengths: new Uint32Array(buffer, next(4), rows),
    slots: new Int32Array(buffer, next(4, slots), slots),
    keys: new Uint8Array(buffer, at, keys),
  };
}
