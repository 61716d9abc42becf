import { readPart, readWhole, sha256 } from "./digest.ts";
import { StoreError } from "./errors.ts";
import { type AppendChange, badPlan, type Change, contentOf, type Expectation } from "./plan.ts";
import type { Image, Place } from "./rooted.ts";

/** What a path will hold once the plan is done, as far as its changes have been looked at. */
export type Outcome =
  | { readonly kind: "kept"; readonly mode?: number }
  | {
      readonly kind: "file";
      readonly bytes: Uint8Array;
      readonly mode?: number;
      readonly dirMode?: number;
      readonly grows?: boolean;
    }
  | { readonly kind: "grown"; readonly tail: Uint8Array; readonly mode?: number }
  | { readonly kind: "absent" }
  | { readonly kind: "link"; readonly target: string; readonly dirMode?: number }
  | { readonly kind: "directory"; readonly mode?: number; readonly dirMode?: number };

/** Everything a plan does to one path, drawn together: it becomes one step, whatever the number of changes. */
export interface Draft {
  readonly place: Place;
  /** What lay there before the plan. */
  readonly initial: Image;
  readonly outcome: Outcome;
  /** The position of the last change that touched the path. */
  readonly at: number;
}

type ContentChange = Exclude<Change, { kind: "rename" }>;

/** What will lie at the path after the changes drawn together so far. */
export function kindNow({ initial, outcome }: Draft): Image["kind"] {
  if (outcome.kind === "kept") return initial.kind;
  return outcome.kind === "grown" ? "file" : outcome.kind;
}

/** Adds a change to what the plan already does to the path; refuses what cannot be done there. */
export function deriveOutcome(draft: Draft, change: ContentChange): Outcome {
  const now = kindNow(draft);
  const path = draft.place.shown;
  switch (change.kind) {
    case "write":
      if (now !== "file" && now !== "absent") throw inTheWay(path, now);
      checkExpectation(draft, change.expect);
      return { kind: "file", bytes: contentOf(change.bytes), ...modes(change, draft.outcome) };
    case "append":
      if (now !== "file" && now !== "absent") throw inTheWay(path, now);
      return appended(draft, change);
    case "remove":
      if (now !== "file" && now !== "absent" && now !== "link") throw inTheWay(path, now);
      checkExpectation(draft, change.expect);
      return { kind: "absent" };
    case "symlink":
      if (now !== "link" && now !== "absent") throw inTheWay(path, now);
      return { kind: "link", target: change.target, ...definedModes({ dirMode: change.dirMode }) };
    case "mkdir":
      if (now === "directory") return draft.outcome;
      if (now !== "absent") throw inTheWay(path, now);
      if (draft.initial.kind !== "absent") throw badPlan(path, "a plan cannot put a folder where it removes a file");
      return { kind: "directory", ...definedModes(change) };
    case "chmod":
      if (now === "absent") throw new StoreError("NOT_FOUND", `${path}: is not there`, { path });
      if (now !== "file" && now !== "directory") throw inTheWay(path, now);
      return { ...draft.outcome, mode: change.mode } as Outcome;
  }
}

/** The mode and folder mode that are set, without members for those that are not. */
export function definedModes(of: { mode?: number | undefined; dirMode?: number | undefined }): {
  mode?: number;
  dirMode?: number;
} {
  return {
    ...(of.mode === undefined ? {} : { mode: of.mode }),
    ...(of.dirMode === undefined ? {} : { dirMode: of.dirMode }),
  };
}

/** An error about something of the wrong kind at a path. */
export function inTheWay(path: string, kind: Image["kind"]): StoreError {
  const names = {
    absent: "nothing",
    file: "a file",
    directory: "a folder",
    link: "a symbolic link",
    other: "a device",
  };
  return new StoreError("REFUSED_PATH", `${path}: ${names[kind]} is in the way`, { path, details: { kind } });
}

function modes(change: { mode?: number; dirMode?: number }, before: Outcome): { mode?: number; dirMode?: number } {
  const earlier = "mode" in before ? before.mode : undefined;
  return definedModes({ mode: change.mode ?? earlier, dirMode: change.dirMode });
}

function appended(draft: Draft, change: AppendChange): Outcome {
  const lines = wholeLines(contentOf(change.bytes));
  const { initial, outcome, place } = draft;
  if (outcome.kind === "file") return { ...outcome, bytes: joinLines(outcome.bytes, lines) };
  if (outcome.kind === "grown") return { ...outcome, tail: joinLines(outcome.tail, lines) };
  if (initial.kind === "file" && outcome.kind === "kept") {
    const torn = lines.length > 0 && initial.size > 0 && readPart(place.real, initial.size - 1, 1)[0] !== 0x0a;
    const tail = torn ? Buffer.concat([newline, lines]) : lines;
    return { kind: "grown", tail, ...definedModes(outcome) };
  }
  if (lines.length === 0) return outcome;
  return { kind: "file", bytes: lines, grows: true, ...definedModes(change) };
}

const newline = Buffer.from("\n");

function wholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 || bytes.at(-1) === 0x0a ? bytes : Buffer.concat([bytes, newline]);
}

function joinLines(first: Uint8Array, second: Uint8Array): Uint8Array {
  return second.length === 0 ? first : Buffer.concat([wholeLines(first), second]);
}

function checkExpectation(draft: Draft, expect: Expectation = "any"): void {
  if (expect === "any") return;
  const now = kindNow(draft);
  const path = draft.place.shown;
  if (expect === "absent") {
    if (now !== "absent") throw conflict(path, "is there, and was expected to be absent");
    return;
  }
  if (now !== "file") throw conflict(path, "is not the file that was expected");
  const bytes = contentNow(draft);
  const met = "sha256" in expect ? sha256(bytes) === expect.sha256 : contentOf(expect.bytes).equals(bytes);
  if (!met) throw conflict(path, "has changed since it was read");
}

function contentNow({ outcome, place }: Draft): Uint8Array {
  if (outcome.kind === "file") return outcome.bytes;
  const before = readWhole(place.real);
  return outcome.kind === "grown" ? Buffer.concat([before, outcome.tail]) : before;
}

function conflict(path: string, reason: string): StoreError {
  return new StoreError("CONFLICT", `${path}: ${reason}; nothing was changed`, { path });
}
