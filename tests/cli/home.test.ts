import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, onlyFailure, resultOf, rowsOf } from "../answers.ts";
import { type Answer, makeScene, type Scene } from "../scene.ts";
import { withoutPrivileges } from "../unprivileged.ts";

const local = ".ai/local";

function begun(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
  return scene;
}

function events(scene: Scene, args: readonly string[] = [], cwd: string = scene.repo): readonly string[] {
  const said = scene.reeve(["history", "--all", "--json", ...args], { cwd });
  expect(said.exit, said.stdout).toBe(0);
  return rowsOf(said.stdout).map((row) => (JSON.parse(row) as { event: string }).event);
}

describe("this checkout's half", () => {
  test("lies below the git folder, private, behind a relative link git ignores", () => {
    const scene = begun();
    expect(fs.readlinkSync(scene.at(local))).toBe("../.git/reeve/checkouts/main");
    expect(fs.statSync(scene.at(local)).mode & 0o077).toBe(0);
    expect(scene.git(["status", "--porcelain", "-uall"])).toBe("");
    expect(scene.git(["check-ignore", local]).trim()).toBe(local);
    expect(scene.sh(`cat ${local}/state/ledger.jsonl | grep -c task.started`).stdout.trim()).toBe("1");
    expect(resultOf(scene.reeve(["status", "--json"]))["home"]).toMatchObject({ mode: "git", exists: true });
  });

  test("survives git clean -fdx, with the task in it", () => {
    const scene = begun();
    scene.git(["clean", "-q", "-ffdx"]);
    expect(scene.exists(local)).toBe(false);
    expect(events(scene)).toEqual(["task.started"]);
    expect(scene.reeve(["check"]).exit).toBe(0);
    expect(scene.reeve(["decision", "add", "d", "--why", "w"]).exit).toBe(0);
    expect(fs.readlinkSync(scene.at(local))).toBe("../.git/reeve/checkouts/main");
    expect(events(scene)).toEqual(["task.started", "decision.recorded"]);
  });

  test("--home checkout is a real folder, and status says its records live only there", () => {
    const scene = makeScene();
    const said = scene.reeve(["init", "--home", "checkout"]);
    expect(said.exit).toBe(0);
    expect(said.stdout).toContain("only there");
    expect(fs.lstatSync(scene.at(local)).isDirectory()).toBe(true);
    expect(scene.exists(".git/reeve/checkouts/main")).toBe(false);
    expect(scene.git(["status", "--porcelain", "-uall"])).not.toContain("local");
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    expect(events(scene)).toEqual(["task.started"]);
    expect(scene.reeve(["status"]).stdout).toContain("only there");
    expect(failureOf(scene.reeve(["init", "--extend", "--home", "git", "--json"]))).toMatchObject({ exit: 15 });
    expect(scene.reeve(["init", "--extend", "--home", "checkout"]).exit).toBe(0);
  });

  test("becomes a real folder where the git folder cannot be written", () => {
    const scene = makeScene();
    const reeve = withoutPrivileges(scene);
    fs.chmodSync(scene.at(".git"), 0o555);
    const said = reeve(["init"]);
    expect(said.exit, said.stdout + said.stderr).toBe(0);
    expect(fs.lstatSync(scene.at(local)).isDirectory()).toBe(true);
    expect(reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    expect(reeve(["check", "--json"]).stdout).not.toContain('"FAIL"');
    expect(reeve(["status"]).stdout).toContain("only there");
    expect(reeve(["doctor"]).exit).toBe(0);
  });

  test("that cannot be written refuses with 15, what and where, and reading goes on", () => {
    const scene = begun();
    const reeve = withoutPrivileges(scene);
    const state = fs.realpathSync(scene.at(`${local}/state`));
    const run = fs.realpathSync(scene.at(`${local}/run`));
    fs.chmodSync(state, 0o555);
    fs.chmodSync(run, 0o555);
    const failure = failureOf(reeve(["decision", "add", "x", "--why", "w", "--json"]));
    expect(failure).toMatchObject({ code: "UNWRITABLE", exit: 15 });
    expect(failure.message).toContain(".git/reeve/checkouts/main");
    expect(reeve(["history"]).stdout).toContain("task.started");
    expect(reeve(["check"]).exit).toBe(0);
  });

  test("that cannot be read says which file, and is not taken for empty", () => {
    const scene = begun();
    const reeve = withoutPrivileges(scene);
    fs.chmodSync(scene.at(`${local}/state/current.yaml`), 0o000);
    const failure = failureOf(reeve(["check", "--json"]));
    expect(failure).toMatchObject({ code: "UNREADABLE", exit: 12 });
    expect(failure.message).toContain("current.yaml");
    expect(failureOf(reeve(["start", "y", "--scope", "src", "--json"]))).toMatchObject({ exit: 12 });
    fs.chmodSync(scene.at(`${local}/state/current.yaml`), 0o600);
    fs.chmodSync(fs.realpathSync(scene.at(local)), 0o000);
    expect([12, 15]).toContain(failureOf(reeve(["check", "--json"])).exit);
  });
});

describe(".ai/local that is something else", () => {
  test.each([
    ["a dangling link", (scene: Scene) => fs.symlinkSync("../nowhere", scene.at(local)), "dangling link"],
    ["a link to another folder", (scene: Scene) => fs.symlinkSync("../src", scene.at(local)), "link"],
    ["a file", (scene: Scene) => fs.writeFileSync(scene.at(local), "mine"), "file"],
  ])("%s stops every writing command, doctor fails, nothing is lost", (_, make, says) => {
    const scene = begun();
    fs.rmSync(scene.at(local));
    make(scene);
    const failure = failureOf(scene.reeve(["decision", "add", "x", "--why", "w", "--json"]));
    expect(failure).toMatchObject({ code: "HOME_MISPLACED", exit: 15 });
    expect(failure.message).toContain(says);
    expect(failure.hint).toContain(local);
    const found = onlyFailure(scene.reeve(["doctor", "--json"]));
    expect(found.message).toContain(says);
    expect(scene.sh(found.reproduce ?? "").exit).toBe(0);
    expect(scene.reeve([]).exit).toBe(0);
    fs.rmSync(scene.at(local));
    expect(events(scene)).toEqual(["task.started"]);
    expect(scene.reeve(["decision", "add", "x", "--why", "w"]).exit).toBe(0);
    expect(events(scene)).toEqual(["task.started", "decision.recorded"]);
  });

  test("its own link, dangling because the home is gone, is mended by the next writing command", () => {
    const scene = begun();
    fs.rmSync(scene.at(".git/reeve"), { recursive: true });
    expect(scene.reeve(["status"]).exit).toBe(0);
    expect(failureOf(scene.reeve(["check", "--json"]))).toMatchObject({ exit: 12 });
    expect(scene.reeve(["start", "again", "--scope", "src"]).exit).toBe(0);
    expect(events(scene)).toEqual(["task.started"]);
  });

  test("tracked by git fails doctor, and so does one that is not ignored", () => {
    const scene = begun();
    scene.write(".git/info/exclude", "");
    scene.write(".gitignore", "");
    expect(onlyFailure(scene.reeve(["doctor", "--json"]))).toMatchObject({
      subject: local,
      message: "is not ignored by git",
    });
    scene.write(".gitignore", "/.ai/local/\n");
    expect(onlyFailure(scene.reeve(["doctor", "--json"])).next).toContain("without a slash");
    scene.git(["add", "-f", local]);
    scene.write(".gitignore", "/.ai/local\n");
    const found = onlyFailure(scene.reeve(["doctor", "--json"]));
    expect(found.message).toContain("tracked");
    expect(scene.sh(found.next ?? "").exit).toBe(0);
    expect(scene.reeve(["doctor"]).exit).toBe(0);
  });
});

describe("a branch from before the layer", () => {
  test("is as clean as it was, is told it has no layer, and can be left again", () => {
    const scene = begun();
    scene.git(["switch", "-q", "-c", "old", "HEAD~1"]);
    expect(scene.git(["status", "--porcelain", "-uall"])).toBe("");
    expect(failureOf(scene.reeve(["check", "--json"]))).toMatchObject({ code: "NO_LAYER", exit: 12 });
    scene.write("src/auth/callback.ts", "changed\n");
    scene.git(["commit", "-q", "-a", "-m", "on the old branch"]);
    scene.git(["switch", "-q", "main"]);
    expect(events(scene)).toEqual(["task.started"]);
  });
});

describe("worktrees and moves", () => {
  test("a removed worktree's records stay, and a name taken again begins anew", () => {
    const scene = makeScene({ layer: true });
    const other = `${scene.folder}/other`;
    scene.git(["worktree", "add", "-q", other]);
    expect(scene.reeve(["start", "first", "--scope", "src"], { cwd: other }).exit).toBe(0);
    scene.git(["worktree", "remove", "--force", other]);
    expect(events(scene)).toEqual([]);
    expect(events(scene, ["--all-checkouts"])).toEqual(["task.started"]);
    scene.git(["worktree", "prune"]);
    scene.git(["worktree", "add", "-q", "-B", "again", other]);
    expect(events(scene, [], other)).toEqual([]);
    expect(scene.reeve(["check"], { cwd: other }).exit).toBe(12);
    expect(scene.reeve(["start", "second", "--scope", "src"], { cwd: other }).exit).toBe(0);
    expect(events(scene, [], other)).toEqual(["task.started"]);
    expect(events(scene, ["--all-checkouts"])).toEqual(["task.started", "task.started"]);
    const homes = fs.readdirSync(scene.at(".git/reeve/checkouts"));
    expect(homes.filter((name) => /^other\.\d{8}T\d{6}Z$/.test(name))).toHaveLength(1);
  });

  test("a new worktree takes over what a removed one left, its task too, under another name and under its own", () => {
    const scene = makeScene({ layer: true });
    const at = (name: string): { readonly cwd: string } => ({ cwd: `${scene.folder}/${name}` });
    const add = (name: string): void => void scene.git(["worktree", "add", "-q", "--detach", at(name).cwd]);
    const drop = (name: string): void => void scene.git(["worktree", "remove", "--force", at(name).cwd]);
    const take = (name: string, from: string): Answer =>
      scene.reeve(["init", "--extend", "--take-over", from, "--json"], at(name));
    const homes = (): readonly string[] => fs.readdirSync(scene.at(".git/reeve/checkouts")).sort();
    add("old");
    expect(scene.reeve(["start", "first", "--scope", "src"], at("old")).exit).toBe(0);
    add("new");
    expect(failureOf(take("new", "old"))).toMatchObject({ exit: 12, hint: "none is left behind: reeve state" });
    drop("old");
    expect(failureOf(take("new", "olf")).hint).toBe("there are: old");
    expect(resultOf(take("new", "old"))).toMatchObject({ taken: "old" });
    expect(homes()).toEqual(["main", "new"]);
    expect(events(scene, [], at("new").cwd)).toEqual(["task.started"]);
    expect(resultOf(scene.reeve(["status", "--json"], at("new")))).toMatchObject({ task: { outcome: "active" } });
    expect(scene.reeve(["finish", "--outcome", "completed", "--verify-command", "true"], at("new")).exit).toBe(0);
    expect(failureOf(take("new", "old"))).toMatchObject({ code: "REFUSED", exit: 15 });
    drop("new");
    add("new");
    expect(resultOf(scene.reeve(["state", "--json"], at("new")))["homes"]).toContainEqual(
      expect.objectContaining({ checkout: "new", state: "left" }),
    );
    expect(resultOf(take("new", "new"))).toMatchObject({ taken: "new" });
    expect(homes()).toEqual(["main", "new"]);
    expect(events(scene, [], at("new").cwd).at(-1)).toBe("task.finished");
  });

  test("a moved repository and a moved worktree go on with their task", () => {
    const scene = begun();
    const moved = `${scene.folder}/moved`;
    fs.renameSync(scene.repo, moved);
    expect(scene.reeve(["check"], { cwd: moved }).exit).toBe(0);
    expect(events(scene, [], moved)).toEqual(["task.started"]);
    expect(scene.reeve(["finish", "--outcome", "completed", "--verify-command", "true"], { cwd: moved }).exit).toBe(0);
    const tree = `${scene.folder}/tree`;
    scene.git(["worktree", "add", "-q", tree], { cwd: moved });
    expect(scene.reeve(["start", "t", "--scope", "src"], { cwd: tree }).exit).toBe(0);
    scene.git(["worktree", "move", tree, `${scene.folder}/deeper`], { cwd: moved });
    expect(scene.reeve(["check"], { cwd: `${scene.folder}/deeper` }).exit).toBe(0);
    expect(scene.reeve(["decision", "add", "d", "--why", "w"], { cwd: `${scene.folder}/deeper` }).exit).toBe(0);
    expect(events(scene, [], `${scene.folder}/deeper`)).toEqual(["task.started", "decision.recorded"]);
  });
});
