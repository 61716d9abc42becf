import { describe, expect, test } from "vitest";
import { foundIn, ofLevel, onlyFailure, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function finish(scene: Scene): ReturnType<Scene["reeve"]> {
  return scene.reeve(["finish", "--outcome", "completed", "--verify-command", "true", "--json"]);
}

function wire(scene: Scene): void {
  expect(scene.reeve(["init", "--hooks"]).exit).toBe(0);
  expect(scene.reeve(["init", "--hooks"]).exit).toBe(15);
  expect(scene.reeve(["init", "--extend", "--hooks"]).exit).toBe(0);
  scene.git(["add", "-A"]);
  scene.git(["commit", "-q", "-m", "layer"]);
  expect(scene.git(["ls-files", ".ai/manifest.yaml"]).trim()).toBe(".ai/manifest.yaml");
  expect(scene.reeve(["doctor"]).exit).toBe(0);
}

function begin(scene: Scene): void {
  expect(scene.reeve(["start", "x", "--scope", "../x"]).exit).toBe(15);
  expect(scene.reeve(["start", "fix callback", "--scope", "src/auth"]).exit).toBe(0);
  const second = scene.reeve(["start", "another", "--scope", "src"]);
  expect(second.exit).toBe(15);
  expect(second.stdout).toContain("fix callback");
}

function move(scene: Scene): void {
  scene.git(["switch", "-q", "-c", "topic"]);
  scene.git(["commit", "-q", "--amend", "-m", "layer, said better"]);
  const state = foundIn(scene.reeve(["check", "--json"])).filter((finding) => finding.category === "state");
  expect(state.map((finding) => finding.level)).toEqual(["OK", "INFO"]);
  expect(state[0]?.message).toMatch(/^advanced/);
  expect(state[1]?.message).toMatch(/^moved/);
}

function refuse(scene: Scene): void {
  expect(scene.reeve(["question", "add", "Does the client send the old form?"]).exit).toBe(0);
  const refused = finish(scene);
  expect(refused.exit).toBe(10);
  expect(ofLevel(refused, "FAIL").map((finding) => finding.category)).toEqual(["scope", "blockers"]);
  const lines = new Set(foundIn(refused).map((finding) => finding.category));
  expect([...lines].sort()).toEqual(["blockers", "note", "scope", "state", "verification"]);
  const last = scene.ledger().at(-1);
  expect(last).toMatchObject({ event: "task.refused", outcome: "completed", verify: { command: "true", exit: 0 } });
  expect(last?.["unmet"]).toEqual(["reeve.scope-integrity", "reeve.blocker-resolution"]);
}

describe("one task, governed end to end", () => {
  test("refuses what the contract forbids, accepts what it asks, and replays it all", () => {
    const scene = makeScene();
    wire(scene);
    begin(scene);
    scene.write("src/auth/callback.ts", "export const callback = 2;\n");
    expect(scene.reeve(["check"]).exit).toBe(0);

    scene.write("config/secrets.example", "KEY=\n");
    const outside = scene.reeve(["check", "--json"]);
    expect(outside.exit).toBe(10);
    const finding = onlyFailure(outside);
    expect(finding.subject).toBe("config/secrets.example");
    expect(scene.sh(finding.reproduce ?? "").stdout).toContain("config/secrets.example");

    move(scene);
    refuse(scene);
    expect(scene.reeve(["question", "resolve", "1", "--answer", "no"]).exit).toBe(0);
    expect(scene.sh("rm -r config").exit).toBe(0);
    const accepted = finish(scene);
    expect(accepted.exit, accepted.stdout).toBe(0);
    const id = String(scene.ledger().find((line) => line["event"] === "task.started")?.["task_id"]);
    expect(scene.read(`.ai/local/state/completed/${id}.md`)).toContain("# Objective");
    expect(scene.read(".ai/local/state/current.yaml")).toMatch(/^outcome: completed$/m);

    const replayed = scene.reeve(["history", "--all", "--json"]);
    const events = rowsOf(replayed.stdout).map((row) => (JSON.parse(row) as { event: string }).event);
    expect(events).toEqual([
      "task.started",
      "question.opened",
      "task.refused",
      "question.resolved",
      "task.handed_over",
      "task.finished",
    ]);
    expect(rowsOf(replayed.stdout)).toEqual(rowsOf(scene.read(".ai/local/state/ledger.jsonl")));

    const head = scene.git(["rev-parse", "HEAD"]);
    scene.write(".ai/repo/policy.yaml", `${scene.read(".ai/repo/policy.yaml")}\nsurprise: 1\n`);
    const stopped = scene.sh("git add -A && git commit -m broken");
    expect(stopped.exit).not.toBe(0);
    expect(stopped.stdout + stopped.stderr).toContain("surprise");
    expect(scene.git(["rev-parse", "HEAD"])).toBe(head);
  });
});

describe("decisions recorded at the same time", () => {
  test("are all kept, each with its ledger line", () => {
    const scene = makeScene({ layer: true });
    const answer = scene.sh('for i in $(seq 20); do reeve decision add "d$i" --why w & done; wait');
    expect(answer.stderr).toBe("");
    const titles = rowsOf(scene.read(".ai/local/state/decisions.md")).filter((row) => row.startsWith("## "));
    const wanted = Array.from({ length: 20 }, (_, index) => `d${index + 1}`).sort();
    expect(titles.map((row) => row.split(" — ")[1]).sort()).toEqual(wanted);
    const recorded = scene.ledger().filter((line) => line["event"] === "decision.recorded");
    expect(recorded.map((line) => line["decision"]).sort()).toEqual(wanted);
  });
});
