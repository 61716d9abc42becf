import type { Tree } from "../testing/tree.ts";

/** The library under test: what it exports, built from its source or from a broken copy of it. */
export type Api = typeof import("../index.ts");

/** A part of the library, a run of it that can be interrupted, and what has to hold after that. */
export interface Subject<Step> {
  readonly name: string;
  /** What the run does, one after the other; the same for the same size. */
  steps(size: number): readonly Step[];
  /** Puts what is there before the run into an empty folder. */
  prepare(root: string): void;
  /** Begins the run; nothing is done to the disk yet. */
  open(api: Api, root: string): Session<Step>;
  /** What a reader finds now; the same text for the same. Writes nothing. */
  look(api: Api, root: string): string;
  /** Is a step several calls at once, of which some may be done when one is refused? */
  readonly isJoint?: (step: Step) => boolean;
  /** What else has to be done to put a state on the disk. */
  readonly settle?: (root: string, tree: Tree) => void;
  /** Recovers after an interruption, goes on working, and answers what is wrong. */
  check(api: Api, root: string, moment: Moment<Step>): Promise<readonly string[]>;
}

/** A run under way. */
export interface Session<Step> {
  /** Resolves when the step is acknowledged. */
  run(step: Step): Promise<void>;
}

/** How far a run had come when it was interrupted. */
export interface Moment<Step> {
  readonly acknowledged: readonly Step[];
  /** The step that had begun and was not acknowledged. */
  readonly underWay: Step | undefined;
  /** Power was cut, so that what was not synced may be lost; otherwise the process was killed. */
  readonly isPowerCut: boolean;
  /** Look at everything, leftovers and a second recovery included. */
  readonly isThorough: boolean;
}

/** Calls a check and turns what it throws into a finding. */
export async function findingsOf(check: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await check();
  } catch (error) {
    return [`threw ${error instanceof Error ? error.stack : String(error)}`];
  }
}

/** A finding, unless both are the same. */
export function differing(what: string, found: unknown, expected: unknown): readonly string[] {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  return left === right ? [] : [`${what} is ${clipped(left)}, not ${clipped(right)}`];
}

function clipped(text: string | undefined): string {
  if (text === undefined) return "undefined";
  return text.length > 600 ? `${text.slice(0, 400)} … ${text.slice(-200)}` : text;
}
