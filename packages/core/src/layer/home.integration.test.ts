import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import { type Checkout, makeScene, type Scene } from "../git/fixture.ts";
import { findRepository } from "../git/repository.ts";
import type { AbsPath } from "../system/paths.ts";
import { ensureHome, type Home, type HomeMode, readHome } from "./home.ts";

let scene: Scene;
let main: Checkout;

beforeEach(() => {
  scene = makeScene();
  main = scene.make("main tree");
  main.write({ ".gitignore": "/.ai/local\n", ".ai/manifest.yaml": "schema: ai-repository/v1\n" });
  main.commit("layer");
});
afterEach(() => scene.remove());

const seeds = { "state/decisions.md": "# Decisions\n", "state/open-questions.md": "# Questions\n" };

function look(checkout: Checkout): Home {
  return readHome(checkout.system(), findRepository(checkout.system(), checkout.top));
}

function ensure(checkout: Checkout, wanted?: HomeMode): Promise<Home> {
  const system = checkout.system();
  const repository = findRepository(system, checkout.top);
  return ensureHome({ system, repository, seeds, ...(wanted === undefined ? {} : { wanted }) });
}

function homeOf(name: string): string {
  return path.join(main.top, ".git/reeve/checkouts", name);
}

function local(checkout: Checkout, ...parts: string[]): string {
  return path.join(checkout.top, ".ai/local", ...parts);
}

function addWorktree(name: string): Checkout {
  main.git("worktree", "add", "-q", "--detach", `../${name}`);
  return scene.at(name);
}

describe("readHome", () => {
  test("readHome says where the home will be before there is one, and makes nothing", () => {
    expect(look(main)).toEqual({
      mode: "git",
      path: homeOf("main"),
      exists: false,
      linked: false,
      misplaced: undefined,
      foreign: false,
    });
    expect([fs.existsSync(local(main)), fs.existsSync(path.join(main.top, ".git/reeve"))]).toEqual([false, false]);
  });

  test.each([
    ["a file", (where: string) => fs.writeFileSync(where, ""), /a file stands/],
    [
      "a link to a folder elsewhere",
      (where: string) => fs.symlinkSync("../src", where),
      /a dangling link to \.\.\/src/,
    ],
    ["a link to a folder that is there", (where: string) => fs.symlinkSync("/", where), /a link to \/,/],
    ["a link to itself", (where: string) => fs.symlinkSync("local", where), /a dangling link/],
  ])("readHome names %s in its place", (_what, make, says) => {
    make(local(main));
    expect(look(main)).toMatchObject({ exists: false, linked: false, misplaced: expect.stringMatching(says) });
  });
});

describe("ensureHome", () => {
  test("ensureHome makes a home below the git folder behind a relative link, with its seeds, private", async () => {
    const home = await ensure(main);
    expect(home).toEqual(look(main));
    expect(home).toMatchObject({ mode: "git", path: homeOf("main"), exists: true, linked: true, misplaced: undefined });
    expect(fs.readlinkSync(local(main))).toBe("../.git/reeve/checkouts/main");
    expect(fs.readFileSync(local(main, "state/decisions.md"), "utf8")).toBe("# Decisions\n");
    for (const name of ["state/handovers", "state/checkpoints", "state/archive", "state/completed", "cache", "run"])
      expect(fs.statSync(local(main, name)).mode & 0o777, name).toBe(0o700);
    expect(fs.statSync(local(main, "state/decisions.md")).mode & 0o777).toBe(0o600);
    expect(main.git("status", "--porcelain")).toBe("");
  });

  test("ensureHome changes nothing a second time, and overwrites no record", async () => {
    await ensure(main);
    fs.appendFileSync(local(main, "state/decisions.md"), "mine\n");
    const before = fs.statSync(local(main, "state/decisions.md")).mtimeMs;
    expect(await ensure(main)).toEqual(look(main));
    expect(fs.readFileSync(local(main, "state/decisions.md"), "utf8")).toBe("# Decisions\nmine\n");
    expect(fs.statSync(local(main, "state/decisions.md")).mtimeMs).toBe(before);
  });

  test("ensureHome makes the link again when it was taken away, and the records are those of before", async () => {
    await ensure(main);
    fs.appendFileSync(local(main, "state/decisions.md"), "mine\n");
    fs.rmSync(local(main));
    main.git("clean", "-fdxq");
    expect(look(main)).toMatchObject({ exists: true, linked: false });
    expect(await ensure(main)).toMatchObject({ exists: true, linked: true });
    expect(fs.readFileSync(local(main, "state/decisions.md"), "utf8")).toBe("# Decisions\nmine\n");
  });

  test("ensureHome aims the link again after the whole repository was moved or copied", async () => {
    await ensure(main);
    const moved = scene.at("moved/tree");
    fs.cpSync(main.top, moved.top, { recursive: true, verbatimSymlinks: true });
    expect(look(moved)).toMatchObject({ path: path.join(moved.top, ".git/reeve/checkouts/main"), linked: true });
    fs.rmSync(local(moved));
    fs.symlinkSync(path.join(main.top, ".git/reeve/checkouts/main"), local(moved));
    expect(look(moved)).toMatchObject({ exists: true, linked: false, misplaced: undefined });
    expect((await ensure(moved)).linked).toBe(true);
    expect(fs.readlinkSync(local(moved))).toBe("../.git/reeve/checkouts/main");
  });

  test("ensureHome makes a real folder where one is wanted, and keeps to it", async () => {
    const home = await ensure(main, "checkout");
    expect(home).toMatchObject({ mode: "checkout", path: local(main), exists: true, linked: true });
    expect(fs.lstatSync(local(main)).isDirectory()).toBe(true);
    expect(fs.readFileSync(local(main, "state/decisions.md"), "utf8")).toBe("# Decisions\n");
    expect(fs.existsSync(path.join(main.top, ".git/reeve"))).toBe(false);
    expect(await ensure(main, "git")).toEqual(home);
    expect(main.git("status", "--porcelain")).toBe("");
  });

  test("ensureHome makes a real folder where the common folder cannot be written", async () => {
    const system = { ...main.system(), canWrite: () => false };
    const home = await ensureHome({ system, repository: findRepository(system, main.top), seeds });
    expect(home).toMatchObject({ mode: "checkout", exists: true });
  });

  test("ensureHome refuses what stands in its place, and leaves it", async () => {
    fs.writeFileSync(local(main), "mine");
    const error = await ensure(main).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReeveError);
    expect(error).toMatchObject({ code: "HOME_MISPLACED", exit: 15, hint: expect.stringContaining("ls -l") });
    expect((error as ReeveError).hint).not.toMatch(/force|reset|rm /);
    expect(fs.readFileSync(local(main), "utf8")).toBe("mine");
  });

  test("ensureHome gives every worktree a home of its own, that outlives a removed folder", async () => {
    const side = addWorktree("side");
    const [ours, theirs] = [await ensure(main), await ensure(side)];
    expect([ours.path, theirs.path]).toEqual([homeOf("main"), homeOf("side")]);
    expect(fs.realpathSync(local(side))).toBe(homeOf("side"));
    expect(path.isAbsolute(fs.readlinkSync(local(side)))).toBe(false);
    fs.appendFileSync(local(side, "state/decisions.md"), "theirs\n");
    expect(fs.readFileSync(local(main, "state/decisions.md"), "utf8")).toBe("# Decisions\n");
    main.git("worktree", "remove", "--force", side.top);
    expect(fs.readFileSync(path.join(homeOf("side"), "state/decisions.md"), "utf8")).toContain("theirs");
  });

  test("ensureHome sets a removed worktree's home aside when its name is taken again", async () => {
    const first = addWorktree("side");
    await ensure(first);
    fs.appendFileSync(local(first, "state/decisions.md"), "old\n");
    main.git("worktree", "remove", "--force", first.top);
    const second = addWorktree("side");
    expect(look(second)).toMatchObject({ exists: false, foreign: true });
    expect(await ensure(second)).toMatchObject({ exists: true, foreign: false, linked: true });
    expect(fs.readFileSync(local(second, "state/decisions.md"), "utf8")).toBe("# Decisions\n");
    const aside = fs.readdirSync(path.dirname(homeOf("side"))).filter((name) => /^side\.\d{8}T\d{6}Z$/.test(name));
    expect(aside.length).toBe(1);
    const kept = path.join(path.dirname(homeOf("side")), aside[0] ?? "", "state/decisions.md");
    expect(fs.readFileSync(kept, "utf8")).toContain("old");
  });

  test("ensureHome keeps a worktree's home when the worktree is moved, and mends its link", async () => {
    const side = addWorktree("side");
    await ensure(side);
    fs.appendFileSync(local(side, "state/decisions.md"), "mine\n");
    fs.mkdirSync(path.join(scene.root, "deep/er"), { recursive: true });
    main.git("worktree", "move", side.top, path.join(scene.root, "deep/er/side"));
    const moved = scene.at("deep/er/side");
    expect(look(moved)).toMatchObject({ exists: true, foreign: false, misplaced: undefined });
    expect((await ensure(moved)).linked).toBe(true);
    expect(fs.readFileSync(local(moved, "state/decisions.md"), "utf8")).toContain("mine");
  });

  test("ensureHome makes one home for several commands at once", async () => {
    const homes = await Promise.all(Array.from({ length: 4 }, () => ensure(main)));
    expect(new Set(homes.map((home) => home.path)).size).toBe(1);
    expect(homes.every((home) => home.exists && home.linked)).toBe(true);
    expect(fs.readdirSync(path.join(main.top, ".git/reeve")).filter((name) => name.endsWith(".journal"))).toEqual([]);
  });

  test("ensureHome aims the link from where a linked .ai really lies", async () => {
    fs.renameSync(path.join(main.top, ".ai"), path.join(scene.root, "elsewhere"));
    fs.symlinkSync("../elsewhere", path.join(main.top, ".ai"));
    const home = await ensure(main).catch((error: unknown) => error);
    if (home instanceof Error) expect(home).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) });
    else expect(fs.realpathSync(local(main)) as AbsPath).toBe((home as Home).path);
  });
});
