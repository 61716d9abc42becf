import { describe, expect, test } from "vitest";
import { failureOf, type Members, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const policy = ".ai/repo/policy.yaml";

describe("reeve alone, without a layer", () => {
  function bare(): Scene {
    const scene = makeScene();
    scene.write("AGENTS.md", "x".repeat(40_000));
    scene.write("CLAUDE.md", "@AGENTS.md\n");
    scene.git(["add", "-A"]);
    scene.git(["commit", "-q", "-m", "agents"]);
    return scene;
  }

  test("says what agents it sees, what is cut, and how to begin, writing nothing", () => {
    const scene = bare();
    const before = scene.sh("find . | sort").stdout;
    const said = scene.reeve([]);
    expect(said).toMatchObject({ exit: 0, stderr: "" });
    expect(said.stdout).toMatch(/Claude Code +reads CLAUDE\.md \(11 bytes\)/);
    expect(said.stdout).toMatch(/Codex +reads AGENTS\.md \(40000 bytes\).*7232 bytes are cut/);
    expect(said.stdout).toContain("reeve init");
    expect(scene.sh("find . | sort").stdout).toBe(before);
    const result = resultOf(scene.reeve(["--json"]));
    expect(result).toMatchObject({ layer: false });
  });

  test("names other worktrees, and those that touch the same files now", () => {
    const scene = bare();
    const other = `${scene.folder}/other`;
    scene.git(["worktree", "add", "-q", other]);
    expect(scene.reeve([]).stdout).toContain(other);
    expect(resultOf(scene.reeve(["--json"]))["worktrees"]).toHaveLength(1);
  });

  test("reeve status wants a layer", () => {
    expect(failureOf(bare().reeve(["status", "--json"]))).toMatchObject({ code: "NO_LAYER", exit: 12 });
  });
});

describe("reeve alone, with a layer", () => {
  test("is three lines when healthy", () => {
    const scene = makeScene({ layer: true });
    const said = scene.reeve([]);
    expect(said).toMatchObject({ exit: 0, stderr: "" });
    expect(rowsOf(said.stdout)).toHaveLength(3);
    expect(said.stdout).toContain("main");
    expect(said.stdout).toContain("reeve start");
    scene.reeve(["start", "work", "--scope", "src"]);
    const working = scene.reeve([]).stdout;
    expect(rowsOf(working)).toHaveLength(3);
    expect(working).toContain("'work'");
  });

  test("says what is off and what to type", () => {
    const scene = makeScene({ layer: true });
    scene.reeve(["start", "work", "--scope", "src"]);
    scene.write("stray.txt", "x");
    const said = scene.reeve([]).stdout;
    expect(said).toContain("stray.txt");
    expect(said).toContain("reeve check");
  });

  test("survives a broken policy, record or link, and names it", () => {
    const scene = makeScene({ layer: true });
    scene.reeve(["start", "work", "--scope", "src"]);
    const text = scene.read(policy);
    scene.write(policy, `${text}\nsurprise: 1\n`);
    for (const args of [[], ["status"]]) {
      const said = scene.reeve(args);
      expect(said.exit).toBe(0);
      expect(said.stdout).toContain("surprise");
    }
    scene.write(policy, text);
    scene.write(".ai/local/state/current.yaml", "id: [");
    for (const args of [[], ["status"]]) {
      const said = scene.reeve(args);
      expect(said.exit).toBe(0);
      expect(said.stdout).toContain("current.yaml");
    }
  });
});

describe("reeve status", () => {
  test("shows the whole screen: task, scope, questions, ledger, other worktrees, home, what is next", () => {
    const scene = makeScene({ layer: true });
    const other = `${scene.folder}/other`;
    scene.git(["worktree", "add", "-q", other]);
    scene.reeve(["start", "theirs", "--scope", "docs"], { cwd: other });
    scene.reeve(["start", "work", "--scope", "src"]);
    scene.reeve(["question", "add", "Which?"]);
    const said = scene.reeve(["status"]).stdout;
    for (const part of ["'work'", "src", "1 open, 1 block", "question.opened", "'theirs'", ".ai/local", "next"])
      expect(said).toContain(part);
    const result = resultOf(scene.reeve(["status", "--json"]));
    expect(result).toMatchObject({ layer: true, branch: "main", clean: true, standing: "exact" });
    expect(result["questions"]).toEqual({ open: 1, blocking: 1 });
    expect((result["others"] as readonly Members[])[0]).toMatchObject({ worktree: other });
  });

  test("answers 0 in a fresh clone that has no local half, and makes none", () => {
    const scene = makeScene({ layer: true });
    const clone = `${scene.folder}/clone`;
    scene.git(["clone", "-q", scene.repo, clone]);
    const said = scene.reeve(["status"], { cwd: clone, env: { USER: undefined } });
    expect(said).toMatchObject({ exit: 0, stderr: "" });
    expect(said.stdout).toContain("not made yet");
    expect(scene.sh("ls -a .ai .git/reeve 2>&1", { cwd: clone }).stdout).not.toContain("local");
    expect(scene.reeve(["start", "first", "--scope", "src"], { cwd: clone }).exit).toBe(0);
    expect(scene.reeve(["history"], { cwd: clone }).stdout).toContain("task.started");
  });

  test("says the same with and without caches", () => {
    const scene = makeScene({ layer: true });
    scene.reeve(["start", "work", "--scope", "src"]);
    for (const args of [
      ["status", "--json"],
      ["check", "--verbose"],
      ["doctor", "--json"],
    ]) {
      const warm = [scene.reeve(args), scene.reeve(args)].map((answer) => answer.stdout.replaceAll(/\d+s ago/g, "now"));
      const cold = scene.reeve(args, { env: { REEVE_CACHE: "off" } }).stdout.replaceAll(/\d+s ago/g, "now");
      const plain = cold.split("\n").filter((row) => !row.includes("REEVE_CACHE"));
      expect(warm[1]).toBe(warm[0]);
      expect(plain.join("\n")).toBe(warm[0]);
    }
  });
});
