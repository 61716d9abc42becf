import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, onlyFailure, resultOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

/** The main job in one place: a layer, a task, a check that passes and one that fails, a record, an end. */
function live(scene: Scene, cwd: string): void {
  const call = (...args: readonly string[]): ReturnType<Scene["reeve"]> => scene.reeve(args, { cwd });
  expect(call("init").exit).toBe(0);
  const doctor = call("doctor");
  expect(doctor.exit, doctor.stdout).toBe(0);
  expect(call("start", "work", "--scope", "src").exit).toBe(0);
  fs.mkdirSync(`${cwd}/src`, { recursive: true });
  fs.writeFileSync(`${cwd}/src/a.ts`, "x");
  const checked = call("check");
  expect(checked.exit, checked.stdout).toBe(0);
  fs.writeFileSync(`${cwd}/stray.txt`, "x");
  expect(onlyFailure(call("check", "--json")).subject).toBe("stray.txt");
  fs.rmSync(`${cwd}/stray.txt`);
  expect(call("decision", "add", "d", "--why", "w").exit).toBe(0);
  const finished = call("finish", "--outcome", "completed", "--verify-command", "true");
  expect(finished.exit, finished.stdout).toBe(0);
  expect(call("history").stdout).toContain("task.finished");
  expect(call().exit).toBe(0);
  const ignored = scene.sh("git status --porcelain -uall --ignored=no | grep local", { cwd });
  expect(ignored.stdout).toBe("");
}

describe("reeve works", () => {
  test("in a repository without commits", () => {
    const scene = makeScene({ commits: false });
    live(scene, scene.repo);
    expect(scene.ledger()[0]).toMatchObject({ head: "NONE", branch: "main" });
  });

  test("on a detached head", () => {
    const scene = makeScene();
    scene.git(["checkout", "-q", "--detach"]);
    live(scene, scene.repo);
    expect(scene.ledger()[0]).toMatchObject({ branch: "DETACHED" });
  });

  test("where the path has spaces, quotes and letters beyond ASCII", () => {
    const scene = makeScene({ name: 'répo d\'été "日本" $x' });
    live(scene, scene.repo);
  });

  test("in a linked worktree, with records of its own", () => {
    const scene = makeScene({ layer: true });
    const other = `${scene.folder}/my other tree`;
    scene.git(["worktree", "add", "-q", "-b", "other", other]);
    scene.sh("rm -rf .ai .gitignore", { cwd: other });
    live(scene, other);
    expect(scene.ledger()).toEqual([]);
    expect(fs.readlinkSync(`${other}/.ai/local`)).toMatch(/^\.\.\/\.\.\/repo\/\.git\/reeve\/checkouts\//);
  });

  test("in a submodule, apart from the repository around it", () => {
    const scene = makeScene({ layer: true });
    scene.git(["init", "-q", "-b", "main", `${scene.folder}/part`]);
    scene.git(["commit", "-q", "--allow-empty", "-m", "part"], { cwd: `${scene.folder}/part` });
    scene.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", `${scene.folder}/part`, "part"]);
    live(scene, scene.at("part"));
    expect(scene.ledger()).toEqual([]);
    expect(scene.exists(".git/modules/part/reeve/checkouts/main/state/ledger.jsonl")).toBe(true);
  });

  test("in a worktree of a bare clone", () => {
    const scene = makeScene();
    const bare = `${scene.folder}/bare.git`;
    scene.git(["clone", "-q", "--bare", scene.repo, bare]);
    const tree = `${scene.folder}/tree`;
    scene.git(["worktree", "add", "-q", tree, "main"], { cwd: bare });
    live(scene, tree);
    expect(failureOf(scene.reeve(["status", "--json"], { cwd: bare }))).toMatchObject({
      code: "NOT_A_REPOSITORY",
      exit: 2,
    });
  });

  test("where the git folder lies apart", () => {
    const scene = makeScene();
    const apart = `${scene.folder}/apart`;
    scene.git(["init", "-q", "-b", "main", `--separate-git-dir=${scene.folder}/apart.git`, apart]);
    live(scene, apart);
  });
});

describe("from any folder", () => {
  test("of a repository, paths are its own and reproduce commands run there", () => {
    const scene = makeScene({ layer: true });
    const deep = scene.at("src/auth");
    expect(scene.reeve(["start", "work", "--scope", "."], { cwd: deep }).exit).toBe(0);
    expect(scene.read(".ai/local/state/current.yaml")).toContain("src/auth");
    scene.write("docs/new.md", "x");
    const found = onlyFailure(scene.reeve(["check", "--json"], { cwd: deep }));
    expect(found.subject).toBe("docs/new.md");
    expect(scene.sh(found.reproduce ?? "", { cwd: deep }).stdout).toContain("new.md");
    expect(scene.reeve(["check"], { cwd: scene.at(".ai/repo") }).exit).toBe(10);
    expect(scene.reeve(["check"], { cwd: fs.realpathSync(scene.at(".ai/local/state")) }).exit).toBe(2);
  });

  test("through a link to the repository", () => {
    const scene = makeScene({ layer: true });
    fs.symlinkSync(scene.repo, `${scene.folder}/link`);
    expect(scene.reeve(["start", "work", "--scope", "src"], { cwd: `${scene.folder}/link` }).exit).toBe(0);
    expect(scene.reeve(["check"]).exit).toBe(0);
    expect(scene.read(".ai/local/state/current.yaml")).toContain('scope: ["src"]');
  });

  test("--repo names another one, relative to the folder one stands in", () => {
    const scene = makeScene({ layer: true });
    expect(resultOf(scene.reeve(["--repo", "repo", "status", "--json"], { cwd: scene.folder }))["branch"]).toBe("main");
    expect(
      scene.reeve(["start", "x", "--scope", "src", "--repo", "../repo/src"], { cwd: `${scene.folder}/home` }).exit,
    ).toBe(0);
    expect(scene.reeve(["check", "--repo", scene.repo], { cwd: scene.folder }).exit).toBe(0);
    expect(failureOf(scene.reeve(["status", "--repo", "home", "--json"], { cwd: scene.folder }))).toMatchObject({
      exit: 2,
    });
  });

  test("a file name with anything in it is named, and its reproduce command shows it", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    for (const name of ['it\'s a "file".txt', "été/日本 $HOME `id`.md", "-n", "*.glob", "a\\b"]) {
      scene.write(name, "x");
      const found = onlyFailure(scene.reeve(["check", "--json"]));
      expect(found.subject).toBe(name);
      const shown = scene.sh(found.reproduce ?? "");
      expect(shown.exit, found.reproduce).toBe(0);
      expect(shown.stdout.trim()).not.toBe("");
      fs.rmSync(scene.at(name));
    }
  });

  test("GIT_DIR of a hook does not lead it to another repository", () => {
    const scene = makeScene({ layer: true });
    const other = `${scene.folder}/other`;
    scene.git(["init", "-q", other]);
    const env = { GIT_DIR: `${scene.repo}/.git`, GIT_INDEX_FILE: `${scene.repo}/.git/index` };
    expect(resultOf(scene.reeve(["status", "--json"], { env }))["branch"]).toBe("main");
    expect(failureOf(scene.reeve(["status", "--json"], { cwd: other, env })).exit).toBe(12);
  });
});
