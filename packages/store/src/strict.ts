import { StoreError } from "./errors.ts";

/** Where a text comes from, for errors. */
export interface Source {
  readonly path: string;
  /** The number of the text's first line in that file, from 1. Default 1. */
  readonly line?: number | undefined;
}

/** Containers may lie this deep in each other; {@link parseStrict} and `encodeLine` refuse more. */
export const maxDepth = 512;

/**
 * Reads one JSON value and refuses what `JSON.parse` lets pass: duplicate members at any depth, a byte order mark, lone
 * surrogates (raw or escaped), numbers beyond the range of a double, nesting beyond {@link maxDepth}. Throws `DAMAGED`,
 * naming `path:line:column`; a column counts UTF-16 code units from 1, as editors do.
 */
export function parseStrict(text: string, source: Source): unknown {
  const canonical = readCanonical(text);
  return canonical === undefined ? readStrict(text, source) : canonical.value;
}

/**
 * A text that Node itself would write again exactly so has none of what is refused here: a duplicate member, an odd number
 * or a space would come back otherwise. Escaped lone surrogates would not, and nesting is counted.
 */
function readCanonical(text: string): { readonly value: unknown } | undefined {
  const shallow = text.length <= 2 * maxDepth || text.split("[").length + text.split("{").length <= maxDepth;
  if (!shallow || text.includes("\\ud")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function readStrict(text: string, source: Source): unknown {
  const cursor: Cursor = { text, at: 0, source };
  if (text.charCodeAt(0) === 0xfeff) fail(cursor, 0, "byte order mark");
  const lone = loneSurrogate.exec(text);
  if (lone !== null) fail(cursor, lone.index, "lone surrogate");
  skipSpace(cursor);
  const value = readValue(cursor, 0);
  skipSpace(cursor);
  if (cursor.at < text.length) fail(cursor, cursor.at, "text after the end of the value");
  return value;
}

interface Cursor {
  readonly text: string;
  at: number;
  readonly source: Source;
}

/** In a regular expression with the `u` flag only a surrogate without its partner is one. */
const loneSurrogate = /\p{Cs}/u;
const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function readValue(cursor: Cursor, depth: number): unknown {
  const code = cursor.text.charCodeAt(cursor.at);
  if (code === 0x22) return readString(cursor);
  if (code === 0x7b) return readObject(cursor, depth + 1);
  if (code === 0x5b) return readArray(cursor, depth + 1);
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return readNumber(cursor);
  if (code === 0x74) return readWord(cursor, "true", true);
  if (code === 0x66) return readWord(cursor, "false", false);
  if (code === 0x6e) return readWord(cursor, "null", null);
  return fail(cursor, cursor.at, unexpected(cursor));
}

function readObject(cursor: Cursor, depth: number): Record<string, unknown> {
  if (depth > maxDepth) fail(cursor, cursor.at, "nested too deeply");
  const { text } = cursor;
  const members: Record<string, unknown> = {};
  cursor.at += 1;
  skipSpace(cursor);
  if (text.charCodeAt(cursor.at) === 0x7d) {
    cursor.at += 1;
    return members;
  }
  for (;;) {
    const start = cursor.at;
    if (text.charCodeAt(start) !== 0x22) fail(cursor, start, unexpected(cursor));
    const name = readString(cursor);
    if (Object.hasOwn(members, name)) fail(cursor, start, `duplicate member ${JSON.stringify(name)}`);
    skipSpace(cursor);
    if (text.charCodeAt(cursor.at) !== 0x3a) fail(cursor, cursor.at, unexpected(cursor));
    cursor.at += 1;
    skipSpace(cursor);
    setMember(members, name, readValue(cursor, depth));
    if (endsAfter(cursor, 0x7d)) return members;
  }
}

function readArray(cursor: Cursor, depth: number): unknown[] {
  if (depth > maxDepth) fail(cursor, cursor.at, "nested too deeply");
  const items: unknown[] = [];
  cursor.at += 1;
  skipSpace(cursor);
  if (cursor.text.charCodeAt(cursor.at) === 0x5d) {
    cursor.at += 1;
    return items;
  }
  for (;;) {
    items.push(readValue(cursor, depth));
    if (endsAfter(cursor, 0x5d)) return items;
  }
}

/** After an item: takes a comma (and answers `false`) or the closing character (and answers `true`). */
function endsAfter(cursor: Cursor, closing: number): boolean {
  skipSpace(cursor);
  const code = cursor.text.charCodeAt(cursor.at);
  if (code !== closing && code !== 0x2c) fail(cursor, cursor.at, unexpected(cursor));
  cursor.at += 1;
  if (code === closing) return true;
  skipSpace(cursor);
  return false;
}

function setMember(members: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    members[name] = value;
  }
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at;
  let at = start + 1;
  let plain = true;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) break;
    if (Number.isNaN(code)) fail(cursor, text.length, "unexpected end");
    if (code < 0x20) fail(cursor, at, "control character in a string");
    if (code === 0x5c) {
      plain = false;
      at += 1;
    }
    at += 1;
  }
  cursor.at = at + 1;
  return plain ? text.slice(start + 1, at) : unescaped(cursor, start + 1, at);
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

function unescaped(cursor: Cursor, start: number, end: number): string {
  const { text } = cursor;
  let result = "";
  let from = start;
  for (let at = text.indexOf("\\", start); at !== -1 && at < end; at = text.indexOf("\\", from)) {
    result += text.slice(from, at);
    const letter = text.charAt(at + 1);
    if (letter === "u") {
      const digits = text.slice(at + 2, at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) fail(cursor, at, "broken escape in a string");
      result += String.fromCharCode(Number.parseInt(digits, 16));
      from = at + 6;
    } else {
      const meant = escapes[letter];
      if (meant === undefined) fail(cursor, at, "unknown escape in a string");
      result += meant;
      from = at + 2;
    }
  }
  result += text.slice(from, end);
  if (loneSurrogate.test(result)) fail(cursor, start - 1, "lone surrogate in a string");
  return result;
}

function readNumber(cursor: Cursor): number {
  numberForm.lastIndex = cursor.at;
  const found = numberForm.exec(cursor.text);
  if (found === null) return fail(cursor, cursor.at, unexpected(cursor));
  const value = Number(found[0]);
  if (!Number.isFinite(value)) fail(cursor, cursor.at, "number out of range");
  cursor.at += found[0].length;
  return value;
}

function readWord<Value>(cursor: Cursor, word: string, value: Value): Value {
  if (!cursor.text.startsWith(word, cursor.at)) fail(cursor, cursor.at, unexpected(cursor));
  cursor.at += word.length;
  return value;
}

function skipSpace(cursor: Cursor): void {
  for (;;) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    cursor.at += 1;
  }
}

function unexpected(cursor: Cursor): string {
  const point = cursor.text.codePointAt(cursor.at);
  if (point === undefined) return "unexpected end";
  return `unexpected ${JSON.stringify(String.fromCodePoint(point))}`;
}

function fail(cursor: Cursor, at: number, reason: string): never {
  const before = cursor.text.slice(0, at);
  const line = (cursor.source.line ?? 1) + before.split("\n").length - 1;
  const column = at - (before.lastIndexOf("\n") + 1) + 1;
  const { path } = cursor.source;
  throw new StoreError("DAMAGED", `${path}:${line}:${column}: ${reason}`, { path, line, details: { column, reason } });
}
