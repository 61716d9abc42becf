import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { type Head, readHead } from "./head.ts";
import { findRepository } from "./repository.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main");
});
afterAll(() => scene.remove());

function headOf(checkout: Checkout): Head {
  const run = (): never => {
    throw new Error("a process was started");
  };
  return readHead({ ...checkout.system(), run }, findRepository(checkout.system(), checkout.top));
}

describe("readHead", () => {
  test("readHead reads a loose branch, nested names included", () => {
    expect(headOf(main)).toEqual({ branch: "main", head: main.head() });
    main.git("switch", "-q", "-c", "füß/deep/er");
    main.commit("on it");
    expect(headOf(main)).toEqual({ branch: "füß/deep/er", head: main.head() });
  });

  test("readHead reads packed references, and the loose one before them", () => {
    main.git("pack-refs", "--all");
    expect(fs.existsSync(path.join(main.top, ".git/refs/heads/füß/deep/er"))).toBe(false);
    expect(headOf(main)).toEqual({ branch: "füß/deep/er", head: main.head() });
    main.git("switch", "-q", "-c", "er");
    main.commit("later");
    main.git("pack-refs", "--all");
    const later = main.commit("latest");
    expect(headOf(main)).toEqual({ branch: "er", head: later });
  });

  test("readHead tells a detached head", () => {
    main.git("checkout", "-q", "--detach", "main");
    expect(headOf(main)).toEqual({ branch: undefined, head: main.git("rev-parse", "main") });
    main.git("switch", "-q", "main");
  });

  test("readHead tells a branch before its first commit, also where a folder has its name", () => {
    fs.mkdirSync(path.join(scene.root, "fresh"));
    const fresh = scene.at("fresh");
    fresh.git("init", "-q", "-b", "to/come");
    expect(headOf(fresh)).toEqual({ branch: "to/come", head: undefined });
    fs.mkdirSync(path.join(fresh.top, ".git/refs/heads/to/come"), { recursive: true });
    expect(headOf(fresh)).toEqual({ branch: "to/come", head: undefined });
  });

  test("readHead reads a linked working tree's own head through the shared references", () => {
    main.git("worktree", "add", "-q", "-b", "side", "../side");
    const id = scene.at("side").commit("beside");
    expect(headOf(scene.at("side"))).toEqual({ branch: "side", head: id });
    expect(headOf(main).branch).toBe("main");
  });

  test("readHead follows a reference to a reference, and HEAD as a link", () => {
    main.git("symbolic-ref", "refs/heads/alias", "refs/heads/er");
    main.git("symbolic-ref", "HEAD", "refs/heads/alias");
    expect(headOf(main)).toEqual({ branch: "er", head: main.git("rev-parse", "er") });
    fs.rmSync(path.join(main.top, ".git/HEAD"));
    fs.symlinkSync("refs/heads/main", path.join(main.top, ".git/HEAD"));
    expect(headOf(main)).toEqual({ branch: "main", head: main.git("rev-parse", "main") });
  });

  test("readHead names the file of a damaged reference", () => {
    const broken = scene.make("broken");
    for (const text of ["", "0123\n", "ref: refs/heads/main\n"]) {
      fs.writeFileSync(path.join(broken.top, ".git/refs/heads/main"), text);
      expect(() => headOf(broken)).toThrow(
        expect.objectContaining({ code: "GIT_FAILED", message: expect.stringContaining("refs/heads/main") }),
      );
    }
  });

  test("readHead asks git, once, where the repository is unusual", () => {
    const repository = { ...findRepository(main.system(), main.top), unusual: true };
    const runs: string[] = [];
    const system = main.system();
    const counted: typeof system = {
      ...system,
      run: (program, args, options) => {
        runs.push(program);
        return system.run(program, args, options);
      },
    };
    expect(readHead(counted, repository)).toEqual({ branch: "main", head: main.git("rev-parse", "main") });
    expect(runs).toEqual(["git"]);
  });
});
