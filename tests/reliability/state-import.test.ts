import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";
import { buildShim, canFault, keepCopy } from "./fault.ts";

const files = [
  ".ai/repo/policy.yaml",
  ".ai/local/state/completed/new.md",
  ".ai/local/state/completed/large.md",
  ".ai/local/state/decisions.md",
  ".ai/local/state/ledger.jsonl",
];

/** A layer with records of its own, and a bundle that changes each of the files. */
function makeReceiver(): { readonly scene: Scene; readonly bundle: string } {
  const there = makeScene({ layer: true });
  expect(there.reeve(["decision", "add", "theirs", "--why", "a reason"]).exit).toBe(0);
  there.write(".ai/repo/policy.yaml", `${there.read(".ai/repo/policy.yaml")}# theirs\n`);
  there.write(".ai/local/state/completed/new.md", "theirs\n");
  there.write(".ai/local/state/completed/large.md", "theirs\n".repeat(200_000));
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["decision", "add", "mine", "--why", "a reason"]).exit).toBe(0);
  scene.write(".ai/local/state/completed/large.md", "mine\n".repeat(300_000));
  const bundle = `${scene.folder}/layer.tgz`;
  expect(there.reeve(["state", "export", bundle]).exit).toBe(0);
  return { scene, bundle };
}

function stateOf(scene: Scene): string {
  return files.map((file) => (scene.exists(file) ? scene.read(file) : "absent")).join("\0");
}

/** Everything that was here and was replaced, wherever its copy is. */
function copiesIn(scene: Scene): readonly string[] {
  const found = scene.sh("find -L .ai/local/replaced -type f 2>/dev/null").stdout.split("\n").filter(Boolean);
  return found.map((file) => fs.readFileSync(scene.at(file), "utf8"));
}

describe.skipIf(!canFault)("reeve state import killed at any of its system calls", () => {
  test("has happened wholly or not at all once the next command wrote, and lost nothing", { timeout: 600_000 }, () => {
    const { scene, bundle } = makeReceiver();
    const shim = buildShim(scene);
    const restore = keepCopy(scene, [scene.at(".git/reeve"), scene.at(".ai/repo")]);
    const before = stateOf(scene);
    const mine = scene.read(".ai/local/state/completed/large.md");
    const calls = shim.trace((env) => {
      const answer = scene.reeve(["state", "import", bundle], { env });
      expect(answer.exit, answer.stdout + answer.stderr).toBe(0);
    });
    const after = stateOf(scene);
    expect(after).not.toBe(before);
    expect(calls.length).toBeGreaterThan(20);
    const seen = { before: 0, after: 0 };
    for (const [at, { name, path }] of calls.entries()) {
      restore();
      expect(scene.reeve(["state", "import", bundle], { env: shim.at(at + 1, "kill") }).exit).not.toBe(2);
      const next = scene.reeve(["state", "import", bundle, "--only", ".ai/README.md"]);
      const where = `killed at ${name} ${path}`;
      expect(next.exit, `${where}: ${next.stdout}${next.stderr}`).toBe(0);
      const state = stateOf(scene);
      expect([before, after].includes(state), `${where}: a mix`).toBe(true);
      seen[state === before ? "before" : "after"] += 1;
      if (state === after) expect(copiesIn(scene).includes(mine), `${where}: the copy is gone`).toBe(true);
    }
    expect(seen.before).toBeGreaterThan(0);
    expect(seen.after).toBeGreaterThan(0);
  });
});
