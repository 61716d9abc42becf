/** A line that holds an entry. */
export interface ReferenceEntry {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** What lies in a file of lines, read slowly and plainly: split at newlines, each line strictly, the last good one wins. */
export interface Reference {
  /** By key, in order of first appearance. */
  readonly entries: ReadonlyMap<string, ReferenceEntry>;
  readonly damaged: readonly { readonly line: number; readonly bytes: Buffer }[];
  /** Every line that holds a strict object, whatever its members. */
  readonly objects: readonly { readonly line: number; readonly value: unknown }[];
  /** Those that do not. */
  readonly broken: readonly number[];
  /** How many lines there are. */
  readonly lines: number;
}

/** Reads the bytes of a store whose key member is `id`, and of a log. */
export function readReference(bytes: Buffer): Reference {
  const entries = new Map<string, ReferenceEntry>();
  const damaged: { line: number; bytes: Buffer }[] = [];
  const objects: { line: number; value: unknown }[] = [];
  const broken: number[] = [];
  const lines = linesOf(bytes);
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    const text = textOf(raw);
    if (text !== undefined && /^[ \t\r]*$/.test(text)) continue;
    const value = text === undefined ? undefined : readObject(text);
    if (value === undefined) broken.push(line);
    else objects.push({ line, value });
    const meaning = value === undefined ? "damaged" : meaningOf(value);
    if (value === undefined || meaning === "damaged") {
      damaged.push({ line, bytes: raw });
      continue;
    }
    const key = String(value["id"]);
    if (meaning === "removal") entries.delete(key);
    else entries.set(key, { key, value, bytes: raw });
  }
  return { entries, damaged, objects, broken, lines: lines.length };
}

/** What comes after the last newline is a line too, unless it is nothing. */
function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== 0x0a) continue;
    lines.push(bytes.subarray(start, at));
    start = at + 1;
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  return lines;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

type Members = Readonly<Record<string, unknown>>;

function readObject(text: string): Members | undefined {
  if (!isStrictJson(text)) return undefined;
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

function meaningOf(value: Members): "entry" | "removal" | "damaged" {
  const names = Object.keys(value);
  const key = names.includes("id") ? value["id"] : undefined;
  if (typeof key !== "string" || key === "") return "damaged";
  if (names.some((name) => name.startsWith("$") && name !== "$deleted")) return "damaged";
  if (!names.includes("$deleted")) return "entry";
  return value["$deleted"] === true && names.length === 2 ? "removal" : "damaged";
}

/** JSON with no member twice, no lone surrogate, no number beyond a double and at most 512 containers in each other. */
export function isStrictJson(text: string): boolean {
  const cursor = { text, at: 0 };
  const isOne = takeValue(cursor, 0);
  take(cursor, /[ \t\r\n]*/y);
  return isOne && cursor.at === text.length;
}

interface Cursor {
  readonly text: string;
  at: number;
}

function take(cursor: Cursor, form: RegExp): string | undefined {
  form.lastIndex = cursor.at;
  const found = form.exec(cursor.text)?.[0];
  cursor.at += found?.length ?? 0;
  return found;
}

function takeValue(cursor: Cursor, depth: number): boolean {
  if (depth > 512) return false;
  take(cursor, /[ \t\r\n]*/y);
  if (take(cursor, /\{/y) !== undefined) return takeMembers(cursor, depth + 1);
  if (take(cursor, /\[/y) !== undefined) return takeItems(cursor, depth + 1);
  if (cursor.text[cursor.at] === '"') return takeString(cursor) !== undefined;
  const number = take(cursor, /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y);
  if (number !== undefined) return Number.isFinite(Number(number));
  return take(cursor, /true|false|null/y) !== undefined;
}

const plainForm = String.raw`[^"\\\x00-\x1f]`;
const escapeForm = String.raw`\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})`;
const stringForm = new RegExp(`"(?:${plainForm}|${escapeForm})*"`, "y");

function takeString(cursor: Cursor): string | undefined {
  const token = take(cursor, stringForm);
  if (token === undefined) return undefined;
  const value = JSON.parse(token) as string;
  return /\p{Cs}/u.test(value) ? undefined : value;
}

function takeMembers(cursor: Cursor, depth: number): boolean {
  if (depth > 512) return false;
  const names = new Set<string>();
  if (take(cursor, /[ \t\r\n]*\}/y) !== undefined) return true;
  do {
    take(cursor, /[ \t\r\n]*/y);
    const name = takeString(cursor);
    if (name === undefined || names.has(name)) return false;
    names.add(name);
    if (take(cursor, /[ \t\r\n]*:/y) === undefined || !takeValue(cursor, depth)) return false;
  } while (take(cursor, /[ \t\r\n]*,/y) !== undefined);
  return take(cursor, /[ \t\r\n]*\}/y) !== undefined;
}

function takeItems(cursor: Cursor, depth: number): boolean {
  if (depth > 512) return false;
  if (take(cursor, /[ \t\r\n]*\]/y) !== undefined) return true;
  do {
    if (!takeValue(cursor, depth)) return false;
  } while (take(cursor, /[ \t\r\n]*,/y) !== undefined);
  return take(cursor, /[ \t\r\n]*\]/y) !== undefined;
}
