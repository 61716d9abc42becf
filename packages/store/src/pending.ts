import { basename, dirname, join, resolve, sep } from "node:path";
import { infoOf } from "./atomic.ts";
import { readWhole } from "./digest.ts";
import { readJournal } from "./journal.ts";
import { readOutcome, readStanding } from "./judge.ts";
import { isInside } from "./rooted.ts";
import type { RenameStep, Step } from "./steps.ts";
import { namesIn } from "./temporaries.ts";

interface Spot {
  readonly shown: string;
  readonly real: string;
}

/**
 * A plan that a crash interrupted and the next writer will finish, for readers that want to see what will be there. They
 * ask it first, and the disk where it answers `undefined`.
 */
export interface PendingPlan {
  /** Every path the plan touches, absolute, in order. */
  readonly paths: readonly string[];
  /** The file's content once the plan is done; `undefined` when the plan leaves it alone. */
  read(absolutePath: string): Uint8Array | "absent" | undefined;
  /** How the names in a folder will differ from those on the disk. */
  list(absoluteDirectory: string): { readonly added: readonly string[]; readonly removed: readonly string[] };
}

/** The plan in the journal, or `undefined` when there is none. Writes nothing; throws `DAMAGED` or `NEWER`. */
export function readPending(journal: string): PendingPlan | undefined {
  const steps = readJournal(journal);
  if (steps === undefined) return undefined;
  return {
    paths: [...new Set(steps.flatMap((step) => placesOf(step).map(({ shown }) => shown)))],
    read: (path) => readAfter(steps, resolve(path)),
    list: (folder) => readNames(steps, resolve(folder)),
  };
}

function placesOf(step: Step): readonly Spot[] {
  return step.kind === "rename" ? [step.from, step.place] : [step.place];
}

/** From the last step to the first: the last one that touches the path decides. */
function readAfter(steps: readonly Step[], path: string): Uint8Array | "absent" | undefined {
  for (const [index, step] of [...steps.entries()].reverse()) {
    if (step.kind === "rename") {
      const moved = readMoved(step, path);
      if (moved !== undefined) return moved;
    } else if (step.kind !== "mkdir" && step.kind !== "chmod" && belowOf(step.place, path) === "") {
      const free = steps.slice(0, index).some((earlier) => willFree(earlier, step.place.real));
      if (!free && readStanding(step) === "foreign") return undefined;
      if (step.kind === "remove") return "absent";
      if (step.kind === "symlink") return readFile(resolve(dirname(path), step.target));
      return free && step.kind === "write" ? step.bytes : readOutcome(step);
    }
  }
  return undefined;
}

/** Is what lies at the path yet to be moved away? */
function willFree(step: Step, real: string): boolean {
  return step.kind === "rename" && isInside(step.from.real, real) && readStanding(step) === "before";
}

function readMoved(step: RenameStep, path: string): Uint8Array | "absent" | undefined {
  const below = belowOf(step.place, path);
  const left = belowOf(step.from, path);
  if (below === undefined && left === undefined) return undefined;
  const standing = readStanding(step);
  if (standing === "foreign") return undefined;
  if (below === undefined) return "absent";
  return readFile(join(standing === "after" ? step.place.real : step.from.real, below));
}

function readNames(steps: readonly Step[], folder: string): { added: string[]; removed: string[] } {
  const onDisk = new Set(namesIn(folder));
  const after = new Set(onDisk);
  for (const step of steps) {
    if (readStanding(step) === "foreign" && step.before?.kind !== "absent") continue;
    if (step.kind === "rename") moveNames(step, folder, after);
    if (step.kind === "remove") takeName(step.place, folder, after);
    else addName(step.place, folder, after);
  }
  return {
    added: [...after].filter((name) => !onDisk.has(name)).sort(),
    removed: [...onDisk].filter((name) => !after.has(name)).sort(),
  };
}

function moveNames(step: RenameStep, folder: string, names: Set<string>): void {
  takeName(step.from, folder, names);
  if (readStanding(step) !== "before") return;
  if (belowOf(step.from, folder) !== undefined) names.clear();
  const below = belowOf(step.place, folder);
  if (below !== undefined) for (const name of namesIn(join(step.from.real, below))) names.add(name);
}

/** The name through which a place is reached from a folder above it. */
function addName(place: Spot, folder: string, names: Set<string>): void {
  for (const path of [place.shown, place.real]) {
    const [name] = isInside(folder, path) ? path.slice(folder.length).split(sep).filter(Boolean) : [];
    if (name !== undefined) names.add(name);
  }
}

function takeName(place: Spot, folder: string, names: Set<string>): void {
  for (const path of [place.shown, place.real]) {
    if (dirname(path) === folder) names.delete(basename(path));
  }
}

/** What follows the place in the path ("" at the place itself), or `undefined` when the path lies elsewhere. */
function belowOf(place: Spot, path: string): string | undefined {
  for (const folder of [place.shown, place.real]) {
    if (isInside(folder, path)) return path.slice(folder.length);
  }
  return undefined;
}

function readFile(path: string): Uint8Array | "absent" {
  return infoOf(path)?.isFile() === true ? readWhole(path) : "absent";
}
