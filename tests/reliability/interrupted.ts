import { expect } from "vitest";
import type { Answer, Scene } from "../scene.ts";
import { type Facts, findDisagreements, parseRows, readFacts } from "./agreement.ts";
import { buildShim, type FaultKind, type FaultShim, keepCopy } from "./fault.ts";

/** A command, and how to tell from the records that it happened. */
export interface Subject {
  readonly args: readonly string[];
  /** The event whose last line in the ledger says that it happened. */
  readonly event: string;
  readonly isEvent?: (row: Readonly<Record<string, unknown>>) => boolean;
  /** Folders the command changes, put back before each run. */
  readonly folders: readonly string[];
}

/** A scene in which one command is interrupted again and again. */
export interface Stage {
  readonly scene: Scene;
  readonly subject: Subject;
  readonly shim: FaultShim;
  readonly calls: readonly { readonly name: string; readonly path: string }[];
  readonly restore: () => void;
}

export function openStage(scene: Scene, subject: Subject): Stage {
  const shim = buildShim(scene);
  const restore = keepCopy(
    scene,
    subject.folders.map((name) => scene.at(name)),
  );
  const calls = shim.trace((env) => {
    const answer = run(scene, subject, env);
    expect(answer.exit, answer.stdout + answer.stderr).toBe(0);
  });
  expect(calls.length).toBeGreaterThan(10);
  return { scene, subject, shim, calls, restore };
}

export function run(scene: Scene, subject: Subject, env: Readonly<Record<string, string>>): Answer {
  return scene.reeve(subject.args, { env });
}

function happened({ event, isEvent }: Subject, rows: Facts["rows"]): boolean {
  const found = rows.filter((row) => row["event"] === event && (isEvent === undefined || isEvent(row)));
  expect(found.length).toBeLessThan(2);
  return found.length === 1;
}

/** What a reader is shown before anybody has mended anything, where a plan lies unfinished. */
function readShown({ scene, subject }: Stage, where: string): boolean | undefined {
  if (!readFacts(scene.repo).leftovers.some((name) => name.includes("journal"))) return undefined;
  const shown = scene.reeve(["history", "--all", "--json"]);
  expect(shown.exit, `${where}: ${shown.stdout}${shown.stderr}`).toBe(0);
  const { rows, torn } = parseRows(shown.stdout);
  expect(torn, where).toEqual([]);
  return happened(subject, rows);
}

/** Runs the next writing command and answers whether the interrupted one turns out to have happened. */
export function mend(stage: Stage, where: string): boolean {
  const { scene, subject } = stage;
  const seen = readShown(stage, where);
  const next = scene.reeve(["decision", "add", "the next one", "--why", "somebody goes on"]);
  expect(next.exit, `${where}: ${next.stdout}${next.stderr}`).toBe(0);
  const facts = readFacts(scene.repo);
  expect(findDisagreements(facts), where).toEqual([]);
  expect(facts.decisions, where).toContain("the next one");
  const done = happened(subject, facts.rows);
  if (seen !== undefined) expect(done, `${where}: what history showed before`).toBe(seen);
  return done;
}

/** What came of meeting every call of a command with a fault. */
export interface Tally {
  done: number;
  undone: number;
  /** One entry for each call after which something was wrong. */
  readonly problems: string[];
}

/** Looks at each call in turn, and goes on after one that went wrong, so that a run names them all. */
export function meetEveryCall(stage: Stage, look: (at: number, tally: Tally) => void): Tally {
  const tally: Tally = { done: 0, undone: 0, problems: [] };
  for (const index of stage.calls.keys()) {
    stage.restore();
    try {
      look(index + 1, tally);
    } catch (error) {
      tally.problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  return tally;
}

/** Kills the command before each of its calls, or within each of its writes, and looks at what is left. */
export function killEverywhere(stage: Stage): Tally {
  const { scene, subject, shim, calls } = stage;
  return meetEveryCall(stage, (at, tally) => {
    const call = calls[at - 1];
    const kind: FaultKind = call?.name === "write" ? "torn" : "kill";
    const where = `${kind} at call ${at}, ${call?.name} ${call?.path}`;
    const { exit, stdout, stderr } = run(scene, subject, shim.at(at, kind));
    expect(exit, `${where}: ${stdout}${stderr}`).toBe(137);
    tally[mend(stage, where) ? "done" : "undone"] += 1;
  });
}
