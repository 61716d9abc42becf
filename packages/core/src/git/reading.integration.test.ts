import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { historyArguments } from "./history.ts";
import { type GitReading, type Prefetched, readRepository } from "./reading.ts";
import { statusArguments } from "./status.ts";

let scene: Scene;
let main: Checkout;
let first: string;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main");
  first = main.head();
});
afterAll(() => scene.remove());

function reading(checkout: Checkout, prefetched?: Prefetched): GitReading {
  return readRepository(checkout.system(), checkout.top, prefetched);
}

function output(checkout: Checkout, args: readonly string[]): Uint8Array {
  return Buffer.from(checkout.try(args).stdout);
}

describe("readRepository", () => {
  test("readRepository answers where, head, reflog and worktrees without a process", () => {
    const git = reading(main);
    expect(git.repository.top).toBe(main.top);
    expect(git.head()).toEqual({ branch: "main", head: first });
    expect(git.reflog()?.map((entry) => entry.message)).toEqual(["commit (initial): first"]);
    expect(git.worktrees()).toHaveLength(1);
    expect(git.history(first)).toEqual({ kind: "commits", ancestor: true, commits: [] });
    expect(git.processes).toBe(0);
  });

  test("readRepository starts git once for the status and once for each history", () => {
    main.commit("more", { "läs mig/x y.txt": "x" });
    const git = reading(main);
    const since = { base: first, startedAt: scene.now() };
    expect(git.status()).toBe(git.status());
    expect(git.head()).toEqual({ branch: "main", head: main.head() });
    expect(git.touched(since)).toEqual(git.touched(since));
    expect(git.history(first)).toBe(git.history(first));
    expect(git.processes).toBe(2);
    expect(git.history("1".repeat(40))).toEqual({ kind: "missing" });
    expect(git.processes).toBe(4);
  });

  test("readRepository answers from what was run beforehand, without a process", () => {
    main.write({ "new.txt": "" });
    const fresh = reading(main);
    const git = reading(main, {
      status: output(main, statusArguments),
      history: { base: first, bytes: output(main, historyArguments(first)) },
    });
    expect(git.status()).toEqual(fresh.status());
    expect(git.history(first)).toEqual(fresh.history(first));
    expect(git.head()).toEqual(fresh.head());
    expect(git.processes).toBe(0);
  });

  test("readRepository does not believe what a failed run left, nor a history of another base", () => {
    const second = main.commit("second", { "s.txt": "s" });
    const failed = new Uint8Array();
    const git = reading(main, { status: failed, history: { base: first, bytes: failed } });
    expect(git.status().head).toBe(second);
    expect(git.history(first)).toMatchObject({ kind: "commits", ancestor: true, commits: { length: 2 } });
    const other = reading(main, { history: { base: second, bytes: output(main, historyArguments(first)) } });
    expect(other.history(first)).toMatchObject({ commits: { length: 2 } });
    expect(other.processes).toBe(1);
  });

  test("readRepository touched is the union of working tree and own commits, both ends of a rename, by path", () => {
    const topic = scene.make("touched");
    topic.commit("before", { "Z.txt": "z\n", "old ü.txt": "long enough to be known again\n" });
    const since = { base: topic.head(), startedAt: scene.now() };
    const id = topic.commit("own", { "b/committed.txt": "1", "Z.txt": "y\n" });
    topic.git("mv", "old ü.txt", "new.txt");
    topic.write({ "Z.txt": "x\n", "a\nb.txt": "" });
    const git = reading(topic);
    expect(git.touched(since)).toEqual([
      { path: "Z.txt", source: "worktree", commit: id },
      { path: "a\nb.txt", source: "worktree" },
      { path: "b/committed.txt", source: "commit", commit: id },
      { path: "new.txt", source: "worktree" },
      { path: "old ü.txt", source: "worktree" },
    ]);
    expect(git.own(since).basis).toBe("reflog");
  });

  test("readRepository touched needs one process when HEAD has not moved", () => {
    const git = reading(main);
    expect(git.touched({ base: main.head(), startedAt: scene.now() })).toEqual([]);
    expect(git.processes).toBe(1);
  });

  test("readRepository asks git for the head, with the status, where the repository is unusual", () => {
    const system = { ...main.system(), uid: (process.getuid?.() ?? 0) + 1 };
    const git = readRepository(system, main.top);
    expect(git.repository.unusual).toBe(true);
    expect(git.head()).toEqual({ branch: "main", head: main.head() });
    expect(git.status().clean).toBe(true);
    expect(git.processes).toBe(1);
  });

  test("readRepository works before the first commit and in a submodule", () => {
    fs.mkdirSync(path.join(scene.root, "empty"));
    const empty = scene.at("empty");
    empty.git("init", "-q", "-b", "main");
    const since = { base: undefined, startedAt: scene.now() };
    empty.write({ "a.txt": "a" });
    expect(reading(empty).touched(since)).toEqual([{ path: "a.txt", source: "worktree" }]);
    const id = empty.commit("root");
    expect(reading(empty).touched(since)).toEqual([{ path: "a.txt", source: "commit", commit: id }]);

    const host = scene.make("host");
    host.git("submodule", "--quiet", "add", main.top, "sub");
    const sub = scene.at("host/sub");
    const inSub = { base: sub.head(), startedAt: scene.now() };
    const subId = sub.commit("in sub", { "s/t.txt": "t" });
    expect(reading(sub).touched(inSub)).toEqual([{ path: "s/t.txt", source: "commit", commit: subId }]);
  });
});
