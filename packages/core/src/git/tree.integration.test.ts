import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { findRepository } from "./repository.ts";
import { readTreeId } from "./tree.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("ma:in");
});
afterAll(() => scene.remove());

function treeOf(checkout: Checkout): string {
  const system = checkout.system();
  return system.withScratch((scratch) => readTreeId(system, findRepository(system, checkout.top), scratch));
}

/** Every file of the repository with its size and, but for objects (git marks those it meets again), its time. */
function census(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => [name, fs.lstatSync(path.join(folder, name))] as const)
    .map(([name, info]) => `${name} ${info.size} ${name.startsWith("objects") ? "" : info.mtimeMs}`)
    .sort();
}

describe("readTreeId", () => {
  test("readTreeId is the tree of the commit that would be made of everything, and changes nothing", () => {
    main.write({ ".gitignore": "*.log\n", "kept.log": "tracked though ignored\n" });
    main.git("add", "-f", "kept.log");
    main.commit("ignores");
    main.write({ "first.txt": "changed\n", "ü/new\nfile": "new\n", "left.log": "ignored\n", "gone.txt": "" });
    main.git("add", "gone.txt");
    fs.rmSync(path.join(main.top, "gone.txt"));
    const before = census(path.join(main.top, ".git"));
    const id = treeOf(main);
    expect(census(path.join(main.top, ".git"))).toEqual(before);
    main.commit("everything");
    expect(id).toBe(main.git("rev-parse", "HEAD^{tree}"));
    expect(treeOf(main)).toBe(id);
  });

  test("readTreeId sees a change that only the time of the index betrays", () => {
    const before = treeOf(main);
    const second = new Date(1_700_000_000_000);
    const write = (text: string): void => {
      main.write({ "first.txt": text });
      fs.utimesSync(path.join(main.top, "first.txt"), second, second);
    };
    main.git("config", "core.trustctime", "false");
    main.git("config", "core.checkStat", "minimal");
    write("CHANGED\n");
    main.git("add", "first.txt");
    fs.utimesSync(path.join(main.top, ".git/index"), second, second);
    write("changed\n");
    expect(treeOf(main)).toBe(before);
    main.git("reset", "-q", "--hard");
  });

  test("readTreeId sees links, and files and folders that took each other's place, whatever is said of line ends", () => {
    main.commit("two shapes", { file: "f\n", "folder/in": "i\n" });
    for (const name of ["file", "folder"]) fs.rmSync(path.join(main.top, name), { recursive: true });
    main.write({ "file/in": "crlf\r\n", folder: "f\n" });
    fs.symlinkSync("nowhere", path.join(main.top, "link"));
    main.git("config", "core.autocrlf", "input");
    main.git("config", "core.safecrlf", "true");
    const id = treeOf(main);
    main.git("config", "core.safecrlf", "false");
    main.commit("other shapes");
    expect(id).toBe(main.git("rev-parse", "HEAD^{tree}"));
  });

  test("readTreeId leaves out repositories inside this one, one without a commit included", () => {
    const before = treeOf(main);
    fs.mkdirSync(path.join(main.top, "inner"));
    scene.at("ma:in/inner").git("init", "-q");
    main.write({ "inner/file": "x" });
    expect(treeOf(main)).toBe(before);
    fs.rmSync(path.join(main.top, "inner"), { recursive: true });
  });

  test("readTreeId answers in the middle of a merge, from a split index and in a linked working tree", () => {
    main.git("worktree", "add", "-q", "-b", "side", "../si de");
    const side = scene.at("si de");
    side.commit("side", { "both.txt": "side\n" });
    main.commit("main", { "both.txt": "main\n" });
    main.git("update-index", "--split-index");
    expect(side.try(["merge", "-q", "main"]).exit).toBe(1);
    const inMerge = treeOf(side);
    side.git("add", "-A");
    expect(inMerge).toBe(side.git("write-tree"));
    expect(treeOf(main)).toBe(main.git("rev-parse", "HEAD^{tree}"));
  });

  test("readTreeId answers before anything was added", () => {
    fs.mkdirSync(path.join(scene.root, "fresh"));
    const fresh = scene.at("fresh");
    fresh.git("init", "-q");
    expect(treeOf(fresh)).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    fresh.write({ "a.txt": "a\n" });
    const id = treeOf(fresh);
    fresh.git("add", "-A");
    expect(id).toBe(fresh.git("write-tree"));
  });
});
