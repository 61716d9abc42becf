import { isUtf8 } from "node:buffer";
import { messageOf, StoreError } from "./errors.ts";
import { parseStrict } from "./strict.ts";

/** A line that is no entry: it is skipped, and costs nothing but itself. */
export interface Problem {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** An entry of a log, and the line it stands on. */
export interface Entry<T> {
  /** From 1. */
  readonly line: number;
  readonly value: T;
  /** The line as it is written, without its newline. */
  readonly text: string;
}

/** Where lines come from and what they must be. */
export interface LineOptions<T> {
  /** For problems. */
  readonly path: string;
  /** Turns a line's object into an entry; what it throws makes the line a problem. Left out: the object as it is. */
  readonly parse?: ((value: unknown) => T) | undefined;
}

/** Longer lines are skipped unread. */
export const maxLineBytes: number = 256 * 1024 * 1024;

/**
 * Reads the lines of a log: one JSON object each, strictly. Damaged lines are skipped and reported, blank ones skipped.
 * The last line counts without its newline when it is a whole entry; otherwise it is a problem, `torn`.
 */
export function parseLines<T = unknown>(
  bytes: Uint8Array,
  options: LineOptions<T>,
): { entries: Entry<T>[]; problems: Problem[] } {
  const entries: Entry<T>[] = [];
  const problems: Problem[] = [];
  if (damageOf(bytes) === undefined) {
    const rows = textOf(bytes).split("\n");
    const tail = rows.pop() ?? "";
    for (const [index, text] of rows.entries()) {
      sort(parseText(text, { line: index + 1, isTail: false }, options), entries, problems);
    }
    if (tail !== "") sort(parseText(tail, { line: rows.length + 1, isTail: true }, options), entries, problems);
    return { entries, problems };
  }
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    line += 1;
    const stop = end === -1 ? bytes.length : end;
    sort(parseLine(bytes.subarray(start, stop), { line, isTail: end === -1 }, options), entries, problems);
    start = stop + 1;
  }
  return { entries, problems };
}

function sort<T>(found: Entry<T> | Problem | undefined, entries: Entry<T>[], problems: Problem[]): void {
  if (found === undefined) return;
  if ("reason" in found) problems.push(found);
  else entries.push(found);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Where a line stands, and whether its newline is missing. */
export interface LinePlace {
  readonly line: number;
  readonly isTail: boolean;
}

/** One line without its newline: an entry, a problem, or `undefined` for a blank line. */
export function parseLine<T>(
  bytes: Uint8Array,
  { line, isTail }: LinePlace,
  options: LineOptions<T>,
): Entry<T> | Problem | undefined {
  const { path } = options;
  const damage = damageOf(bytes);
  if (damage !== undefined) return { path, line, reason: isTail ? "torn" : damage };
  return parseText(textOf(bytes), { line, isTail }, options);
}

function parseText<T>(
  text: string,
  { line, isTail }: LinePlace,
  options: LineOptions<T>,
): Entry<T> | Problem | undefined {
  const { path } = options;
  if (/^[ \t\r]*$/.test(text)) return undefined;
  try {
    const value = parseStrict(text, { path, line });
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { path, line, reason: "not an object" };
    }
    return { line, value: options.parse === undefined ? (value as T) : options.parse(value), text };
  } catch (error) {
    if (isTail && error instanceof StoreError && error.code === "DAMAGED") return { path, line, reason: "torn" };
    return { path, line, reason: conflictMarker.test(text) ? "conflict marker" : reasonOf(error) };
  }
}

const conflictMarker = /^(?:<{7}|={7}|>{7}|\|{7})(?: |\r?$)/;

function damageOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > maxLineBytes) return "line too long";
  if (!isUtf8(bytes)) return "invalid UTF-8";
  return bytes.includes(0) ? "NUL byte" : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof StoreError) || error.code !== "DAMAGED") return messageOf(error);
  const { column, reason } = error.details;
  return typeof reason === "string" ? `column ${column}: ${reason}` : error.message;
}
