import { dirname } from "node:path";
import { readWhole } from "./digest.ts";
import { type Draft, definedModes, deriveOutcome, inTheWay, kindNow } from "./draft.ts";
import { StoreError } from "./errors.ts";
import { badPlan, type Change, type Plan, type RenameChange } from "./plan.ts";
import { followPlace, type Image, isInside, type Place, type PlaceCache, readImage, readPlace } from "./rooted.ts";
import type { RenameStep, Step } from "./steps.ts";

/** A plan compared with the disk. */
export interface Prepared {
  /** What has to be done, in order; each path at most once, but for a file that is moved away and made anew. */
  readonly steps: readonly Step[];
  /** Paths that already are as the plan wants them. */
  readonly unchanged: readonly string[];
}

/**
 * Proves every path, checks every expectation and compares with what is there, before anything is changed. Changes of one
 * path become one step. Throws `REFUSED_PATH`, `CONFLICT`, `NOT_FOUND` or `BAD_VALUE`.
 */
export function readSteps(plan: Plan): Prepared {
  const reading: Reading = { drafts: new Map(), moves: [], cache: new Map() };
  plan.changes.forEach((change, at) => {
    if (change.kind === "rename") readMove(reading, change, at);
    else readChange(reading, change, at);
  });
  const steps: { at: number; step: Step }[] = reading.moves.map(({ at, step }) => ({ at, step }));
  const unchanged: string[] = [];
  for (const draft of reading.drafts.values()) {
    const needed = stepsOf(draft).map((step) => withBefore(step, draft.initial));
    if (needed.length === 0) unchanged.push(draft.place.shown);
    for (const step of needed) steps.push({ at: draft.at, step });
  }
  steps.sort((left, right) => left.at - right.at);
  return { steps: steps.map(({ step }) => step), unchanged };
}

interface Move {
  readonly at: number;
  readonly step: RenameStep;
}

interface Reading {
  /** By real path. */
  readonly drafts: Map<string, Draft>;
  readonly moves: Move[];
  readonly cache: PlaceCache;
}

function readChange(reading: Reading, change: Exclude<Change, { kind: "rename" }>, at: number): void {
  let place = readPlace(change.root, change.path, reading.cache);
  if (reading.drafts.get(place.real) === undefined) {
    const found = imageOf(reading, place.real);
    if (found.kind === "link" && followed(change, place)) place = followPlace(place);
  }
  checkSurroundings(reading, place);
  const known = reading.drafts.get(place.real);
  const draft: Draft = known ?? { place, initial: imageOf(reading, place.real), outcome: { kind: "kept" }, at };
  reading.drafts.set(place.real, { ...draft, outcome: deriveOutcome(draft, change), at });
}

/** Is the link at the path to be looked through? A link that stands for a folder does where a folder is wanted. */
function followed(change: Exclude<Change, { kind: "rename" }>, place: Place): boolean {
  switch (change.kind) {
    case "symlink":
      return false;
    case "mkdir":
      return true;
    case "chmod":
      throw inTheWay(place.shown, "link");
    default:
      if (change.kind === "remove" && change.link === true) return false;
      if (change.follow !== true) throw inTheWay(place.shown, "link");
      return true;
  }
}

function readMove(reading: Reading, change: RenameChange, at: number): void {
  const from = readPlace(change.root, change.from, reading.cache);
  const place = readPlace(change.root, change.path, reading.cache);
  checkSurroundings(reading, from);
  checkSurroundings(reading, place);
  for (const real of reading.drafts.keys()) {
    if (isInside(from.real, real)) throw badPlan(from.shown, "is changed earlier in the plan and cannot be moved");
    if (isInside(place.real, real)) throw badPlan(place.shown, "is changed earlier in the plan and cannot be moved to");
  }
  if (isInside(from.real, place.real)) throw badPlan(from.shown, "cannot be moved into itself");
  const source = imageOf(reading, from.real);
  if (source.kind === "absent") {
    throw new StoreError("NOT_FOUND", `${from.shown}: is not there to be moved`, { path: from.shown });
  }
  if (source.kind === "other") throw inTheWay(from.shown, source.kind);
  const target = imageOf(reading, place.real);
  if (target.kind !== "absent") {
    throw new StoreError("CONFLICT", `${place.shown}: is there already; nothing was changed`, { path: place.shown });
  }
  reading.moves.push({ at, step: { kind: "rename", from, place, ...definedModes(change) } });
}

/** What lies at a real path once the moves so far are done. */
function imageOf(reading: Reading, real: string): Image {
  if (reading.moves.some(({ step }) => isInside(step.from.real, real))) return { kind: "absent" };
  return readImage(real);
}

/** Refuses a path below what the plan makes a file or link, and one inside what it has moved. */
function checkSurroundings(reading: Reading, place: Place): void {
  for (const { step } of reading.moves) {
    if (isInside(step.place.real, place.real)) {
      throw badPlan(place.shown, "lies in what the plan has just moved there");
    }
  }
  for (let folder = dirname(place.real); isInside(place.realRoot, folder); folder = dirname(folder)) {
    const above = reading.drafts.get(folder);
    if (above !== undefined) {
      const kind = kindNow(above);
      if (kind !== "directory" && kind !== "absent") throw badPlan(place.shown, `lies below ${folder}, not a folder`);
    }
    if (folder === place.realRoot) break;
  }
}

function stepsOf({ place, initial, outcome }: Draft): Step[] {
  switch (outcome.kind) {
    case "kept":
      return chmodOf(place, initial, outcome.mode);
    case "file":
      if (initial.kind === "file" && holds(place.real, initial.size, outcome.bytes)) {
        return chmodOf(place, initial, outcome.mode);
      }
      return [{ kind: "write", place, bytes: outcome.bytes, grows: outcome.grows === true, ...definedModes(outcome) }];
    case "grown": {
      const chmod = chmodOf(place, initial, outcome.mode);
      if (outcome.tail.length === 0 || initial.kind !== "file") return chmod;
      return [{ kind: "append", place, bytes: outcome.tail, offset: initial.size }, ...chmod];
    }
    case "absent":
      return initial.kind === "absent" ? [] : [{ kind: "remove", place }];
    case "link":
      if (initial.kind === "link" && initial.target === outcome.target) return [];
      return [{ kind: "symlink", place, target: outcome.target, ...definedModes(outcome) }];
    case "directory":
      return [{ kind: "mkdir", place, ...definedModes(outcome) }];
  }
}

/** That a path is free may be the plan's own doing, and not be seen on the disk yet. */
function withBefore(step: Step, initial: Image): Step {
  return initial.kind === "absent" ? { ...step, before: { kind: "absent" } } : step;
}

function chmodOf(place: Place, initial: Image, mode: number | undefined): Step[] {
  if (mode === undefined || !("mode" in initial) || initial.mode === mode) return [];
  return [{ kind: "chmod", place, mode }];
}

function holds(path: string, size: number, bytes: Uint8Array): boolean {
  return size === bytes.length && readWhole(path).equals(bytes);
}
