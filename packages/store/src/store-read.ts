import { type BigIntStats, lstatSync, readSync } from "node:fs";
import { toStoreError } from "./errors.ts";
import type { Place } from "./key-table.ts";

/** A part of an open file as text. Shorter than asked for where the file ends earlier. */
export function readText(file: number, path: string, { offset, length }: Readonly<Place>): string {
  const target = length > buffer.length ? Buffer.allocUnsafe(length) : buffer;
  try {
    return target.toString("utf8", 0, readSync(file, target, 0, length, offset));
  } catch (error) {
    throw toStoreError(error, path, "read the file");
  }
}

/** For the many lines that are short. */
const buffer: Buffer = Buffer.allocUnsafe(16 * 1024);

/** The object a text is; `undefined` when it is no JSON. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** What lies at a path, its times in nanoseconds; `undefined` when nothing does. */
export function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw toStoreError(error, path, "look at the file");
  }
}
