import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import type { AbsPath } from "../system/paths.ts";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { findRepository } from "./repository.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main tree");
  main.write({ "src/läs mig/a.txt": "a\n" });
});
afterAll(() => scene.remove());

function inRoot(...parts: string[]): AbsPath {
  return path.join(scene.root, ...parts) as AbsPath;
}

function refusal(run: () => unknown): ReeveError {
  try {
    run();
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("findRepository", () => {
  test("findRepository finds the main working tree from any folder in it", () => {
    const gitDir = path.join(main.top, ".git");
    expect(findRepository(main.system(), path.join(main.top, "src/läs mig") as AbsPath)).toEqual({
      top: main.top,
      gitDir,
      commonDir: gitDir,
      kind: "main",
      checkout: "main",
      unusual: false,
    });
  });

  test("findRepository resolves links on the way to the start", () => {
    fs.symlinkSync(path.join(main.top, "src"), inRoot("shortcut"));
    expect(findRepository(main.system(), inRoot("shortcut", "läs mig")).top).toBe(main.top);
  });

  test("findRepository tells a linked working tree by its administrative name", () => {
    main.git("worktree", "add", "-q", "-b", "side", "../linked ü/side");
    const gitDir = path.join(main.top, ".git", "worktrees", "side");
    expect(findRepository(main.system(), inRoot("linked ü", "side"))).toEqual({
      top: inRoot("linked ü", "side"),
      gitDir,
      commonDir: path.join(main.top, ".git"),
      kind: "linked",
      checkout: "side",
      unusual: false,
    });
  });

  test("findRepository tells a submodule and a linked working tree of it", () => {
    const host = scene.make("host");
    host.git("submodule", "--quiet", "add", main.top, "parts/sub");
    const sub = scene.at("host/parts/sub");
    const gitDir = path.join(host.top, ".git", "modules", "parts", "sub");
    expect(findRepository(host.system(), sub.top)).toMatchObject({
      top: sub.top,
      gitDir,
      commonDir: gitDir,
      kind: "submodule",
    });
    sub.git("worktree", "add", "-q", "--detach", inRoot("sub-linked"));
    expect(findRepository(host.system(), inRoot("sub-linked"))).toMatchObject({
      top: inRoot("sub-linked"),
      commonDir: gitDir,
      kind: "linked",
      checkout: "sub-linked",
    });
  });

  test("findRepository takes a separate git directory for a main working tree", () => {
    fs.mkdirSync(inRoot("apart"));
    scene.at("apart").git("init", "-q", "--separate-git-dir", inRoot("apart.git"));
    expect(findRepository(main.system(), inRoot("apart"))).toMatchObject({
      top: inRoot("apart"),
      gitDir: inRoot("apart.git"),
      kind: "main",
    });
  });

  test("findRepository works in a working tree of a bare clone and refuses the clone itself", () => {
    main.git("clone", "-q", "--bare", main.top, inRoot("bare.git"));
    scene.at("bare.git").git("worktree", "add", "-q", inRoot("of-bare"), "main");
    expect(findRepository(main.system(), inRoot("of-bare"))).toMatchObject({
      top: inRoot("of-bare"),
      commonDir: inRoot("bare.git"),
      kind: "linked",
      checkout: "of-bare",
    });
    const error = refusal(() => findRepository(main.system(), inRoot("bare.git", "refs")));
    expect(error.code).toBe("NOT_A_REPOSITORY");
    expect(error.message).toContain(inRoot("bare.git"));
    expect(error.hint).toContain("git worktree add");
  });

  test("findRepository refuses the folder whose .git file names a bare repository", () => {
    fs.mkdirSync(inRoot("around"));
    fs.writeFileSync(inRoot("around", ".git"), "gitdir: ../bare.git\n");
    expect(refusal(() => findRepository(main.system(), inRoot("around"))).code).toBe("NOT_A_REPOSITORY");
  });

  test("findRepository refuses the inside of .git", () => {
    const error = refusal(() => findRepository(main.system(), path.join(main.top, ".git", "hooks") as AbsPath));
    expect(error.code).toBe("NOT_A_REPOSITORY");
    expect(error.message).toContain(path.join(main.top, ".git"));
  });

  test("findRepository refuses a folder in no repository, with what to type", () => {
    fs.mkdirSync(inRoot("nowhere"));
    const system = scene.at("nowhere").system({ GIT_CEILING_DIRECTORIES: scene.root });
    const error = refusal(() => findRepository(system, inRoot("nowhere")));
    expect(error.code).toBe("NOT_A_REPOSITORY");
    expect(error.message).toContain(inRoot("nowhere"));
    expect(error.hint).toContain("git init");
  });

  test("findRepository stops at the ceiling, and passes over a .git that is no git directory", () => {
    main.write({ "nested/.git/stray": "", "nested/deep/x": "" });
    const deep = path.join(main.top, "nested/deep") as AbsPath;
    expect(findRepository(main.system(), deep).top).toBe(main.top);
    const system = main.system({ GIT_CEILING_DIRECTORIES: main.top });
    expect(refusal(() => findRepository(system, deep)).code).toBe("NOT_A_REPOSITORY");
    expect(findRepository(system, main.top).top).toBe(main.top);
  });

  test("findRepository names the .git file that points nowhere or says nothing", () => {
    for (const text of ["gitdir: ../gone\n", "nonsense\n", ""]) {
      fs.mkdirSync(inRoot("broken"), { recursive: true });
      fs.writeFileSync(inRoot("broken", ".git"), text);
      const error = refusal(() => findRepository(main.system(), inRoot("broken")));
      expect(error.code).toBe("NOT_A_REPOSITORY");
      expect(error.message).toContain(inRoot("broken", ".git"));
    }
  });

  test("findRepository follows core.worktree, and refuses a start outside it", () => {
    fs.mkdirSync(inRoot("holder", "work", "deep"), { recursive: true });
    const holder = scene.at("holder");
    holder.git("init", "-q");
    holder.git("config", "core.worktree", inRoot("holder", "work"));
    expect(findRepository(holder.system(), inRoot("holder", "work", "deep")).top).toBe(inRoot("holder", "work"));
    expect(refusal(() => findRepository(holder.system(), holder.top)).message).toContain("core.worktree");
  });

  test("findRepository marks a repository of another user and one with another ref format as unusual", () => {
    const other = { ...main.system(), uid: (process.getuid?.() ?? 0) + 1 };
    expect(findRepository(other, main.top).unusual).toBe(true);
    const root = { ...main.system({ SUDO_UID: String(process.getuid?.()) }), uid: 0 };
    expect(findRepository(root, main.top).unusual).toBe(false);
    const tables = scene.make("tables");
    fs.appendFileSync(path.join(tables.top, ".git/config"), "[extensions]\n\trefStorage = reftable\n");
    expect(findRepository(tables.system(), tables.top).unusual).toBe(true);
  });
});

describe("findRepository with GIT_DIR", () => {
  test("findRepository agrees with GIT_DIR as a hook sets it, relative or absolute", () => {
    for (const named of [".git", path.join(main.top, ".git")]) {
      const found = findRepository(main.system({ GIT_DIR: named }), path.join(main.top, "src") as AbsPath);
      expect(found).toMatchObject({ top: main.top, gitDir: path.join(main.top, ".git"), kind: "main" });
    }
    main.git("worktree", "add", "-q", "--detach", inRoot("hooked"));
    const gitDir = path.join(main.top, ".git/worktrees/hooked");
    const found = findRepository(scene.at("hooked").system({ GIT_DIR: gitDir }), inRoot("hooked"));
    expect(found).toMatchObject({ top: inRoot("hooked"), gitDir, kind: "linked", checkout: "hooked" });
  });

  test("findRepository lets GIT_DIR win only where the start is inside its working tree", () => {
    const inner = scene.make("main tree/inner");
    const gitDir = path.join(main.top, ".git");
    expect(findRepository(inner.system({ GIT_DIR: gitDir }), inner.top).top).toBe(main.top);
    const other = scene.make("other");
    expect(findRepository(other.system({ GIT_DIR: gitDir }), other.top).top).toBe(other.top);
    expect(findRepository(other.system({ GIT_DIR: inRoot("no-such") }), other.top).top).toBe(other.top);
  });

  test("findRepository takes GIT_WORK_TREE as the root of what GIT_DIR names", () => {
    fs.mkdirSync(inRoot("dots", "deep"), { recursive: true });
    scene.at("dots").git("init", "-q", "--bare", inRoot("dots.git"));
    const system = scene.at("dots").system({ GIT_DIR: "../dots.git", GIT_WORK_TREE: "." });
    expect(findRepository(system, inRoot("dots", "deep"))).toMatchObject({
      top: inRoot("dots"),
      gitDir: inRoot("dots.git"),
    });
  });
});
