import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";
import { findDisagreements, readFacts } from "./agreement.ts";
import { canFault, type TracedCall } from "./fault.ts";
import { meetEveryCall, mend, openStage, run, type Stage, type Subject, type Tally } from "./interrupted.ts";
import { makeClone } from "./place.ts";

const timeout = 600_000;
const errnos = { ENOSPC: 28, EIO: 5, EACCES: 13 } as const;
const records = [".git/reeve"];

/**
 * May the command go on and answer 0 although this call failed? Where a cache is kept, where a lock or journal of which
 * nothing is left to do goes, and where a platform that cannot sync a folder says so.
 */
function mayBePassedOver(call: TracedCall | undefined, name: keyof typeof errnos): boolean {
  const path = call?.path ?? "";
  const tidies = call?.name === "unlink" || call?.name === "fsync" || call?.name === "rmdir";
  if (/\/cache(?:\/|$)/.test(path)) return true;
  if (/\/(?:run|reeve)\/?[^/]*$/.test(path) && tidies) return true;
  const isFolder = fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return name === "EACCES" && call?.name === "fsync" && isFolder;
}

function refuseOnce(stage: Stage, at: number, name: keyof typeof errnos, tally: Tally): void {
  const { scene, subject, shim, calls } = stage;
  const call = calls[at - 1];
  const answer = run(scene, subject, shim.at(at, errnos[name]));
  const said = answer.stdout + answer.stderr;
  const where = `${name} at call ${at}, ${call?.name} ${call?.path}: exit ${answer.exit}: ${said}`;
  if (answer.exit === 0) {
    expect(mayBePassedOver(call, name), where).toBe(true);
    expect(mend(stage, where), where).toBe(true);
    return;
  }
  expect(answer.exit, where).toBeLessThan(128);
  expect(said, where).toContain(scene.repo);
  expect(said, where).not.toMatch(/^ {4}at /m);
  tally[mend(stage, where) ? "done" : "undone"] += 1;
}

/** Refuses each call of the command once, with one errno after the other. */
function refuseEverywhere(scene: Scene, subject: Subject): void {
  const stage = openStage(scene, subject);
  const names = Object.keys(errnos) as (keyof typeof errnos)[];
  const { problems, done, undone } = meetEveryCall(stage, (at, tally) => {
    const name = names[at % names.length];
    if (name !== undefined) refuseOnce(stage, at, name, tally);
  });
  expect(problems).toEqual([]);
  // Some were finished by the next writer, and more had not begun.
  expect(done).toBeGreaterThan(0);
  expect(undone).toBeGreaterThan(done / 2);
}

describe.skipIf(!canFault)("a command whose disk refuses one call names the path and does nothing by half", () => {
  test("reeve finish", { timeout }, () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "fix", "--scope", "src/auth"]).exit).toBe(0);
    const args = ["finish", "--outcome", "completed", "--verify-command", "true"];
    refuseEverywhere(scene, { args, event: "task.finished", folders: records });
  });

  test("the first writing command in a fresh clone", { timeout }, () => {
    const fresh = makeClone(makeScene({ layer: true }));
    const isEvent = (row: Readonly<Record<string, unknown>>): boolean => row["decision"] === "first";
    const args = ["decision", "add", "first", "--why", "w"];
    refuseEverywhere(fresh, { args, event: "decision.recorded", isEvent, folders: [".git", ".ai"] });
  });
});

describe.skipIf(!canFault)("a disk that is full", () => {
  test("leaves every old record readable and the layer usable when there is room again", { timeout }, () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["decision", "add", "before", "--why", "w"]).exit).toBe(0);
    const before = readFacts(scene.repo);
    // One block of 512 bytes: no file may grow past it, whatever the call that tries.
    const full = scene.sh("ulimit -f 1; reeve decision add during --why w; echo exit $?");
    expect(full.stdout, full.stderr).toMatch(/exit (?!0$)\d+$/m);
    expect(scene.reeve(["history", "--json"]).exit).toBe(0);
    expect(readFacts(scene.repo).rows).toEqual(before.rows);
    expect(scene.reeve(["decision", "add", "after", "--why", "w"]).exit).toBe(0);
    const after = readFacts(scene.repo);
    expect(after.decisions).toEqual(["before", "after"]);
    expect(findDisagreements(after)).toEqual([]);
  });
});
