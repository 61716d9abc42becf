import { dirname, relative, sep } from "node:path";
import { infoOf, syncDirectory } from "./atomic.ts";
import { StoreError } from "./errors.ts";
import { readJournal, removeJournal, removeStaged, writeJournal } from "./journal.ts";
import { readStanding } from "./judge.ts";
import { performStep, syncFile, truncateFile } from "./perform.ts";
import type { Plan } from "./plan.ts";
import { readSteps } from "./prepare.ts";
import { type PlaceCache, readPlace, readRoot } from "./rooted.ts";
import type { Step } from "./steps.ts";
import { sweepTemporaries } from "./temporaries.ts";

/** Where the plan is written down while it is done. */
export interface ApplyOptions {
  /** The journal's path. Whoever applies plans through one journal holds one lock while doing so. */
  readonly journal: string;
  /**
   * The only folders a journal found there may touch. A journal that names another root is refused with `REFUSED_PATH`
   * and left, so that who can write the journal cannot have this process write elsewhere. Left out: any root.
   */
  readonly roots?: readonly string[];
}

/** What {@link applyPlan} did. Paths are each change's root and path, joined. */
export interface ApplyReport {
  readonly changed: readonly string[];
  /** Already as the plan wants them; not touched. */
  readonly unchanged: readonly string[];
  /** Changed by somebody else since a plan was journalled, and therefore not touched by its recovery. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  /** The report of an earlier plan that was finished first. */
  readonly recovered?: ApplyReport;
}

/**
 * Does all changes of a plan or, across a crash, none: a plan of more than one change is journalled first, and the next
 * call finishes what a crash interrupted. Every path and expectation is checked before the first change. Everything is on
 * the disk when it returns.
 *
 * Throws `REFUSED_PATH`, `CONFLICT`, `NOT_FOUND` or `BAD_VALUE` with nothing changed; an error of the disk (`NO_SPACE`,
 * `NO_PERMISSION`, `READ_ONLY`, `IO`) either with nothing changed or, when `details.pending` is `true`, with the journal
 * kept for the next call; `DAMAGED` or `NEWER` when there is a journal that cannot be read.
 */
export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<ApplyReport> {
  const recovered = await recoverPlan(options);
  const { steps, unchanged } = readSteps(plan);
  sweepTemporaries(steps.filter(({ kind }) => kind === "write").map(({ place }) => place.real));
  if (steps.length === 1) performAll(steps, () => {});
  if (steps.length > 1) performJournalled(steps, options.journal);
  const changed = [...new Set(steps.map(({ place }) => place.shown))];
  return { changed, unchanged, left: [], ...(recovered === undefined ? {} : { recovered }) };
}

/** Checks a plan against the disk as {@link applyPlan} would, and changes nothing. Throws what that would throw. */
export function provePlan(plan: Plan): void {
  readSteps(plan);
}

/**
 * Finishes the plan a crash left in the journal; `undefined` when there is none. A file that is neither what the plan
 * found nor what it leaves is not touched and named in `left`.
 */
export async function recoverPlan(options: ApplyOptions): Promise<ApplyReport | undefined> {
  const { journal } = options;
  const steps = readJournal(journal);
  if (steps === undefined) {
    removeStaged(journal);
    return undefined;
  }
  checkRoots(steps, options);
  const report = redoAll(steps);
  removeJournal(journal);
  return report;
}

function performJournalled(steps: readonly Step[], journal: string): void {
  const sealed = begin(steps, journal);
  let done = 0;
  try {
    performAll(sealed, () => {
      done += 1;
    });
    removeJournal(journal);
  } catch (error) {
    if (done > 0 || !abandon(sealed[0], journal)) throw pending(error, journal);
    throw error;
  }
}

function begin(steps: readonly Step[], journal: string): readonly Step[] {
  try {
    return writeJournal(journal, steps);
  } catch (error) {
    abandon(undefined, journal);
    throw error;
  }
}

/** Takes the journal of a plan back of which nothing was done; answers whether it is gone. */
function abandon(first: Step | undefined, journal: string): boolean {
  try {
    if (first !== undefined && readStanding(first) !== "before") return false;
    removeJournal(journal);
    return true;
  } catch {
    return false;
  }
}

/** Does the steps in order and then makes the folders durable, each once. */
function performAll(steps: readonly Step[], stepDone: () => void): void {
  const folders = new Set<string>();
  for (const step of steps) {
    performStep(step, folders);
    stepDone();
  }
  for (const folder of folders) syncDirectory(folder);
}

function redoAll(steps: readonly Step[]): ApplyReport {
  const folders = new Set<string>();
  const changed = new Set<string>();
  const left: { path: string; reason: string }[] = [];
  const unchanged: string[] = [];
  for (const step of steps) {
    const { shown } = step.place;
    const reason = isWhereItWas(step) ? redoStep(step, folders, changed) : "a folder above it was replaced";
    if (reason !== undefined) left.push({ path: shown, reason });
    else if (!changed.has(shown)) unchanged.push(shown);
  }
  sweepTemporaries(steps.map(({ place }) => place.real));
  for (const folder of folders) {
    if (infoOf(folder) !== undefined) syncDirectory(folder);
  }
  return { changed: [...changed], unchanged, left };
}

/** Answers why the step was left, or `undefined` when it is done. */
function redoStep(step: Step, folders: Set<string>, changed: Set<string>): string | undefined {
  const standing = readStanding(step);
  const { real, shown } = step.place;
  if (standing === "foreign") return "it was changed after the plan was interrupted";
  if (standing === "after") {
    if (step.kind === "append") syncFile(real);
    folders.add(dirname(real));
    if (step.kind === "rename") folders.add(dirname(step.from.real));
    return undefined;
  }
  if (standing === "partial" && step.kind === "append") truncateFile(real, step.offset);
  performStep(step, folders);
  changed.add(shown);
  return undefined;
}

/** Does the path still lead where it led when the plan was made? */
function isWhereItWas(step: Step): boolean {
  const cache: PlaceCache = new Map();
  const places = step.kind === "rename" ? [step.from, step.place] : [step.place];
  try {
    return places.every(({ realRoot, real }) => {
      const below = relative(realRoot, real).split(sep).join("/");
      return readPlace(realRoot, below, cache).real === real;
    });
  } catch (error) {
    if (error instanceof StoreError && error.code === "REFUSED_PATH") return false;
    throw error;
  }
}

function checkRoots(steps: readonly Step[], { journal, roots }: ApplyOptions): void {
  if (roots === undefined) return;
  const cache: PlaceCache = new Map();
  const allowed = new Set(roots.filter((root) => infoOf(root) !== undefined).map((root) => readRoot(root, cache)));
  for (const { place } of steps) {
    if (allowed.has(place.realRoot)) continue;
    const message = `${journal}: a pending plan touches ${place.realRoot}, which it may not`;
    throw new StoreError("REFUSED_PATH", message, { path: journal, details: { root: place.realRoot } });
  }
}

function pending(error: unknown, journal: string): unknown {
  if (!(error instanceof StoreError)) return error;
  return new StoreError(error.code, error.message, {
    path: error.path,
    line: error.line,
    hint: "the rest of the plan is kept and done by the next write",
    details: { ...error.details, pending: true, journal },
    cause: error.cause,
  });
}
