import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";
import { type Facts, findDisagreements, readFacts } from "./agreement.ts";
import { keepCopy } from "./fault.ts";

const instants = 50;
const finish = ["finish", "--outcome", "completed", "--verify-command", "true"];

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

function isFinished(facts: Facts): boolean {
  return facts.rows.some((row) => row["event"] === "task.finished");
}

function makeStarted(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "fix", "--scope", "src/auth"]).exit).toBe(0);
  scene.write("src/auth/callback.ts", "export const callback = 2;\n");
  return scene;
}

/** How long a run takes, in milliseconds, when nothing disturbs it. */
async function measure(scene: Scene, restore: () => void): Promise<number> {
  const begun = performance.now();
  const answer = await scene.begin(finish).ended;
  const length = performance.now() - begun;
  expect(answer.exit, answer.stdout + answer.stderr).toBe(0);
  restore();
  return length;
}

describe("reeve finish", () => {
  test("killed at fifty instants leaves record and ledger in agreement after the next writing command", {
    timeout: 600_000,
  }, async () => {
    const scene = makeStarted();
    const restore = keepCopy(scene, [scene.at(".git/reeve")]);
    await measure(scene, restore);
    const length = await measure(scene, restore);
    const ends = { finished: 0, active: 0, killed: 0 };
    // On a machine that has become slower since, later instants are tried until one run comes to its end.
    for (let instant = 0; instant < instants || (ends.finished === 0 && instant < 3 * instants); instant += 1) {
      restore();
      const where = `instant ${instant} of ${instants}`;
      const run = scene.begin(finish);
      // The last instants lie past the measured end, so that slower runs are met in their last part too.
      await wait((length * 1.15 * instant) / (instants - 1));
      run.kill("SIGKILL");
      const { exit } = await run.ended;
      expect([0, 137], where).toContain(exit);
      const next = scene.reeve(["decision", "add", `after ${instant}`, "--why", "the next writing command"]);
      expect(next.exit, `${where}: ${next.stdout}${next.stderr}`).toBe(0);
      const facts = readFacts(scene.repo);
      expect(findDisagreements(facts), where).toEqual([]);
      if (exit === 0) expect(isFinished(facts), where).toBe(true);
      expect(facts.task?.["outcome"], where).toBe(isFinished(facts) ? "completed" : "active");
      ends[isFinished(facts) ? "finished" : "active"] += 1;
      if (exit === 137) ends.killed += 1;
    }
    expect(ends.finished).toBeGreaterThan(0);
    expect(ends.active).toBeGreaterThan(0);
    expect(ends.killed).toBeGreaterThan(instants / 2);
  });
});
