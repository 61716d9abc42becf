import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { type History, readHistory } from "./history.ts";
import { findRepository } from "./repository.ts";

let scene: Scene;
let main: Checkout;
let first: string;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main");
  first = main.head();
  // None of what a person may configure changes what is read.
  for (const [key, value] of [
    ["log.showSignature", "true"],
    ["log.showRoot", "false"],
    ["log.decorate", "full"],
    ["log.diffMerges", "first-parent"],
    ["diff.renames", "copies"],
    ["color.ui", "always"],
    ["format.pretty", "fuller"],
    ["core.abbrev", "5"],
  ] as const) {
    main.git("config", key, value);
  }
});
afterAll(() => scene.remove());

function historyOf(checkout: Checkout, base: string | undefined): History {
  const system = checkout.system();
  const head = checkout.try(["rev-parse", "--verify", "-q", "HEAD"]).stdout.trim() || undefined;
  return readHistory(system, findRepository(system, checkout.top), { base, head });
}

function shown(history: History): unknown {
  if (history.kind === "missing") return history.kind;
  return history.commits.map((commit) => [commit.side, commit.subject, commit.files.map((file) => file.path)]);
}

describe("readHistory", () => {
  test("readHistory answers both sides with the files of each commit, of a merge only what differs from all parents", () => {
    main.git("switch", "-q", "-c", "topic");
    const left = main.commit("left – ü", { 'sp ace/"ö"\n.txt': "x" });
    main.git("switch", "-q", "-c", "work", first);
    const id = main.commit("right", { "both.txt": "mine\n", "first.txt": "two\n" });
    main.git("switch", "-q", "-c", "trunk", first);
    main.commit("trunk", { "both.txt": "theirs\n", "trunk.txt": "t\n" });
    main.git("switch", "-q", "work");
    expect(main.try(["merge", "-q", "trunk"]).exit).toBe(1);
    main.commit("merged", { "both.txt": "solved\n" });
    main.git("rm", "-q", "first.txt");
    main.commit("removed");
    const history = historyOf(main, left);
    expect(shown(history)).toEqual([
      ["right", "removed", ["first.txt"]],
      ["right", "merged", ["both.txt"]],
      ["right", "trunk", ["both.txt", "trunk.txt"]],
      ["right", "right", ["both.txt", "first.txt"]],
      ["left", "left – ü", ['sp ace/"ö"\n.txt']],
    ]);
    if (history.kind === "missing") throw new Error("missing");
    expect(history.ancestor).toBe(false);
    const blob = main.git("rev-parse", `${id}:both.txt`);
    expect(history.commits[3]).toMatchObject({
      id,
      parents: [first],
      authorEmail: "ada@example.org",
      files: [{ path: "both.txt", blob }, { path: "first.txt" }],
    });
    expect(history.commits[0]?.files[0]?.blob).toBe("0".repeat(40));
    expect(history.commits[1]?.files[0]?.blob).toBe(main.git("rev-parse", "HEAD~1:both.txt"));
  });

  test("readHistory knows an ancestor by an empty left side", () => {
    expect(historyOf(main, first)).toMatchObject({ kind: "commits", ancestor: true });
    expect(historyOf(main, main.head())).toEqual({ kind: "commits", ancestor: true, commits: [] });
  });

  test("readHistory answers all of HEAD, the root's files included, for a base before the first commit", () => {
    main.git("switch", "-q", "main");
    expect(shown(historyOf(main, undefined))).toEqual([["right", "first", ["first.txt"]]]);
  });

  test("readHistory says missing for a commit git does not have, and for what is no commit id", () => {
    expect(historyOf(main, "1".repeat(40))).toEqual({ kind: "missing" });
    expect(historyOf(main, "--output=x")).toEqual({ kind: "missing" });
  });

  test("readHistory answers before the first commit", () => {
    main.git("switch", "-q", "--orphan", "fresh");
    expect(historyOf(main, undefined)).toEqual({ kind: "commits", ancestor: true, commits: [] });
    expect(historyOf(main, first)).toEqual({ kind: "commits", ancestor: false, commits: [] });
    expect(historyOf(main, "1".repeat(40))).toEqual({ kind: "missing" });
    main.git("switch", "-q", "main");
  });

  test("readHistory tells a failure of git from a missing commit", () => {
    const head = main.commit("another", { "x.txt": "x" });
    fs.rmSync(path.join(main.top, ".git/objects", head.slice(0, 2), head.slice(2)));
    const system = main.system();
    const repository = findRepository(system, main.top);
    expect(() => readHistory(system, repository, { base: first, head })).toThrow(
      expect.objectContaining({ code: "GIT_FAILED", message: expect.stringMatching(/^git log: /) }),
    );
  });
});
