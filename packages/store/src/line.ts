import { StoreError } from "./errors.ts";
import { maxDepth } from "./strict.ts";

/**
 * The one spelling of an entry: JSON on one line without spaces, the key member first (where one is named), then all
 * members in code-unit order, at every depth. The text has no newline at its end and none inside, nor U+2028 or U+2029.
 * Throws `BAD_VALUE`, naming the member, for what JSON cannot hold: `undefined`, functions, symbols, big integers,
 * non-finite numbers, lone surrogates, cycles, instances of classes.
 */
export function encodeLine(value: unknown, keyMember?: string): string {
  const trail: Trail = [];
  if (!isPlainObject(value)) throw refused(trail, "an entry must be a plain object");
  if (keyMember !== undefined && !Object.hasOwn(value, keyMember)) {
    throw refused(trail, `the key member ${JSON.stringify(keyMember)} is missing`);
  }
  const ordered = orderObject(value, { key: keyMember, depth: 0 });
  const text = ordered === unfit ? undefined : JSON.stringify(ordered);
  if (text === undefined || text.includes("\\ud")) return encodeObject(value, trail, keyMember);
  return text.replace(lineSeparators, escapeSeparator);
}

/** What cannot be ordered by ordering a copy's members: it takes the long way, which also says what is wrong with it. */
const unfit: unique symbol = Symbol("unfit");

interface Level {
  readonly key?: string | undefined;
  readonly depth: number;
}

/** A copy whose members come in the order they are written in. */
function orderObject(members: Readonly<Record<string, unknown>>, { key, depth }: Level): object | typeof unfit {
  if (depth > 32) return unfit;
  const copy: Record<string, unknown> = {};
  for (const name of namesOf(members, key)) {
    // Names like numbers come first in an object, whatever the order they were added in.
    if (/^(?:\d|__proto__$|toJSON$)/.test(name)) return unfit;
    const value = orderValue(members[name], depth);
    if (value === unfit) return unfit;
    copy[name] = value;
  }
  return copy;
}

function orderValue(value: unknown, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : unfit;
  if (typeof value !== "object" || depth > 32) return unfit;
  if (!Array.isArray(value)) return isPlainObject(value) ? orderObject(value, { depth: depth + 1 }) : unfit;
  const copy: unknown[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const item = orderValue(value[index], depth + 1);
    if (item === unfit) return unfit;
    copy.push(item);
  }
  return copy;
}

function namesOf(members: Readonly<Record<string, unknown>>, first: string | undefined): string[] {
  const names = Object.keys(members).sort();
  if (first !== undefined) names.unshift(...names.splice(names.indexOf(first), 1));
  return names;
}

/** The members and indexes that lead to where the encoder is, for errors. */
type Trail = (string | number)[];

const loneSurrogate = /\p{Cs}/u;
const lineSeparators = /[\u2028\u2029]/g;

function encodeValue(value: unknown, trail: Trail): string {
  if (typeof value === "string") return encodeString(value, trail);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw refused(trail, "is not a finite number");
    return JSON.stringify(value);
  }
  if (typeof value === "boolean" || value === null) return String(value);
  if (typeof value !== "object") throw refused(trail, `is ${typeof value}, which JSON cannot hold`);
  if (trail.length >= maxDepth) throw refused([], "is cyclic or nested too deeply");
  if (Array.isArray(value)) return encodeArray(value, trail);
  if (!isPlainObject(value)) throw refused(trail, "is not a plain object");
  return encodeObject(value, trail);
}

function encodeArray(items: readonly unknown[], trail: Trail): string {
  let text = "[";
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) text += ",";
    trail.push(index);
    text += encodeValue(items[index], trail);
    trail.pop();
  }
  return `${text}]`;
}

function encodeObject(members: Readonly<Record<string, unknown>>, trail: Trail, first?: string): string {
  let text = "{";
  for (const name of namesOf(members, first)) {
    if (text.length > 1) text += ",";
    trail.push(name);
    text += `${encodeString(name, trail)}:${encodeValue(members[name], trail)}`;
    trail.pop();
  }
  return `${text}}`;
}

function encodeString(value: string, trail: Trail): string {
  if (loneSurrogate.test(value)) throw refused(trail, "holds a lone surrogate");
  return JSON.stringify(value).replace(lineSeparators, escapeSeparator);
}

function escapeSeparator(separator: string): string {
  return separator === "\u2028" ? "\\u2028" : "\\u2029";
}

/** Plain also across realms, where another `Object.prototype` is at the end of the chain. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function refused(trail: Trail, reason: string): StoreError {
  const member = trail.reduce<string>(
    (at, step) => (typeof step === "number" ? `${at}[${step}]` : `${at}.${step}`),
    "$",
  );
  return new StoreError("BAD_VALUE", `${member}: ${reason}`, { details: { member, reason } });
}
