import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { findRepository } from "./repository.ts";
import { listWorktrees, parseWorktreeBranches } from "./worktrees.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main");
});
afterAll(() => scene.remove());

describe("listWorktrees", () => {
  test("listWorktrees answers the main one first, then each linked one, the same from every one of them", () => {
    main.git("worktree", "add", "-q", "-b", "to/ü", "../wt b");
    main.git("worktree", "add", "-q", "--detach", "../wt a");
    main.git("worktree", "add", "-q", "-b", "gone", "../gone");
    fs.rmSync(path.join(scene.root, "gone"), { recursive: true });
    const gitDir = (name: string): string => path.join(main.top, ".git/worktrees", name);
    const expected = [
      { checkout: "main", path: main.top, branch: "main", gitDir: path.join(main.top, ".git"), present: true },
      { checkout: "gone", path: path.join(scene.root, "gone"), branch: "gone", gitDir: gitDir("gone"), present: false },
      { checkout: "wt-a", path: path.join(scene.root, "wt a"), gitDir: gitDir("wt-a"), present: true },
      { checkout: "wt-b", path: path.join(scene.root, "wt b"), branch: "to/ü", gitDir: gitDir("wt-b"), present: true },
    ];
    for (const folder of ["main", "wt b"]) {
      const system = scene.at(folder).system();
      const repository = findRepository(system, scene.at(folder).top);
      expect(listWorktrees(system, repository)).toEqual(expected);
    }
  });

  test("listWorktrees asks git for the branches where HEAD does not tell them", () => {
    const told = Buffer.from(main.try(["worktree", "list", "--porcelain", "-z"]).stdout);
    fs.writeFileSync(path.join(main.top, ".git/HEAD"), "ref: refs/heads/.invalid\n");
    const system = { ...main.system(), run: () => ({ exit: 0, stdout: told, stderr: "" }) };
    expect(listWorktrees(system, findRepository(system, main.top))[0]).toMatchObject({ branch: "main" });
    fs.writeFileSync(path.join(main.top, ".git/HEAD"), "ref: refs/heads/main\n");
  });

  test("parseWorktreeBranches reads branches by path, none for a detached head", () => {
    const told = Buffer.from(main.try(["worktree", "list", "--porcelain", "-z"]).stdout);
    expect([...parseWorktreeBranches(told)]).toEqual(
      expect.arrayContaining([
        [main.top, "main"],
        [path.join(scene.root, "wt b"), "to/ü"],
      ]),
    );
    expect(parseWorktreeBranches(told).has(path.join(scene.root, "wt a"))).toBe(false);
  });

  test("listWorktrees has no main working tree for a bare clone", () => {
    main.git("clone", "-q", "--bare", main.top, "../bare.git");
    scene.at("bare.git").git("worktree", "add", "-q", "../of-bare", "main");
    const system = scene.at("of-bare").system();
    const found = listWorktrees(system, findRepository(system, scene.at("of-bare").top));
    expect(found.map((worktree) => worktree.checkout)).toEqual(["of-bare"]);
  });

  test("listWorktrees answers a submodule's own working tree, also from one linked to it", () => {
    const host = scene.make("host");
    host.git("submodule", "--quiet", "add", main.top, "sub");
    const sub = scene.at("host/sub");
    sub.git("worktree", "add", "-q", "--detach", path.join(scene.root, "beside"));
    for (const checkout of [sub, scene.at("beside")]) {
      const found = listWorktrees(checkout.system(), findRepository(checkout.system(), checkout.top));
      expect(found.map((worktree) => [worktree.checkout, worktree.path])).toEqual([
        ["main", sub.top],
        ["beside", path.join(scene.root, "beside")],
      ]);
    }
  });
});
