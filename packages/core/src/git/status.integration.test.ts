import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { findRepository } from "./repository.ts";
import { readStatus, type Status } from "./status.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main");
});
afterAll(() => scene.remove());

function statusOf(checkout: Checkout, env: Readonly<Record<string, string>> = {}): Status {
  const system = checkout.system(env);
  return readStatus(system, findRepository(system, checkout.top));
}

function shown(status: Status): string[] {
  return status.entries.map((entry) => `${entry.kind} ${entry.index}${entry.worktree} ${entry.path}`);
}

describe("readStatus", () => {
  test("readStatus tells a repository before its first commit", () => {
    fs.mkdirSync(path.join(scene.root, "fresh"));
    const fresh = scene.at("fresh");
    fresh.git("init", "-q", "-b", "start");
    expect(statusOf(fresh)).toEqual({ branch: "start", head: undefined, entries: [], clean: true });
  });

  test("readStatus unfolds untracked folders, leaves out ignored files and keeps every character of a path", () => {
    const names = ["sp ace/ö.txt", 'quo"te\\.txt', "line\nbreak", "tab\t", " lead", "日本/語"];
    main.write({ ".gitignore": "*.log\n", "a.log": "", ...Object.fromEntries(names.map((name) => [name, "x"])) });
    const status = statusOf(main);
    const found = status.entries.map((entry) => entry.path).filter((name) => name !== ".gitignore");
    expect([...found].sort()).toEqual([...names].sort());
    main.commit("names");
    expect(statusOf(main)).toEqual({ branch: "main", head: main.head(), entries: [], clean: true });
  });

  test("readStatus tells a rename with both paths, whatever the configuration says of its output", () => {
    main.git("mv", "first.txt", "re named.txt");
    main.git("config", "status.showUntrackedFiles", "no");
    main.git("config", "status.relativePaths", "true");
    main.git("config", "color.ui", "always");
    main.write({ "extra/new": "" });
    const [renamed, ...rest] = statusOf(main).entries;
    expect(renamed).toEqual({ path: "re named.txt", kind: "renamed", from: "first.txt", index: "R", worktree: "." });
    expect(rest.map((entry) => entry.path)).toEqual(["extra/new"]);
    main.commit("renamed");
  });

  test("readStatus tells unmerged files", () => {
    main.git("switch", "-q", "-c", "topic");
    main.commit("ours", { "both.txt": "ours\n" });
    main.git("switch", "-q", "main");
    main.commit("theirs", { "both.txt": "theirs\n" });
    expect(main.try(["merge", "-q", "topic"]).exit).toBe(1);
    expect(shown(statusOf(main))).toEqual(["unmerged AA both.txt"]);
    main.git("merge", "--abort");
  });

  test("readStatus counts the distance to the upstream", () => {
    main.git("clone", "-q", main.top, path.join(scene.root, "clone"));
    const clone = scene.at("clone");
    clone.commit("one");
    expect(statusOf(clone)).toMatchObject({ upstream: "origin/main", ahead: 1, behind: 0 });
  });

  test("readStatus leaves the index as it is", () => {
    const index = path.join(main.top, ".git/index");
    main.write({ "both.txt": "theirs\n" });
    const before = fs.statSync(index).mtimeMs;
    expect(statusOf(main).clean).toBe(true);
    expect(fs.statSync(index).mtimeMs).toBe(before);
  });

  test("readStatus says NO_GIT where git cannot be started", () => {
    expect(() => statusOf(main, { PATH: scene.root })).toThrow(
      expect.objectContaining({ code: "NO_GIT", exit: 12, hint: expect.stringContaining("git") }),
    );
  });

  test("readStatus says GIT_FAILED in git's own words", () => {
    const broken = scene.make("broken");
    fs.writeFileSync(path.join(broken.top, ".git/index"), "no index");
    expect(() => statusOf(broken)).toThrow(
      expect.objectContaining({
        code: "GIT_FAILED",
        message: expect.stringMatching(/^git status: (fatal|error): /),
        hint: expect.stringContaining(`git -C '${broken.top}' status`),
      }),
    );
  });

  test.skipIf(process.getuid?.() !== 0)(
    "readStatus names the way out where git refuses another user's repository",
    () => {
      const theirs = scene.make("theirs");
      for (const part of ["", ".git"]) fs.chownSync(path.join(theirs.top, part), 12_345, 12_345);
      expect(() => statusOf(theirs)).toThrow(
        expect.objectContaining({
          code: "GIT_FAILED",
          message: expect.stringContaining("ownership"),
          hint: expect.stringContaining(`safe.directory '${theirs.top}'`),
        }),
      );
      const allowed = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: theirs.top };
      expect(statusOf(theirs, allowed).clean).toBe(true);
    },
  );
});
