import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";
import { canFault } from "./fault.ts";
import { killEverywhere, openStage, type Subject } from "./interrupted.ts";
import { makeClone } from "./place.ts";

const timeout = 600_000;
const records = [".git/reeve"];

function makeStarted(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "fix", "--scope", "src/auth"]).exit).toBe(0);
  return scene;
}

function killAt(scene: Scene, subject: Subject): void {
  const { problems, done, undone } = killEverywhere(openStage(scene, subject));
  expect(problems).toEqual([]);
  expect(done).toBeGreaterThan(0);
  expect(undone).toBeGreaterThan(0);
}

describe.skipIf(!canFault)("a command killed at any of its system calls has happened wholly or not at all", () => {
  test("reeve finish with a verification and a derived note", { timeout }, () => {
    const args = ["finish", "--outcome", "completed", "--verify-command", "true"];
    killAt(makeStarted(), { args, event: "task.finished", folders: records });
  });

  test("reeve start after a finished task", { timeout }, () => {
    const scene = makeStarted();
    expect(scene.reeve(["finish", "--outcome", "completed", "--verify-command", "true"]).exit).toBe(0);
    const isEvent = (row: Readonly<Record<string, unknown>>): boolean => row["task"] === "another";
    const args = ["start", "another", "--scope", "src/auth"];
    killAt(scene, { args, event: "task.started", isEvent, folders: records });
  });

  test("reeve question resolve", { timeout }, () => {
    const scene = makeStarted();
    expect(scene.reeve(["question", "add", "is it so?"]).exit).toBe(0);
    const args = ["question", "resolve", "1", "--answer", "it is"];
    killAt(scene, { args, event: "question.resolved", folders: records });
  });

  test("reeve handover --derive --close", { timeout }, () => {
    killAt(makeStarted(), { args: ["handover", "--derive", "--close"], event: "task.handed_over", folders: records });
  });

  test("the first writing command in a fresh clone, which makes the home", { timeout }, () => {
    const fresh = makeClone(makeScene({ layer: true }));
    const isEvent = (row: Readonly<Record<string, unknown>>): boolean => row["decision"] === "first";
    const args = ["decision", "add", "first", "--why", "w"];
    killAt(fresh, { args, event: "decision.recorded", isEvent, folders: [".git", ".ai"] });
  });
});
