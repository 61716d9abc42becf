import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AbsPath } from "../system/paths.ts";
import { gitEnvironment } from "./environment.ts";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { findRepository } from "./repository.ts";
import { readStatus } from "./status.ts";

let scene: Scene;
let main: Checkout;
let other: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main");
  other = scene.make("other");
});
afterAll(() => scene.remove());

/** The environment a real pre-commit hook gets when `args` are run there. */
function hookEnvironment(checkout: Checkout, args: readonly string[]): Record<string, string> {
  const out = path.join(scene.root, "hook-env");
  const hook = path.join(main.top, ".git/hooks/pre-commit");
  fs.mkdirSync(path.dirname(hook), { recursive: true });
  fs.writeFileSync(hook, `#!/bin/sh\nenv -0 > '${out}'\nexit 1\n`, { mode: 0o755 });
  checkout.try(args);
  fs.rmSync(hook);
  const pairs = fs
    .readFileSync(out, "utf8")
    .split("\0")
    .filter((pair) => pair.startsWith("GIT_"));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

describe("gitEnvironment", () => {
  test("gitEnvironment adds what makes git quiet and keeps the rest", () => {
    const system = main.system({ KEPT: "yes", LC_ALL: "de_DE.UTF-8" });
    const env = gitEnvironment(system, findRepository(system, main.top));
    expect(env).toMatchObject({ KEPT: "yes", LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0" });
    expect(Object.keys(env)).not.toContain("GIT_DIR");
  });

  test("gitEnvironment keeps what names this repository, as absolute paths", () => {
    const system = main.system({
      GIT_DIR: ".git",
      GIT_INDEX_FILE: ".git/next",
      GIT_PREFIX: "a/",
      GIT_OBJECT_DIRECTORY: ".git/objects",
    });
    expect(gitEnvironment(system, findRepository(system, main.top))).toMatchObject({
      GIT_DIR: path.join(main.top, ".git"),
      GIT_WORK_TREE: main.top,
      GIT_INDEX_FILE: path.join(main.top, ".git/next"),
      GIT_OBJECT_DIRECTORY: path.join(main.top, ".git/objects"),
      GIT_PREFIX: "a/",
    });
  });

  test("gitEnvironment drops what names another repository", () => {
    const system = other.system({
      GIT_DIR: path.join(main.top, ".git"),
      GIT_WORK_TREE: main.top,
      GIT_INDEX_FILE: path.join(main.top, ".git/index"),
      GIT_PREFIX: "",
      GIT_COMMON_DIR: path.join(main.top, ".git"),
      GIT_OBJECT_DIRECTORY: path.join(main.top, ".git/objects"),
    });
    const env = gitEnvironment(system, findRepository(system, other.top));
    const named = Object.keys(env).filter((name) => /^GIT_(DIR|WORK_TREE|INDEX|PREFIX|COMMON|OBJECT)/.test(name));
    expect(named).toEqual([]);
  });

  test.each([
    ["the main working tree", "main"],
    ["a linked working tree", "linked"],
  ])("gitEnvironment lets a pre-commit hook of %s see the index of the commit under way", (_, folder) => {
    if (folder === "linked") main.git("worktree", "add", "-q", "--detach", "../linked");
    const checkout = scene.at(folder);
    checkout.write({ "first.txt": "changed\n", "second.txt": "left out\n" });
    const env = hookEnvironment(checkout, ["commit", "-m", "partly", "first.txt"]);
    expect(env["GIT_INDEX_FILE"]).toMatch(/next-index/);
    // The hook is over and its index gone: what it held is put back where it was.
    fs.copyFileSync(
      path.join(main.top, ".git", folder === "linked" ? "worktrees/linked" : "", "index"),
      env["GIT_INDEX_FILE"] ?? "",
    );
    checkout.try(["add", "first.txt"], { GIT_INDEX_FILE: env["GIT_INDEX_FILE"] ?? "" });
    const system = checkout.system(env);
    const status = readStatus(system, findRepository(system, checkout.top));
    fs.rmSync(env["GIT_INDEX_FILE"] ?? "");
    expect(status.entries.map((entry) => [entry.path, entry.index, entry.worktree])).toEqual([
      ["first.txt", "M", "."],
      ["second.txt", "?", "?"],
    ]);
  });

  test("gitEnvironment drops an index outside this git directory, or not there", () => {
    const index = path.join(main.top, ".git/index") as AbsPath;
    for (const named of [index, ".git/no-such-index"]) {
      const system = other.system({ GIT_INDEX_FILE: named });
      expect(gitEnvironment(system, findRepository(system, other.top))).not.toHaveProperty("GIT_INDEX_FILE");
    }
  });
});
