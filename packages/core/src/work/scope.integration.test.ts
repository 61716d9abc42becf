import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import { type Checkout, makeScene, type Scene } from "../git/fixture.ts";
import { findRepository } from "../git/repository.ts";
import { nodeSystem } from "../system/node.ts";
import type { AbsPath } from "../system/paths.ts";
import { resolveScope } from "./scope.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main tree");
  main.write({ "src/auth/a.ts": "a", "läs mig/ü.txt": "b", "docs/a.md": "c", "..odd/a": "d" });
  fs.mkdirSync(path.join(scene.root, "outside/deep"), { recursive: true });
  fs.mkdirSync(path.join(scene.root, "main tree 2"));
  const links: readonly (readonly [string, string])[] = [
    ["inner", "src/auth"],
    ["src/up", "../docs"],
    ["out", "../outside"],
    ["dangling", "nowhere"],
    ["dangling-out", "../nowhere"],
    ["loop", "loop"],
    ["git", ".git"],
  ];
  for (const [name, target] of links) fs.symlinkSync(target, path.join(main.top, name));
  fs.symlinkSync(main.top, path.join(scene.root, "shortcut"));
});
afterAll(() => scene.remove());

function resolve(given: string, cwd = "."): string {
  const system = nodeSystem({ cwd: path.resolve(main.top, cwd), env: main.system().env });
  return resolveScope(system, findRepository(main.system(), main.top), given);
}

function refusal(given: string, cwd?: string): ReeveError {
  try {
    throw new Error(`accepted as ${resolve(given, cwd)}`);
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
}

describe("resolveScope", () => {
  test.each([
    ["src/auth", "src/auth"],
    ["src/auth/", "src/auth"],
    ["./src//auth/../auth/a.ts", "src/auth/a.ts"],
    [".", "."],
    ["src/..", "."],
    ["läs mig", "läs mig"],
    ["läs mig/ü.txt", "läs mig/ü.txt"],
    ["not/yet/there", "not/yet/there"],
    ["src/auth/a.ts/below", "src/auth/a.ts/below"],
    ["..odd", "..odd"],
    ["..odd/a", "..odd/a"],
    ["inner", "src/auth"],
    ["inner/new.ts", "src/auth/new.ts"],
    ["src/up/a.md", "docs/a.md"],
    [".gitignore", ".gitignore"],
    [".github", ".github"],
  ])("resolveScope records %s as %s", (given, recorded) => {
    expect(resolve(given)).toBe(recorded);
  });

  test("resolveScope reads a path from the folder the command was called in", () => {
    expect(resolve("auth", "src")).toBe("src/auth");
    expect(resolve("../docs", "src")).toBe("docs");
    expect(resolve("..", "src/auth")).toBe("src");
    expect(resolve("a.ts", "inner")).toBe("src/auth/a.ts");
  });

  test("resolveScope takes an absolute path inside the repository, also through a link to its root", () => {
    expect(resolve(path.join(main.top, "src"))).toBe("src");
    expect(resolve(main.top)).toBe(".");
    expect(resolve(path.join(scene.root, "shortcut", "src"))).toBe("src");
    expect(resolve("src", path.join(scene.root, "shortcut"))).toBe("src");
  });

  test.each(["..", "../outside", "../main tree 2", "src/../../outside", "/", "/etc/passwd"])(
    "resolveScope refuses %s as outside the repository",
    (given) => {
      expect(refusal(given)).toMatchObject({ code: "SCOPE_REFUSED", exit: 15, message: /is outside the repository/ });
    },
  );

  test.each(["out", "out/deep", "out/not there", "dangling", "dangling/x", "dangling-out/x/y", "loop", "loop/x"])(
    "resolveScope refuses %s as a link that leads out or nowhere",
    (given) => {
      expect(refusal(given)).toMatchObject({ code: "SCOPE_REFUSED", message: /through a link/ });
    },
  );

  test.each([".git", ".git/", ".git/config", "src/../.git/hooks", "git", "git/config"])(
    "resolveScope refuses git's own folder, %s",
    (given) => {
      expect(refusal(given)).toMatchObject({ code: "SCOPE_REFUSED", message: /git's own folder/ });
    },
  );

  test.each(["", " ", "a\0b"])("resolveScope refuses the path %j as none", (given) => {
    expect(refusal(given).code).toBe("USAGE");
  });

  test("resolveScope refuses another working tree of the same repository", () => {
    main.git("worktree", "add", "-q", "--detach", "../linked");
    expect(refusal("../linked").code).toBe("SCOPE_REFUSED");
    const linked = scene.at("linked");
    const repository = findRepository(linked.system(), linked.top);
    expect(resolveScope(linked.system(), repository, "first.txt")).toBe("first.txt");
    expect(() => resolveScope(linked.system(), repository, path.join(main.top, "src") as AbsPath)).toThrow(ReeveError);
    expect(() => resolveScope(linked.system(), repository, ".git")).toThrow(/git's own folder/);
  });
});
