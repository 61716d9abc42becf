import { describe, expect, test } from "vitest";
import { failureOf, foundIn, ofLevel, onlyFailure } from "../answers.ts";
import { type Answer, makeScene, type Scene } from "../scene.ts";

const note = "# Objective\n\nDo it.\n\n# Current State\n\nDone.\n\n# Next Action\n\nNone.\n";

function begin(profile = "implementation"): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "work", "--scope", "src", "--profile", profile]).exit).toBe(0);
  return scene;
}

function finish(scene: Scene, outcome: string, ...more: readonly string[]): Answer {
  return scene.reeve(["finish", "--outcome", outcome, ...more, "--json"]);
}

function categories(answer: Answer, level: string): readonly string[] {
  return ofLevel(answer, level).map((finding) => finding.category);
}

function edit(scene: Scene, file: string, replace: readonly [string | RegExp, string]): void {
  const before = scene.read(file);
  const after = before.replace(...replace);
  expect(after).not.toBe(before);
  scene.write(file, after);
}

const policy = ".ai/repo/policy.yaml";

describe("reeve finish --outcome completed", () => {
  test("prints every line, passed ones too, and keeps record, note and ledger together", () => {
    const scene = begin();
    scene.write("src/new.ts", "x");
    const said = scene.reeve(["finish", "--outcome", "completed", "--verify-command", "true", "--verbose"]);
    expect(said.exit, said.stdout).toBe(0);
    for (const name of ["scope", "verification", "state", "blockers", "note"])
      expect(said.stdout).toMatch(new RegExp(`^OK ${name} `, "m"));
    const finished = scene.ledger().at(-1);
    expect(finished).toMatchObject({
      event: "task.finished",
      outcome: "completed",
      verify: { command: "true", exit: 0 },
    });
    expect(finished?.["contract"]).toMatchObject({ "reeve.scope-integrity": "pass", "reeve.note-integrity": "pass" });
    const id = String(finished?.["task_id"]);
    expect(scene.read(".ai/local/state/current.yaml")).toMatch(/^outcome: completed$/m);
    expect(scene.read(`.ai/local/state/completed/${id}.md`)).toContain("src/new.ts");
    expect(scene.sh("ls .ai/local/state/handovers").stdout.trim()).not.toBe("");
    const head = scene.git(["rev-parse", "HEAD"]).trim();
    expect(finished).toMatchObject({ head, tree: expect.stringMatching(/^[0-9a-f]{40}$/) });
  });

  test("refuses without a verification, leaves the task active and one task.refused line", () => {
    const scene = begin();
    scene.write("src/new.ts", "x");
    const record = scene.read(".ai/local/state/current.yaml");
    const refused = finish(scene, "completed");
    expect(refused.exit).toBe(10);
    expect(categories(refused, "FAIL")).toEqual(["verification"]);
    expect(scene.ledger().at(-1)).toMatchObject({
      event: "task.refused",
      unmet: ["reeve.verification-integrity"],
      verify: null,
    });
    expect(scene.read(".ai/local/state/current.yaml")).toBe(record);
    expect(scene.sh("ls .ai/local/state/completed .ai/local/state/handovers | grep -c md").stdout.trim()).toBe("0");
  });

  test("a finished task is not finished again", () => {
    const scene = begin();
    expect(finish(scene, "failed", "--note", "n.md").exit).toBe(12);
    scene.write("n.md", "# Reason\n\nNo.\n");
    expect(finish(scene, "failed", "--note", "n.md").exit).toBe(10);
    scene.sh("mv n.md ../n.md");
    expect(finish(scene, "failed", "--note", "../n.md").exit).toBe(0);
    const lines = scene.ledger().length;
    expect(failureOf(finish(scene, "failed", "--note", "../n.md"))).toMatchObject({ code: "TASK_OVER", exit: 15 });
    expect(scene.ledger()).toHaveLength(lines);
  });

  test("takes the note given, and refuses one without its sections", () => {
    const scene = begin();
    const file = "../note.md";
    scene.write(file, note.replace("Done.", "<what holds>"));
    const refused = finish(scene, "completed", "--verify-command", "true", "--note", file);
    expect(onlyFailure(refused)).toMatchObject({ category: "note" });
    expect(onlyFailure(refused).message).toContain("# Current State");
    scene.write(file, note);
    expect(finish(scene, "completed", "--verify-command", "true", "--note", file).exit).toBe(0);
    const id = String(scene.ledger().at(-1)?.["task_id"]);
    expect(scene.read(`.ai/local/state/completed/${id}.md`)).toBe(note);
    expect(scene.ledger().map((line) => line["event"])).not.toContain("task.handed_over");
  });

  test("uses an authored handover of the task rather than deriving one", () => {
    const scene = begin();
    expect(scene.reeve(["handover"], { input: note }).exit).toBe(0);
    expect(finish(scene, "completed", "--verify-command", "true").exit).toBe(0);
    const id = String(scene.ledger().at(-1)?.["task_id"]);
    expect(scene.read(`.ai/local/state/completed/${id}.md`)).toContain("Do it.");
    expect(scene.ledger().filter((line) => line["event"] === "task.handed_over")).toHaveLength(1);
  });

  test("derives no note where the policy says so", () => {
    const scene = begin();
    edit(scene, policy, ["derive_on_finish: true", "derive_on_finish: false"]);
    expect(categories(finish(scene, "completed", "--verify-command", "true"), "FAIL")).toEqual(["note"]);
  });

  test("judges by the keys the policy names, in its order, and refuses one no rule defines", () => {
    const scene = begin();
    edit(scene, policy, [/ {4}# A handover or a note[^\n]*\n {4}- note_present/, "    - moon_is_full"]);
    const refused = finish(scene, "completed", "--verify-command", "true");
    expect(refused.exit).toBe(10);
    expect(onlyFailure(refused).subject).toBe("moon_is_full");
    expect(foundIn(refused).map((finding) => finding.category)).not.toContain("note");
  });
});

describe("reeve finish's profile requirements", () => {
  test("debugging wants a regression test", () => {
    const scene = begin("debugging");
    scene.write("src/new.ts", "x");
    expect(categories(finish(scene, "completed", "--verify-command", "true"), "FAIL")).toEqual(["regression"]);
    scene.write("src/new.test.ts", "x");
    expect(finish(scene, "completed", "--verify-command", "true").exit).toBe(0);
  });

  test("deep-work wants a decision that names the task", () => {
    const scene = begin("deep-work");
    scene.write("src/new.test.ts", "x");
    expect(finish(scene, "completed", "--verify-command", "true").exit).toBe(10);
    expect(scene.reeve(["decision", "add", "So", "--why", "w"]).exit).toBe(0);
    expect(finish(scene, "completed", "--verify-command", "true").exit).toBe(0);
  });
});

describe("reeve finish with another outcome", () => {
  test.each([
    ["partial", "Next Action"],
    ["blocked", "Next Action"],
    ["no_match", "Reason"],
    ["failed", "Reason"],
  ])("%s wants # %s and no verification", (outcome, section) => {
    const scene = begin();
    scene.write("../other.md", "# Elsewhere\n\nText.\n");
    const refused = finish(scene, outcome, "--note", "../other.md");
    expect(onlyFailure(refused).message).toContain(`# ${section}`);
    scene.write("../note.md", `# ${section}\n\nText.\n`);
    expect(finish(scene, outcome, "--note", "../note.md").exit).toBe(0);
    const finished = scene.ledger().at(-1);
    expect(finished).toMatchObject({ event: "task.finished", outcome, verify: null });
    expect(finished?.["contract"]).toMatchObject({ "reeve.verification-integrity": "skipped" });
  });

  test("blocked may leave questions open, partial may not", () => {
    const scene = begin();
    scene.write("../note.md", "# Next Action\n\nAsk.\n");
    expect(scene.reeve(["question", "add", "Which?"]).exit).toBe(0);
    expect(categories(finish(scene, "partial", "--note", "../note.md"), "FAIL")).toEqual(["blockers"]);
    expect(finish(scene, "blocked", "--note", "../note.md").exit).toBe(0);
  });
});

describe("reeve finish --check", () => {
  test("passes without a task and with one that is over, fails outside the scope, writes nothing", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["finish", "--check"])).toMatchObject({ exit: 0, stderr: "" });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    expect(scene.reeve(["question", "add", "Open?"]).exit).toBe(0);
    expect(scene.reeve(["finish", "--check"]).exit).toBe(0);
    scene.write("stray.txt", "x");
    const lines = scene.ledger().length;
    const failed = scene.reeve(["finish", "--check", "--json"]);
    expect(failed.exit).toBe(10);
    expect(onlyFailure(failed).subject).toBe("stray.txt");
    expect(scene.ledger()).toHaveLength(lines);
    expect(scene.reeve(["handover", "--derive", "--close"]).exit).toBe(0);
    expect(scene.reeve(["finish", "--check"]).exit).toBe(0);
  });
});

describe("reeve finish's arguments", () => {
  test("an outcome is needed and must be one of five", () => {
    const scene = begin();
    expect(failureOf(scene.reeve(["finish", "--json"]))).toMatchObject({ code: "USAGE", exit: 2 });
    const failure = failureOf(scene.reeve(["finish", "--outcome", "complete", "--json"]));
    expect(failure).toMatchObject({ exit: 2 });
    expect(failure.hint).toContain("completed");
    for (const name of ["active", "handed_over"]) expect(finish(scene, name).exit).toBe(2);
    expect(scene.ledger()).toHaveLength(1);
  });

  test("needs a task, and a layer", () => {
    const scene = makeScene({ layer: true });
    expect(failureOf(finish(scene, "completed"))).toMatchObject({ code: "NO_TASK", exit: 12 });
    expect(failureOf(finish(makeScene(), "completed"))).toMatchObject({ code: "NO_LAYER", exit: 12 });
  });
});
