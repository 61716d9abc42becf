import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { answersOf, type Job, openTestStore, storeError, textOf } from "./store.fixture.ts";
import { buildProgram, runProgram } from "./testing/child.ts";
import { memoryFolder, modeOf, temporaryFolder, treeOf } from "./testing/folder.ts";

const good = '{"id":"a","n":1}\n';

const obstacles: readonly [string, (path: string) => void][] = [
  ["a folder", (path) => mkdirSync(path)],
  ["a pipe, without waiting for its other end", (path) => execFileSync("mkfifo", [path])],
  [
    "a link to a file",
    (path) => {
      writeFileSync(`${path}.target`, good);
      symlinkSync(`${path}.target`, path);
    },
  ],
  ["a link to a folder", (path) => symlinkSync(".", path)],
  ["a link that leads nowhere", (path) => symlinkSync("nowhere", path)],
  ["a link to itself", (path) => symlinkSync("jobs.jsonl", path)],
  ["a link to a device", (path) => symlinkSync("/dev/zero", path)],
];

describe("a store's path", () => {
  test.each(obstacles)("is refused when it is %s", (_case, put) => {
    const folder = temporaryFolder();
    const path = join(folder, "jobs.jsonl");
    put(path);
    const before = treeOf(folder);
    for (const options of [{}, { readOnly: true }, { edited: "hand" as const }]) {
      expect(() => openTestStore(path, options)).toThrow(storeError("REFUSED_PATH", { path }));
    }
    expect(treeOf(folder)).toEqual(before);
  });

  test.each(obstacles)(
    "is refused when it becomes %s while the store is open, and taken again after",
    async (_case, put) => {
      const folder = temporaryFolder();
      const path = join(folder, "jobs.jsonl");
      const store = openTestStore<Job>(path);
      await store.put({ id: "a", n: 1 });
      renameSync(path, join(folder, "aside"));
      put(path);
      const before = treeOf(folder);
      const refused = storeError("REFUSED_PATH", { path });
      await expect(store.put({ id: "b" })).rejects.toThrow(refused);
      await expect(store.remove("a")).rejects.toThrow(refused);
      await expect(store.compact()).rejects.toThrow(refused);
      expect(() => store.refresh()).toThrow(refused);
      expect(treeOf(folder)).toEqual(before);
      rmSync(path, { recursive: true });
      renameSync(join(folder, "aside"), path);
      await store.put({ id: "b" });
      expect(answersOf(store).entries).toEqual([
        ["a", { id: "a", n: 1 }],
        ["b", { id: "b" }],
      ]);
      expect(textOf(path)).toBe(`${good}{"id":"b"}\n`);
    },
  );

  test.each(["/dev/null", "/dev/zero"])("is refused when it is the device %s", (path) => {
    expect(() => openTestStore(path)).toThrow(storeError("REFUSED_PATH", { path }));
    expect([existsSync(`${path}.lock`), existsSync(`${path}.idx`)]).toEqual([false, false]);
  });

  test("is refused below a file, a broken link and a loop, and the error names what is in the way", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "x");
    symlinkSync("nowhere", join(folder, "broken"));
    symlinkSync("loop", join(folder, "loop"));
    const before = treeOf(folder);
    for (const parent of ["file", "broken", "loop"]) {
      const use = async (): Promise<void> => openTestStore<Job>(join(folder, parent, "jobs.jsonl")).put({ id: "a" });
      const refused = storeError("REFUSED_PATH", { path: expect.stringContaining(join(folder, parent)) });
      await expect(use(), parent).rejects.toThrow(refused);
    }
    expect(treeOf(folder)).toEqual(before);
  });

  test("may lead through a link to a folder", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    await openTestStore<Job>(join(folder, "link", "jobs.jsonl")).put({ id: "a" });
    expect(treeOf(folder)).toEqual({ link: "-> real", real: "/", "real/jobs.jsonl": '{"id":"a"}\n' });
  });

  test("may have any characters and as many as the file system takes beside its lock", async () => {
    const folder = temporaryFolder();
    const names = ["two words", "it's", "new\nline", "é😀", "-rf", "$(x)", "a".repeat(250), "é".repeat(125)];
    for (const name of names) {
      const store = openTestStore<Job>(join(folder, name));
      await store.put({ id: "a", n: 1 });
      await store.put({ id: "a", n: 2 });
      expect(await store.compact()).toMatchObject({ changed: true });
      await store.close();
    }
    expect(readdirSync(folder).sort()).toEqual([...names].sort());
    expect(() => openTestStore<Job>(join(folder, "a".repeat(256)))).toThrow(storeError("REFUSED_PATH"));
  });

  test("is an error of this library when the system takes no such path", () => {
    const path = join(memoryFolder(), "a\0b");
    expect(() => openTestStore(path)).toThrow(expect.objectContaining({ name: "StoreError", path }));
  });

  test("counts from the current folder when it is relative", async () => {
    const folder = temporaryFolder();
    const old = process.cwd();
    process.chdir(folder);
    try {
      const store = openTestStore<Job>("jobs.jsonl");
      await store.put({ id: "a" });
      await store.compact();
      await store.close();
    } finally {
      process.chdir(old);
    }
    expect(treeOf(folder)).toEqual({ "jobs.jsonl": '{"id":"a"}\n' });
  });
});

describe("a store's folder", () => {
  test("is made by the first put, and the lock of it is left by nobody", async () => {
    const folder = temporaryFolder();
    await openTestStore<Job>(join(folder, "a", "b", "jobs.jsonl")).put({ id: "a" });
    expect([modeOf(join(folder, "a")), modeOf(join(folder, "a", "b"))]).toEqual([
      0o755 & ~process.umask(),
      0o755 & ~process.umask(),
    ]);
    await new Promise(setImmediate);
    expect(treeOf(folder)).toEqual({ a: "/", "a/b": "/", "a/b/jobs.jsonl": '{"id":"a"}\n' });
  });

  test("may be gone meanwhile: the store is empty then, and the next put makes both anew", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a", "b", "jobs.jsonl");
    const store = openTestStore<Job>(path);
    await store.put({ id: "a" });
    rmSync(join(folder, "a"), { recursive: true });
    expect(store.get("a")).toEqual({ id: "a" });
    expect([store.refresh(), store.size, store.get("a"), store.refresh()]).toEqual([true, 0, undefined, false]);
    await store.put({ id: "b" });
    expect(textOf(path)).toBe('{"id":"b"}\n');
    rmSync(join(folder, "a"), { recursive: true });
    expect(await store.compact()).toMatchObject({ changed: false, linesBefore: 0 });
    expect(existsSync(join(folder, "a"))).toBe(false);
    await store.put({ id: "c" });
    expect([textOf(path), [...store.keys()]]).toEqual(['{"id":"c"}\n', ["c"]]);
  });

  test("may be a file meanwhile: every write says so", async () => {
    const folder = temporaryFolder();
    const store = openTestStore<Job>(join(folder, "a", "jobs.jsonl"));
    await store.put({ id: "a" });
    rmSync(join(folder, "a"), { recursive: true });
    writeFileSync(join(folder, "a"), "mine");
    const refused = storeError("REFUSED_PATH", { path: expect.stringContaining(join(folder, "a")) });
    await expect(store.put({ id: "b" })).rejects.toThrow(refused);
    expect(() => store.refresh()).toThrow(refused);
    unlinkSync(join(folder, "a"));
    await store.put({ id: "b" });
    expect(treeOf(folder)).toEqual({ a: "/", "a/jobs.jsonl": '{"id":"b"}\n' });
  });

  test("may have lost the file alone: the store is empty then, and goes on", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path);
    await store.putAll([{ id: "a" }, { id: "b" }]);
    unlinkSync(path);
    expect(await store.remove("a")).toBe(false);
    await store.put({ id: "c" });
    expect([[...store.keys()], textOf(path)]).toEqual([["c"], '{"id":"c"}\n']);
  });
});

describe("a store's lock and index", () => {
  test("lie where they are told to", async () => {
    const folder = temporaryFolder();
    const lockPath = join(folder, "locks", "a.lock");
    const store = openTestStore<Job>(join(folder, "jobs.jsonl"), { lockPath, lock: { waitMs: 0 } });
    symlinkSync("1@another-form", join(folder, "jobs.jsonl.lock"));
    await store.put({ id: "a" });
    await store.close();
    expect(Object.keys(treeOf(folder))).toEqual(["jobs.jsonl", "jobs.jsonl.lock", "locks"]);
  });

  test.each<[string, (path: string) => void]>([
    ["a folder", (path) => mkdirSync(path)],
    ["a pipe", (path) => execFileSync("mkfifo", [path])],
    ["a file of somebody's", (path) => writeFileSync(path, "mine")],
  ])("are refused where %s lies in the place of the lock, and nothing is written", async (_case, put) => {
    const folder = temporaryFolder();
    const path = join(folder, "jobs.jsonl");
    put(`${path}.lock`);
    const before = treeOf(folder);
    const store = openTestStore<Job>(path);
    await expect(store.put({ id: "a" })).rejects.toThrow(storeError("REFUSED_PATH", { path: `${path}.lock` }));
    expect([store.size, treeOf(folder)]).toEqual([0, before]);
  });
});

/** What a user to whom file modes apply meets; the program changes to one when it is run by root. */
const visitor = `
  import { openStore } from "./index.ts";
  if (process.getuid() === 0) {
    process.setgid(65534);
    process.setuid(65534);
  }
  const [path, options] = process.argv.slice(2);
  (async () => {
    const told = {};
    const tell = async (name, run) => {
      try {
        told[name] = await run();
      } catch (error) {
        told[name] = error.code + " " + error.path;
      }
    };
    let store;
    await tell("open", () => {
      store = openStore({ path, key: "id", ...JSON.parse(options) });
      return store.size;
    });
    if (store !== undefined) {
      await tell("put", async () => void (await store.put({ id: "b" })) ?? "done");
      await tell("compact", async () => (await store.compact()).changed);
      await tell("get", () => store.get("a") ?? "none");
      await tell("close", async () => void (await store.close()) ?? "done");
    }
    console.log(JSON.stringify(told));
  })();
`;

describe("a store of somebody else's", () => {
  /** Takes rights away until the test is over. */
  function withhold(place: string, mode: number): void {
    chmodSync(place, mode);
    onTestFinished(() => chmodSync(place, 0o755));
  }

  function visit(path: string, folder: string, options = {}): unknown {
    chmodSync(folder, 0o755);
    const { stdout, stderr } = runProgram(buildProgram(folder, visitor), [path, JSON.stringify(options)]);
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  }

  test("in a folder that may not be written is read, and a write names what it may not touch", () => {
    const folder = temporaryFolder();
    const place = join(folder, "place");
    const path = join(place, "jobs.jsonl");
    mkdirSync(place, { mode: 0o755 });
    writeFileSync(path, `${good}${good}`, { mode: 0o644 });
    withhold(place, 0o555);
    const before = treeOf(place);
    const refused = `NO_PERMISSION ${path}.lock`;
    expect(visit(path, folder)).toEqual({
      open: 1,
      put: refused,
      compact: refused,
      get: { id: "a", n: 1 },
      close: "done",
    });
    expect(visit(path, folder, { readOnly: true })).toMatchObject({ open: 1, get: { id: "a", n: 1 }, close: "done" });
    expect(treeOf(place)).toEqual(before);
    const missing = join(place, "none", "jobs.jsonl");
    expect(visit(missing, folder)).toMatchObject({
      open: 0,
      put: expect.stringMatching(/^NO_PERMISSION .*place/),
      get: "none",
    });
  });

  test("that is large, in a folder that may not be written, is closed without an index", () => {
    const folder = temporaryFolder();
    const place = join(folder, "place");
    const path = join(place, "jobs.jsonl");
    mkdirSync(place);
    writeFileSync(path, `${good}{"id":"b","s":"${"x".repeat(300_000)}"}\n`, { mode: 0o644 });
    withhold(place, 0o555);
    expect(visit(path, folder)).toMatchObject({ open: 2, get: { id: "a", n: 1 }, close: "done" });
    expect(readdirSync(place)).toEqual(["jobs.jsonl"]);
  });

  test("that may not be read is named", () => {
    const folder = temporaryFolder();
    const path = join(folder, "jobs.jsonl");
    writeFileSync(path, good);
    chmodSync(path, 0o000);
    if (process.getuid?.() === 0) chownSync(path, 0, 0);
    expect(visit(path, folder)).toEqual({ open: `NO_PERMISSION ${path}` });
  });

  test("in a folder that may not be entered is named", () => {
    const folder = temporaryFolder();
    const place = join(folder, "place");
    mkdirSync(place);
    writeFileSync(join(place, "jobs.jsonl"), good);
    withhold(place, 0o000);
    expect(visit(join(place, "jobs.jsonl"), folder)).toEqual({ open: expect.stringMatching(/^NO_PERMISSION .*place/) });
  });

  test.skipIf(process.getuid?.() !== 0)(
    "that may be read and not written refuses the write, and says which file",
    () => {
      const folder = temporaryFolder();
      const place = join(folder, "place");
      const path = join(place, "jobs.jsonl");
      mkdirSync(place);
      chmodSync(place, 0o777);
      writeFileSync(path, good, { mode: 0o644 });
      expect(visit(path, folder)).toMatchObject({ open: 1, put: `NO_PERMISSION ${path}`, get: { id: "a", n: 1 } });
      expect(treeOf(place)).toEqual({ "jobs.jsonl": good });
    },
  );
});
