import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ApplyReport, applyPlan, provePlan } from "./apply.ts";
import type { Change } from "./plan.ts";
import { modeOf, temporaryFolder, treeOf } from "./testing/folder.ts";

interface Bench {
  readonly folder: string;
  readonly root: string;
  readonly journal: string;
}

function openBench(): Bench {
  const folder = temporaryFolder();
  const root = join(folder, "root");
  mkdirSync(root);
  return { folder, root, journal: join(folder, "run", "journal") };
}

type Loose = Change extends infer Each ? (Each extends Change ? Omit<Each, "root"> : never) : never;

function apply({ root, journal }: Bench, ...changes: readonly Loose[]): Promise<ApplyReport> {
  return applyPlan({ changes: changes.map((change) => ({ root, ...change }) as Change) }, { journal });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

describe("applyPlan", () => {
  test("does every kind of change and reports what it touched", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "old"), "old");
    writeFileSync(join(bench.root, "from"), "moved");
    const report = await apply(
      bench,
      { kind: "write", path: "a/b/c.txt", bytes: "c\n", mode: 0o600, dirMode: 0o700 },
      { kind: "append", path: "log", bytes: "1\n" },
      { kind: "remove", path: "old" },
      { kind: "rename", from: "from", path: "to/here" },
      { kind: "mkdir", path: "d", mode: 0o711 },
      { kind: "symlink", path: "l", target: "a/b" },
    );
    expect(treeOf(bench.root)).toEqual({
      a: "/",
      "a/b": "/",
      "a/b/c.txt": "c\n",
      log: "1\n",
      to: "/",
      "to/here": "moved",
      d: "/",
      l: "-> a/b",
    });
    expect([
      modeOf(join(bench.root, "a/b/c.txt")),
      modeOf(join(bench.root, "a/b")),
      modeOf(join(bench.root, "d")),
    ]).toEqual([0o600, 0o700, 0o711]);
    expect(report).toEqual({
      changed: ["a/b/c.txt", "log", "old", "to/here", "d", "l"].map((path) => join(bench.root, path)),
      unchanged: [],
      left: [],
    });
    expect(existsSync(bench.journal)).toBe(false);
  });

  test("does not write what is there already, and the time of change stands", async () => {
    const bench = openBench();
    const path = join(bench.root, "a");
    writeFileSync(path, "same");
    chmodSync(path, 0o600);
    utimesSync(path, 1000, 1000);
    const ctime = statSync(path).ctimeMs;
    const report = await apply(
      bench,
      { kind: "write", path: "a", bytes: "same", mode: 0o600 },
      { kind: "remove", path: "absent" },
      { kind: "append", path: "a", bytes: "" },
      { kind: "chmod", path: "a", mode: 0o600 },
    );
    expect(report.changed).toEqual([]);
    expect(report.unchanged).toEqual([path, join(bench.root, "absent")]);
    expect(statSync(path).mtimeMs).toBe(1_000_000);
    expect(statSync(path).ctimeMs).toBe(ctime);
  });

  test("sets a mode without writing when only that differs", async () => {
    const bench = openBench();
    const path = join(bench.root, "a");
    writeFileSync(path, "same");
    const { ino } = statSync(path);
    await apply(bench, { kind: "write", path: "a", bytes: "same", mode: 0o640 });
    expect([statSync(path).ino, modeOf(path)]).toEqual([ino, 0o640]);
  });

  test("appends on a new line when the last one is torn, and adds a missing newline", async () => {
    const bench = openBench();
    const path = join(bench.root, "log");
    writeFileSync(path, '{"a":1}\n{"b"');
    await apply(bench, { kind: "append", path: "log", bytes: '{"c":3}' });
    await apply(bench, { kind: "append", path: "log", bytes: '{"d":4}\n' });
    expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"b"\n{"c":3}\n{"d":4}\n');
  });

  test("draws the changes of one path together", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "b"), "b");
    writeFileSync(join(bench.root, "c"), "c\n");
    const report = await apply(
      bench,
      { kind: "write", path: "a", bytes: "1" },
      { kind: "append", path: "a", bytes: "2\n" },
      { kind: "chmod", path: "a", mode: 0o600 },
      { kind: "remove", path: "b" },
      { kind: "write", path: "b", bytes: "new", expect: "absent" },
      { kind: "append", path: "c", bytes: "x\n" },
      { kind: "append", path: "c", bytes: "y\n" },
      { kind: "write", path: "e", bytes: "gone again" },
      { kind: "remove", path: "e" },
    );
    expect(treeOf(bench.root)).toEqual({ a: "1\n2\n", b: "new", c: "c\nx\ny\n" });
    expect(modeOf(join(bench.root, "a"))).toBe(0o600);
    expect(report.unchanged).toEqual([join(bench.root, "e")]);
  });

  test("moves a folder and makes another one in its place", async () => {
    const bench = openBench();
    mkdirSync(join(bench.root, "home/state"), { recursive: true });
    writeFileSync(join(bench.root, "home/state/task"), "old");
    await apply(
      bench,
      { kind: "rename", from: "home", path: "home-aside" },
      { kind: "write", path: "home/state/task", bytes: "new", expect: "absent" },
    );
    expect(treeOf(bench.root)).toMatchObject({ "home-aside/state/task": "old", "home/state/task": "new" });
  });

  test("points a link elsewhere, and puts a file where a removed link was", async () => {
    const bench = openBench();
    symlinkSync("one", join(bench.root, "l"));
    symlinkSync("one", join(bench.root, "m"));
    await apply(
      bench,
      { kind: "symlink", path: "l", target: "two" },
      { kind: "remove", path: "m", link: true },
      { kind: "write", path: "m", bytes: "file" },
    );
    expect(treeOf(bench.root)).toEqual({ l: "-> two", m: "file" });
  });

  test("writes through a link only when asked, and only to a file inside the root", async () => {
    const bench = openBench();
    writeFileSync(join(bench.folder, "outside"), "outside");
    writeFileSync(join(bench.root, "file"), "old");
    symlinkSync("file", join(bench.root, "in"));
    symlinkSync("../outside", join(bench.root, "out"));
    await expect(apply(bench, { kind: "write", path: "in", bytes: "new" })).rejects.toMatchObject({
      code: "REFUSED_PATH",
    });
    await apply(bench, { kind: "write", path: "in", bytes: "new", follow: true });
    const out = apply(bench, { kind: "write", path: "out", bytes: "new", follow: true });
    await expect(out).rejects.toMatchObject({ code: "REFUSED_PATH", path: join(bench.root, "out") });
    expect(treeOf(bench.folder)).toMatchObject({ outside: "outside", "root/file": "new", "root/in": "-> file" });
  });

  test("removes a link when the link itself is meant", async () => {
    const bench = openBench();
    symlinkSync("nowhere", join(bench.root, "l"));
    await expect(apply(bench, { kind: "append", path: "l", bytes: "x\n" })).rejects.toMatchObject({
      code: "REFUSED_PATH",
    });
    await expect(apply(bench, { kind: "remove", path: "l" })).rejects.toMatchObject({ code: "REFUSED_PATH" });
    expect(treeOf(bench.root)).toEqual({ l: "-> nowhere" });
    await apply(bench, { kind: "remove", path: "l", link: true });
    expect(treeOf(bench.root)).toEqual({});
  });

  test.each<[string, string]>([
    ["climbing out", "../x"],
    ["climbing within", "a/../x"],
    ["absolute", "/etc/x"],
    ["empty", ""],
    ["an empty name", "a//b"],
    ["a trailing slash", "a/"],
    ["a dot", "./a"],
    ["a NUL", "a\0b"],
    ["through a link that leaves the root", "out/x"],
    ["through a dangling link", "dangling/x"],
    ["through a loop of links", "loop/x"],
    ["below a file", "file/x"],
  ])("refuses a path that is %s, and changes nothing", async (_case, path) => {
    const bench = openBench();
    mkdirSync(join(bench.folder, "outside"));
    symlinkSync("../outside", join(bench.root, "out"));
    symlinkSync("nowhere", join(bench.root, "dangling"));
    symlinkSync("loop", join(bench.root, "loop"));
    writeFileSync(join(bench.root, "file"), "f");
    const before = treeOf(bench.folder);
    for (const change of [
      { kind: "write", path, bytes: "x" },
      { kind: "append", path, bytes: "x\n" },
      { kind: "remove", path },
      { kind: "mkdir", path },
      { kind: "symlink", path, target: "t" },
      { kind: "chmod", path, mode: 0o600 },
      { kind: "rename", from: "file", path },
      { kind: "rename", from: path, path: "new" },
    ] as const) {
      const plan = apply(bench, { kind: "write", path: "first", bytes: "x" }, change);
      await expect(plan, change.kind).rejects.toMatchObject({ code: "REFUSED_PATH" });
    }
    expect(treeOf(bench.folder)).toEqual(before);
  });

  test("goes through a link that stays inside the root", async () => {
    const bench = openBench();
    mkdirSync(join(bench.root, "real"));
    symlinkSync("real", join(bench.root, "link"));
    await apply(
      bench,
      { kind: "write", path: "link/x/y", bytes: "1" },
      { kind: "append", path: "real/x/y", bytes: "2" },
    );
    expect(treeOf(bench.root)["real/x/y"]).toBe("1\n2\n");
  });

  test("refuses what is in the way of a change", async () => {
    const bench = openBench();
    mkdirSync(join(bench.root, "folder"));
    execFileSync("mkfifo", [join(bench.root, "pipe")]);
    writeFileSync(join(bench.root, "file"), "f");
    for (const path of ["folder", "pipe"]) {
      await expect(apply(bench, { kind: "write", path, bytes: "x" })).rejects.toMatchObject({ code: "REFUSED_PATH" });
      await expect(apply(bench, { kind: "append", path, bytes: "x\n" })).rejects.toMatchObject({
        code: "REFUSED_PATH",
      });
      await expect(apply(bench, { kind: "remove", path })).rejects.toMatchObject({ code: "REFUSED_PATH" });
    }
    await expect(apply(bench, { kind: "mkdir", path: "file" })).rejects.toMatchObject({ code: "REFUSED_PATH" });
    await expect(apply(bench, { kind: "symlink", path: "file", target: "x" })).rejects.toMatchObject({
      code: "REFUSED_PATH",
    });
    await expect(apply(bench, { kind: "rename", from: "file", path: "folder" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(apply(bench, { kind: "rename", from: "none", path: "x" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(apply(bench, { kind: "chmod", path: "none", mode: 0o600 })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("refuses a plan that contradicts itself", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "file"), "f");
    mkdirSync(join(bench.root, "folder"));
    const plans: readonly (readonly Loose[])[] = [
      [
        { kind: "write", path: "a", bytes: "x" },
        { kind: "write", path: "a/b", bytes: "x" },
      ],
      [
        { kind: "write", path: "file", bytes: "x" },
        { kind: "rename", from: "file", path: "b" },
      ],
      [
        { kind: "rename", from: "file", path: "b" },
        { kind: "append", path: "b", bytes: "x\n" },
      ],
      [{ kind: "rename", from: "folder", path: "folder/inner" }],
      [
        { kind: "rename", from: "folder", path: "b" },
        { kind: "write", path: "b/x", bytes: "x" },
      ],
      [
        { kind: "remove", path: "file" },
        { kind: "mkdir", path: "file" },
      ],
    ];
    const before = treeOf(bench.root);
    for (const changes of plans) {
      await expect(apply(bench, ...changes), JSON.stringify(changes)).rejects.toMatchObject({ code: "BAD_VALUE" });
    }
    expect(treeOf(bench.root)).toEqual(before);
  });

  test("changes nothing when any expectation is not met", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "a"), "now");
    const unmet: readonly Loose[] = [
      { kind: "write", path: "a", bytes: "x", expect: "absent" },
      { kind: "write", path: "a", bytes: "x", expect: { sha256: sha256("then") } },
      { kind: "write", path: "a", bytes: "x", expect: { bytes: "then" } },
      { kind: "write", path: "b", bytes: "x", expect: { bytes: "then" } },
      { kind: "remove", path: "a", expect: { sha256: sha256("then") } },
      { kind: "remove", path: "a", expect: "absent" },
    ];
    for (const change of unmet) {
      const plan = apply(bench, { kind: "write", path: "first", bytes: "x" }, change);
      await expect(plan).rejects.toMatchObject({ code: "CONFLICT", path: join(bench.root, change.path) });
    }
    expect(treeOf(bench.folder)).toEqual({ root: "/", "root/a": "now" });
    await apply(
      bench,
      { kind: "write", path: "a", bytes: "next", expect: { sha256: sha256("now") } },
      { kind: "write", path: "a", bytes: "last", expect: { bytes: "next" } },
      { kind: "write", path: "b", bytes: "b", expect: "absent" },
    );
    expect(treeOf(bench.root)).toEqual({ a: "last", b: "b" });
  });

  test("refuses a root that is relative, missing or a file", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "file"), "f");
    for (const root of ["relative", join(bench.root, "none"), join(bench.root, "file")]) {
      const plan = applyPlan({ changes: [{ kind: "write", root, path: "x", bytes: "x" }] }, { journal: bench.journal });
      await expect(plan).rejects.toMatchObject({ code: "REFUSED_PATH" });
    }
  });

  test("keeps a journal for several changes only, readable by its owner only, and leaves a folder of its own", async () => {
    const bench = openBench();
    await apply(bench, { kind: "write", path: "a", bytes: "1" });
    expect(existsSync(join(bench.folder, "run"))).toBe(false);
    await apply(bench, { kind: "write", path: "a", bytes: "2" }, { kind: "write", path: "b", bytes: "2" });
    expect(treeOf(join(bench.folder, "run"))).toEqual({});
    expect(modeOf(join(bench.folder, "run"))).toBe(0o700);
  });

  test("grows a file that others hold open, and keeps its inode and mode", async () => {
    const bench = openBench();
    const path = join(bench.root, "log");
    writeFileSync(path, "1\n", { mode: 0o600 });
    const { ino } = statSync(path);
    await apply(
      bench,
      { kind: "append", path: "log", bytes: "2\n" },
      { kind: "append", path: "new", bytes: "1\n", mode: 0o600 },
    );
    appendFileSync(path, "3\n");
    expect([readFileSync(path, "utf8"), statSync(path).ino, modeOf(path)]).toEqual(["1\n2\n3\n", ino, 0o600]);
    expect(modeOf(join(bench.root, "new"))).toBe(0o600);
    rmSync(path);
  });
});

describe("provePlan", () => {
  test("throws what applyPlan would, and changes nothing either way", () => {
    const { folder, root } = openBench();
    const first: Change = { kind: "write", root, path: "a/b", bytes: "x", expect: "absent" };
    expect(() => provePlan({ changes: [first] })).not.toThrow();
    const refused: Change = { kind: "write", root, path: "../x", bytes: "x" };
    expect(() => provePlan({ changes: [first, refused] })).toThrow(expect.objectContaining({ code: "REFUSED_PATH" }));
    const unmet: Change = { kind: "remove", root, path: "c", expect: { bytes: "x" } };
    expect(() => provePlan({ changes: [first, unmet] })).toThrow(expect.objectContaining({ code: "CONFLICT" }));
    expect(treeOf(folder)).toEqual({ root: "/" });
  });
});
