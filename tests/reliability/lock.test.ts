import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { type Begun, makeScene, type Scene } from "../scene.ts";
import { findDisagreements, readFacts } from "./agreement.ts";
import { buildShim, canFault, type FaultShim } from "./fault.ts";

const decide = (title: string): readonly string[] => ["decision", "add", title, "--why", "w"];

/** The number of the first call made while the layer's lock is held. */
function findFirstHeld(scene: Scene, shim: FaultShim): number {
  const calls = shim.trace((env) => expect(scene.reeve(decide("traced"), { env }).exit).toBe(0));
  const taken = calls.findIndex(({ name, path }) => name === "symlink" && path.endsWith("layer.lock"));
  expect(taken).toBeGreaterThanOrEqual(0);
  return taken + 2;
}

/** Whether a process has stopped (`T` in its record). */
async function waitUntilStopped(pid: number): Promise<void> {
  for (;;) {
    const record = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    if (record.slice(record.lastIndexOf(")") + 2).startsWith("T")) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

async function beginAndHold(scene: Scene, shim: FaultShim): Promise<Begun> {
  const at = findFirstHeld(scene, shim);
  const holder = scene.begin(decide("held"), { env: shim.at(at, "stop") });
  await waitUntilStopped(holder.pid);
  expect(fs.readlinkSync(scene.at(".ai/local/run/layer.lock"))).toMatch(new RegExp(`^${holder.pid}@`));
  return holder;
}

describe.skipIf(!canFault)("the layer's lock", () => {
  test("of a killed process is taken over by the next command", async () => {
    const scene = makeScene({ layer: true });
    const holder = await beginAndHold(scene, buildShim(scene));
    holder.kill("SIGKILL");
    await holder.ended;
    expect(fs.readlinkSync(scene.at(".ai/local/run/layer.lock"))).toMatch(/^\d+@/);
    const next = scene.reeve(decide("next"));
    expect(next.exit, next.stdout + next.stderr).toBe(0);
    const facts = readFacts(scene.repo);
    expect(facts.decisions).toEqual(["traced", "next"]);
    expect(findDisagreements(facts)).toEqual([]);
  });

  test("of a killed process is taken over by one of ten commands at once, and none is lost", async () => {
    const scene = makeScene({ layer: true });
    const holder = await beginAndHold(scene, buildShim(scene));
    holder.kill("SIGKILL");
    await holder.ended;
    const titles = Array.from({ length: 10 }, (_, index) => `d${index}`);
    const answers = await Promise.all(titles.map((title) => scene.begin(decide(title)).ended));
    expect(answers.map(({ exit }) => exit)).toEqual(titles.map(() => 0));
    const facts = readFacts(scene.repo);
    expect([...facts.decisions].sort()).toEqual([...titles, "traced"]);
    expect(findDisagreements(facts)).toEqual([]);
  });

  test("of a stopped process makes a writer answer 14 and name the holder, and lets readers through", async () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "fix", "--scope", "src/auth"]).exit).toBe(0);
    const holder = await beginAndHold(scene, buildShim(scene));
    try {
      const busy = scene.reeve([...decide("refused"), "--json"]);
      expect(busy.exit, busy.stdout + busy.stderr).toBe(14);
      const said = JSON.parse(busy.stdout) as { ok: boolean; code: string; message: string };
      expect(said).toMatchObject({ ok: false, code: "LOCK_HELD", exit: 14 });
      expect(said.message).toContain(`process ${holder.pid}`);
      for (const args of [["status"], ["history", "--json"], ["check"], ["decision", "list"]]) {
        expect(scene.reeve(args).exit, args.join(" ")).toBe(0);
      }
      expect(scene.ledger()).toHaveLength(2);
    } finally {
      holder.kill("SIGCONT");
    }
    expect((await holder.ended).exit).toBe(0);
    expect(scene.reeve(decide("after")).exit).toBe(0);
    const facts = readFacts(scene.repo);
    expect(facts.decisions).toEqual(["traced", "held", "after"]);
    expect(findDisagreements(facts)).toEqual([]);
  });
});
