import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { checksumOfWords } from "../checksum.ts";
import type { Tree } from "../testing/tree.ts";

/** A store's file and its index, both on the disk. */
export interface IndexedStore {
  readonly store: string;
  readonly index: string;
}

/**
 * A file that is put back has another inode and other times than the one an index tells of, so that no index would ever be
 * looked at. Where the disk kept the file's size and times as the index knew them, whatever became of its bytes, this
 * writes the new ones into the index; answers whether it did.
 */
export function adoptIndex({ store, index }: IndexedStore, tree: Tree): boolean {
  const file = tree.get(basename(store));
  const kept = tree.get(basename(index));
  if (file === undefined || kept === undefined) return false;
  const known = file.changes.filter((call) => call < kept.touched).at(-1) ?? 0;
  return file.touched === known && rewriteIndex({ store, index });
}

/** Writes the store's inode and times into its index, if that is whole and of a file of that size. */
function rewriteIndex({ store, index }: IndexedStore): boolean {
  if (!existsSync(index)) return false;
  const bytes = readFileSync(index);
  const start = bytes.indexOf(0x0a) + 1;
  if (bytes.length % 4 !== 0) return false;
  if (checksumOfWords(bytes.subarray(16)) !== bytes.subarray(0, 16).toString("latin1")) return false;
  const header = JSON.parse(bytes.toString("utf8", 16, start)) as Record<string, unknown>;
  const info = statSync(store, { bigint: true });
  if (header["size"] !== String(info.size)) return false;
  const times = { mtimeNs: String(info.mtimeNs), ctimeNs: String(info.ctimeNs) };
  const head = Buffer.from(JSON.stringify({ ...header, inode: String(info.ino), ...times }), "utf8");
  const padding = " ".repeat(7 - (head.length % 8));
  const body = Buffer.concat([head, Buffer.from(`${padding}\n`), bytes.subarray(start)]);
  writeFileSync(index, Buffer.concat([Buffer.from(checksumOfWords(body), "latin1"), body]));
  return true;
}
