import { describe, expect, test } from "vitest";
import { failureOf, foundIn, ofLevel, onlyFailure, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function begin(scope = "src", profile = "implementation"): Scene {
  const scene = makeScene({ layer: true });
  const said = scene.reeve(["start", "work", "--scope", scope, "--profile", profile]);
  expect(said.exit, said.stdout).toBe(0);
  return scene;
}

function outside(scene: Scene): readonly string[] {
  return ofLevel(scene.reeve(["check", "--json"]), "FAIL")
    .filter((finding) => finding.category === "scope")
    .map((finding) => finding.subject);
}

function edit(scene: Scene, file: string, replace: readonly [string | RegExp, string]): void {
  const before = scene.read(file);
  const after = before.replace(...replace);
  expect(after).not.toBe(before);
  scene.write(file, after);
}

describe("reeve check", () => {
  test("is one line for a person, every line with --verbose, and writes nothing", () => {
    const scene = begin();
    const before = scene.read(".ai/local/state/current.yaml");
    const said = scene.reeve(["check"]);
    expect(said).toMatchObject({ exit: 0, stderr: "" });
    expect(rowsOf(said.stdout)).toHaveLength(1);
    const all = rowsOf(scene.reeve(["check", "--verbose"]).stdout);
    expect(all.filter((row) => row.startsWith("OK ")).length).toBeGreaterThanOrEqual(4);
    expect(scene.read(".ai/local/state/current.yaml")).toBe(before);
    expect(scene.ledger()).toHaveLength(1);
  });

  test("counts working tree, index and own commits, untracked folders unfolded", () => {
    const scene = begin();
    scene.write("a/one.txt", "1");
    scene.write("a/b/two.txt", "2");
    scene.write("README.md", "changed");
    scene.git(["add", "README.md"]);
    scene.write("committed.txt", "3");
    scene.git(["add", "committed.txt"]);
    scene.git(["commit", "-q", "-m", "own", "committed.txt"]);
    expect([...outside(scene)].sort()).toEqual(["README.md", "a/b/two.txt", "a/one.txt", "committed.txt"]);
  });

  test("does not count what a merge or a fast-forward brought in", () => {
    const scene = makeScene({ layer: true });
    scene.git(["switch", "-q", "-c", "theirs"]);
    scene.write("their/file.txt", "x");
    scene.git(["add", "-A"]);
    scene.git(["commit", "-q", "-m", "theirs"]);
    scene.git(["switch", "-q", "main"]);
    expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
    scene.git(["merge", "-q", "--ff-only", "theirs"]);
    expect(outside(scene)).toEqual([]);
    scene.write("mine.txt", "x");
    scene.git(["add", "-A"]);
    scene.git(["commit", "-q", "-m", "mine"]);
    expect(outside(scene)).toEqual(["mine.txt"]);
  });

  test("leaves the layer and managed files open, and no neighbour of the scope", () => {
    const scene = begin("src/auth");
    scene.write(".ai/repo/scope.yaml", "# note\n");
    scene.write(".gitignore", "/.ai/local\nx\n");
    scene.write("src/auth/more.ts", "x");
    expect(outside(scene)).toEqual([]);
    scene.write("src/auth2/near.ts", "x");
    expect(outside(scene)).toEqual(["src/auth2/near.ts"]);
  });

  test("names a deleted and both sides of a renamed file", () => {
    const scene = begin("docs");
    scene.git(["mv", "README.md", "docs.md"]);
    scene.git(["rm", "-q", "src/auth/callback.ts"]);
    expect([...outside(scene)].sort()).toEqual(["README.md", "docs.md", "src/auth/callback.ts"]);
  });

  test("lists twenty files to a person and counts the rest, and all of them to a program", () => {
    const scene = begin();
    for (let index = 0; index < 30; index += 1) scene.write(`out/${index}.txt`, "x");
    expect(outside(scene)).toHaveLength(30);
    const said = scene.reeve(["check"]).stdout;
    expect(rowsOf(said).filter((row) => row.startsWith("FAIL scope "))).toHaveLength(20);
    expect(said).toMatch(/10 more/);
  });

  test("fails on an open question of this task or of none, not on another task's", () => {
    const scene = begin();
    const questions = ".ai/local/state/open-questions.md";
    const before = scene.read(questions);
    scene.write(questions, `${before}- [unresolved] t-20200101000000-abcd — theirs? (2020-01-01)\n`);
    const said = scene.reeve(["check", "--json"]);
    expect(said.exit).toBe(0);
    expect(ofLevel(said, "INFO").map((finding) => finding.subject)).toContain("theirs?");
    scene.write(questions, `${before}- [unresolved] none — whose? (2020-01-01)\n`);
    expect(onlyFailure(scene.reeve(["check", "--json"]))).toMatchObject({ category: "blockers", subject: "whose?" });
  });

  test("warns of an old checkpoint and never fails for it", () => {
    const scene = begin();
    edit(scene, ".ai/local/state/current.yaml", [/^started_at: .*$/m, 'started_at: "2020-01-01T00:00:00Z"']);
    const said = scene.reeve(["check", "--json"]);
    expect(said.exit).toBe(0);
    expect(ofLevel(said, "WARN").map((finding) => finding.category)).toEqual(["checkpoint"]);
    expect(scene.reeve(["checkpoint", "--derive"]).exit).toBe(0);
    expect(ofLevel(scene.reeve(["check", "--json"]), "WARN")).toEqual([]);
  });
});

describe("reeve check after git moved", () => {
  test("follows a rebase as advanced", () => {
    const scene = begin();
    scene.git(["switch", "-q", "-c", "topic"]);
    scene.write("src/new.ts", "1");
    scene.git(["add", "-A"]);
    scene.git(["commit", "-q", "-m", "one"]);
    scene.git(["switch", "-q", "main"]);
    scene.git(["commit", "-q", "--allow-empty", "-m", "base"]);
    scene.git(["switch", "-q", "topic"]);
    scene.git(["rebase", "-q", "main"]);
    const state = foundIn(scene.reeve(["check", "--json"])).filter((finding) => finding.category === "state");
    expect(state[0]).toMatchObject({ level: "OK" });
    expect(state[0]?.message).toMatch(/^advanced/);
    expect(outside(scene)).toEqual([]);
  });

  test("is exact on the commit it began at", () => {
    const state = foundIn(begin().reeve(["check", "--json"])).find((finding) => finding.category === "state");
    expect(state).toMatchObject({ level: "OK" });
    expect(state?.message).toMatch(/^exact/);
  });

  test("calls a recorded commit git does not have unknown, and fails", () => {
    const scene = begin();
    const head = scene.git(["rev-parse", "HEAD"]).trim();
    edit(scene, ".ai/local/state/current.yaml", [head, "abcdef0123".repeat(4)]);
    expect(onlyFailure(scene.reeve(["check", "--json"]))).toMatchObject({ category: "state" });
    expect(onlyFailure(scene.reeve(["check", "--json"])).message).toMatch(/^unknown/);
  });
});

describe("reeve check's flags", () => {
  test("--explain prints policy and profile", () => {
    const scene = begin();
    const result = resultOf(scene.reeve(["check", "--explain", "--json"]));
    expect(result["explained"]).toMatchObject({ policy: { version: 1 }, profile: { name: "implementation" } });
    expect(scene.reeve(["check", "--explain"]).stdout).toContain("finish_requires");
  });

  test("--rule evaluates one alone and knows a mistyped one", () => {
    const scene = begin();
    const lines = foundIn(scene.reeve(["check", "--rule", "scope-integrity", "--json"]));
    expect(new Set(lines.map((finding) => finding.category))).toEqual(new Set(["scope"]));
    const failure = failureOf(scene.reeve(["check", "--rule", "scope-integrty", "--json"]));
    expect([2, 12]).toContain(failure.exit);
    expect(`${failure.message} ${failure.hint}`).toContain("scope-integrity");
  });

  test("--overlap compares with other worktrees and fails nothing", () => {
    const scene = begin();
    expect(ofLevel(scene.reeve(["check", "--overlap", "--json"]), "OK")).toHaveLength(1);
    const other = `${scene.folder}/other`;
    scene.git(["worktree", "add", "-q", other]);
    expect(scene.reeve(["start", "theirs", "--scope", "src/auth"], { cwd: other }).exit).toBe(0);
    const said = scene.reeve(["check", "--overlap", "--json"]);
    expect(said.exit).toBe(0);
    expect(ofLevel(said, "WARN")[0]).toMatchObject({ subject: other });
  });

  test("--checkpoint stamps the task and adds one ledger line, --dry-run does not", () => {
    const scene = begin();
    const record = scene.read(".ai/local/state/current.yaml");
    expect(scene.reeve(["check", "--checkpoint", "--dry-run"]).exit).toBe(0);
    expect(scene.read(".ai/local/state/current.yaml")).toBe(record);
    expect(scene.reeve(["check", "--checkpoint"]).exit).toBe(0);
    expect(scene.read(".ai/local/state/current.yaml")).toContain("checkpoint_at:");
    expect(scene.ledger().map((line) => line["event"])).toEqual(["task.started", "task.checkpoint"]);
  });
});

describe("reeve check without a task of its own", () => {
  test("exits 12 when none was begun or the last one is over", () => {
    const scene = makeScene({ layer: true });
    expect(failureOf(scene.reeve(["check", "--json"]))).toMatchObject({ code: "NO_TASK", exit: 12 });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    expect(scene.reeve(["handover", "--derive", "--close"]).exit).toBe(0);
    expect(failureOf(scene.reeve(["check", "--json"]))).toMatchObject({ code: "NO_TASK", exit: 12 });
  });

  test("exits 12 without a layer and 2 outside a repository", () => {
    const scene = makeScene();
    expect(failureOf(scene.reeve(["check", "--json"]))).toMatchObject({
      code: "NO_LAYER",
      exit: 12,
      hint: "reeve init",
    });
    expect(failureOf(scene.reeve(["check", "--json"], { cwd: scene.folder }))).toMatchObject({ exit: 2 });
  });

  test("exits 10 where the policy does not parse, and so does finish --check", () => {
    const scene = begin();
    scene.write(".ai/repo/policy.yaml", `${scene.read(".ai/repo/policy.yaml")}\nsurprise: 1\n`);
    for (const args of [["check"], ["check", "--explain"], ["finish", "--check"], ["finish", "--outcome", "failed"]]) {
      const said = scene.reeve([...args, "--json"]);
      expect(said.exit, args.join(" ")).toBe(10);
      expect(said.stdout).toContain("policy.yaml:");
      expect(said.stdout).toContain("surprise");
    }
    expect(scene.ledger()).toHaveLength(1);
  });

  test("reports another worktree's record copied in, and finish will not write it", () => {
    const scene = makeScene({ layer: true });
    const other = `${scene.folder}/other`;
    scene.git(["worktree", "add", "-q", other]);
    expect(scene.reeve(["start", "theirs", "--scope", "src"], { cwd: other }).exit).toBe(0);
    expect(scene.sh(`cp ${other}/.ai/local/state/current.yaml .ai/local/state/current.yaml`).exit).toBe(0);
    const record = scene.read(".ai/local/state/current.yaml");
    for (const args of [["check"], ["finish", "--outcome", "failed"]]) {
      const failure = failureOf(scene.reeve([...args, "--json"]));
      expect(failure).toMatchObject({ code: "TASK_ELSEWHERE", exit: 15 });
      expect(failure.message).toContain(other);
    }
    expect(scene.reeve(["finish", "--check"]).exit).toBe(0);
    expect(scene.read(".ai/local/state/current.yaml")).toBe(record);
    expect(scene.reeve(["start", "mine", "--scope", "src"]).exit).toBe(0);
    expect(scene.reeve(["check"], { cwd: other }).exit).toBe(0);
  });
});
