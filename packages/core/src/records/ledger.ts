import { type Change, encodeLine, parseLines } from "@reeve/store";
import { ReeveError } from "../findings/errors.ts";
import type { Head } from "../git/head.ts";
import { appendChange, type Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";
import { type EventName, envelopeMembers, isEventName, payloadProblem } from "./events.ts";
import { isTimestamp, timestamp } from "./time.ts";

/** The folder the ledger and its archives lie in. */
export const stateFolder: string = statePath(".ai/local/state/ledger.jsonl").replace(/\/[^/]+$/, "");
export const ledgerPath: string = statePath(".ai/local/state/ledger.jsonl");

/** One line of the ledger: the envelope and the payload members beside it. */
export interface LedgerEvent {
  readonly ts: string;
  readonly event: string;
  readonly head?: string;
  readonly branch?: string;
  readonly by?: string;
  readonly session?: string;
  readonly [member: string]: unknown;
}

export interface LedgerLine {
  readonly line: number;
  readonly text: string;
  readonly value: LedgerEvent;
}

export interface LedgerProblem {
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

export interface Ledger {
  readonly lines: readonly LedgerLine[];
  readonly problems: readonly LedgerProblem[];
  /** Lines in the file, damaged ones included. */
  readonly count: number;
}

/** Decodes one ledger line; throws with the reason. */
export function parseLedgerEvent(value: unknown): LedgerEvent {
  const members = value as Readonly<Record<string, unknown>>;
  const ts = members["ts"];
  const event = members["event"];
  if (typeof ts !== "string" || !isTimestamp(ts)) throw new Error("'ts' is no UTC time");
  if (typeof event !== "string" || event === "") throw new Error("'event' is missing");
  const problem = isEventName(event) ? payloadProblem(event, members) : undefined;
  if (problem !== undefined) throw new Error(problem);
  return members as LedgerEvent;
}

export function parseLedger(bytes: Uint8Array, path: string = ledgerPath): Ledger {
  const { entries, problems } = parseLines(bytes, { path, parse: parseLedgerEvent });
  const last = Math.max(entries.at(-1)?.line ?? 0, problems.at(-1)?.line ?? 0);
  return { lines: entries, problems, count: last };
}

export function readLedger(layer: Layer): Ledger {
  const bytes = layer.readBytes(ledgerPath);
  return bytes === undefined ? { lines: [], problems: [], count: 0 } : parseLedger(bytes);
}

export interface NewEvent {
  readonly event: EventName;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The text of one new line, envelope included. Members that are `undefined` are left out. */
export function renderEvent(layer: Layer, head: Head, entry: NewEvent): string {
  const payload = Object.fromEntries(Object.entries(entry.payload).filter(([, value]) => value !== undefined));
  const wrong =
    payloadProblem(entry.event, payload) ?? Object.keys(payload).find((key) => envelopeMembers.includes(key));
  if (wrong !== undefined) throw new ReeveError("INTERNAL", `ledger event refused: ${wrong}`);
  const line = encodeLine({
    ts: timestamp(layer.system.now()),
    event: entry.event,
    head: head.head ?? "NONE",
    branch: head.branch ?? "DETACHED",
    by: `reeve/${layer.version}`,
    ...payload,
  });
  return `${line}\n`;
}

export function ledgerChange(layer: Layer, head: Head, entry: NewEvent): Change {
  return appendChange(layer, ledgerPath, renderEvent(layer, head, entry));
}
