import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyPlan, recoverPlan } from "./apply.ts";
import { writeJournal } from "./journal.ts";
import { readPending } from "./pending.ts";
import { performStep } from "./perform.ts";
import type { Change } from "./plan.ts";
import { readSteps } from "./prepare.ts";
import { temporaryFolder, treeOf } from "./testing/folder.ts";

type Loose = Change extends infer Each ? (Each extends Change ? Omit<Each, "root"> : never) : never;

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

/** Leaves a plan as a crash leaves it: journalled, and only the first steps done. */
function interrupt({ root, journal }: Bench, done: number, ...changes: readonly Loose[]): void {
  const { steps } = readSteps({ changes: changes.map((change) => ({ root, ...change }) as Change) });
  for (const step of writeJournal(journal, steps).slice(0, done)) performStep(step, new Set());
}

const logAndNote: readonly Loose[] = [
  { kind: "append", path: "log", bytes: "2\n" },
  { kind: "write", path: "note", bytes: "new" },
];

describe("recoverPlan", () => {
  test("answers undefined without a journal and clears what was staged for one", async () => {
    const { journal } = openBench();
    expect(await recoverPlan({ journal })).toBeUndefined();
    mkdirSync(`${journal}.staged`, { recursive: true });
    writeFileSync(join(`${journal}.staged`, "0"), "x");
    expect(await recoverPlan({ journal })).toBeUndefined();
    expect(existsSync(`${journal}.staged`)).toBe(false);
  });

  test.each([0, 1, 2])("finishes a plan of which %i steps were done, and doubles nothing", async (done) => {
    const bench = openBench();
    writeFileSync(join(bench.root, "log"), "1\n");
    interrupt(bench, done, ...logAndNote);
    const report = await recoverPlan({ journal: bench.journal });
    expect(treeOf(bench.root)).toEqual({ log: "1\n2\n", note: "new" });
    expect(report?.changed.length).toBe(2 - done);
    expect(report?.left).toEqual([]);
    expect(await recoverPlan({ journal: bench.journal })).toBeUndefined();
  });

  test("leaves a file somebody changed meanwhile, names it and finishes the rest", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "log"), "1\n");
    writeFileSync(join(bench.root, "note"), "old");
    interrupt(bench, 0, ...logAndNote);
    writeFileSync(join(bench.root, "note"), "edited");
    const report = await recoverPlan({ journal: bench.journal });
    expect(report?.left.map(({ path }) => path)).toEqual([join(bench.root, "note")]);
    expect(treeOf(bench.root)).toEqual({ log: "1\n2\n", note: "edited" });
    expect(existsSync(bench.journal)).toBe(false);
  });

  test("accepts an append that is done and was appended to since", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "log"), "1\n");
    interrupt(bench, 2, ...logAndNote, { kind: "append", path: "new-log", bytes: "1\n" });
    appendFileSync(join(bench.root, "log"), "3\n");
    writeFileSync(join(bench.root, "new-log"), "1\n2\n");
    const report = await recoverPlan({ journal: bench.journal });
    expect(report?.left).toEqual([]);
    expect(treeOf(bench.root)).toEqual({ log: "1\n2\n3\n", note: "new", "new-log": "1\n2\n" });
  });

  test("finishes an append of which a part is there", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "log"), "1\n");
    interrupt(
      bench,
      1,
      { kind: "append", path: "log", bytes: "22222\n" },
      { kind: "write", path: "note", bytes: "new" },
    );
    truncateSync(join(bench.root, "log"), 5);
    await recoverPlan({ journal: bench.journal });
    expect(readFileSync(join(bench.root, "log"), "utf8")).toBe("1\n22222\n");
  });

  test.each<[string, (path: string) => void]>([
    ["appended to before it was done", (path) => appendFileSync(path, "other\n")],
    ["cut short", (path) => truncateSync(path, 1)],
    ["replaced by another of the same size", (path) => writeFileSync(path, "9\n")],
    ["removed", (path) => rmSync(path)],
  ])("leaves a log that was %s", async (_case, edit) => {
    const bench = openBench();
    const path = join(bench.root, "log");
    writeFileSync(path, "1\n");
    interrupt(bench, 0, ...logAndNote);
    edit(path);
    const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
    const report = await recoverPlan({ journal: bench.journal });
    expect(report?.left.map((left) => left.path)).toEqual([path]);
    expect(existsSync(path) ? readFileSync(path, "utf8") : undefined).toBe(before);
  });

  test("moves a file or folder once, also where another has taken its old name", async () => {
    for (const done of [0, 1, 2]) {
      const bench = openBench();
      writeFileSync(join(bench.root, "log"), "same\n");
      mkdirSync(join(bench.root, "d"));
      writeFileSync(join(bench.root, "d/x"), "x");
      interrupt(
        bench,
        done,
        { kind: "rename", from: "log", path: "log-1" },
        { kind: "append", path: "log", bytes: "same\n" },
        { kind: "rename", from: "d", path: "e" },
      );
      const report = await recoverPlan({ journal: bench.journal });
      expect(report?.left).toEqual([]);
      expect(treeOf(bench.root)).toEqual({ log: "same\n", "log-1": "same\n", e: "/", "e/x": "x" });
    }
  });

  test("leaves a move whose goal was taken by something else", async () => {
    const bench = openBench();
    writeFileSync(join(bench.root, "a"), "a");
    interrupt(bench, 0, { kind: "rename", from: "a", path: "b" }, { kind: "write", path: "note", bytes: "n" });
    writeFileSync(join(bench.root, "b"), "other");
    const report = await recoverPlan({ journal: bench.journal });
    expect(report?.left.map(({ path }) => path)).toEqual([join(bench.root, "b")]);
    expect(treeOf(bench.root)).toEqual({ a: "a", b: "other", note: "n" });
  });

  test("does not follow a folder that was replaced by a link", async () => {
    const bench = openBench();
    mkdirSync(join(bench.root, "d"));
    mkdirSync(join(bench.folder, "outside"));
    interrupt(bench, 0, { kind: "write", path: "d/x", bytes: "x" }, { kind: "write", path: "note", bytes: "n" });
    renameSync(join(bench.root, "d"), join(bench.root, "was-d"));
    symlinkSync("../outside", join(bench.root, "d"));
    const report = await recoverPlan({ journal: bench.journal });
    expect(report?.left.map(({ path }) => path)).toEqual([join(bench.root, "d/x")]);
    expect(treeOf(bench.folder)).toMatchObject({ "root/d": "-> ../outside", "root/note": "n" });
    expect(existsSync(join(bench.folder, "outside/x"))).toBe(false);
  });

  test("refuses a journal that names a root it may not touch, and leaves it", async () => {
    const bench = openBench();
    interrupt(bench, 0, ...logAndNote.slice(1), { kind: "write", path: "b", bytes: "b" });
    const { journal } = bench;
    const refused = recoverPlan({ journal, roots: [bench.folder] });
    await expect(refused).rejects.toMatchObject({ code: "REFUSED_PATH", path: journal });
    expect(treeOf(bench.root)).toEqual({});
    const report = await recoverPlan({ journal, roots: [bench.root] });
    expect(report?.changed.length).toBe(2);
  });

  test("puts back bytes that are no text, and contents that were staged", async () => {
    const bench = openBench();
    const binary = Buffer.from([0xff, 0x00, 0xfe, 0x0a]);
    const large = Buffer.alloc(300 * 1024, "large ");
    interrupt(
      bench,
      0,
      { kind: "write", path: "binary", bytes: binary },
      { kind: "write", path: "large", bytes: large },
    );
    expect(existsSync(`${bench.journal}.staged`)).toBe(true);
    await recoverPlan({ journal: bench.journal });
    expect(readFileSync(join(bench.root, "binary"))).toEqual(binary);
    expect(readFileSync(join(bench.root, "large"))).toEqual(large);
    expect(treeOf(join(bench.folder, "run"))).toEqual({});
  });

  test("names a damaged journal, one of a newer form, and missing staged contents, and leaves them", async () => {
    const bench = openBench();
    const large = "x".repeat(300 * 1024);
    interrupt(bench, 0, { kind: "write", path: "large", bytes: large }, { kind: "write", path: "b", bytes: "b" });
    const { journal } = bench;
    const whole = readFileSync(journal, "utf8");
    const damaged = [
      whole.slice(0, 40),
      "",
      "[]",
      '{"version":1}',
      '{"version":1,"steps":[{}]}',
      whole.replace('"write"', '"wrote"'),
    ];
    for (const text of damaged) {
      writeFileSync(journal, text);
      await expect(recoverPlan({ journal }), text.slice(0, 60)).rejects.toMatchObject({
        code: "DAMAGED",
        path: journal,
      });
      expect(readFileSync(journal, "utf8")).toBe(text);
    }
    writeFileSync(journal, whole.replace('"version":1', '"version":2'));
    await expect(recoverPlan({ journal })).rejects.toMatchObject({ code: "NEWER", path: journal });
    expect(() => readPending(journal)).toThrow(expect.objectContaining({ code: "NEWER" }));
    writeFileSync(journal, whole);
    rmSync(join(`${journal}.staged`, "0"));
    await expect(recoverPlan({ journal })).rejects.toMatchObject({ code: "DAMAGED" });
    expect(treeOf(bench.root)).toEqual({});
  });

  test("is done by applyPlan first, whose report tells of it", async () => {
    const bench = openBench();
    interrupt(bench, 1, { kind: "write", path: "a", bytes: "a" }, { kind: "write", path: "b", bytes: "b" });
    const change: Change = { kind: "append", root: bench.root, path: "b", bytes: "c" };
    const report = await applyPlan({ changes: [change] }, { journal: bench.journal });
    expect(report.recovered?.changed).toEqual([join(bench.root, "b")]);
    expect(treeOf(bench.root)).toEqual({ a: "a", b: "b\nc\n" });
  });

  test("sweeps temporary files of dead writers and spares all others", async () => {
    const bench = openBench();
    interrupt(bench, 0, { kind: "write", path: "a", bytes: "a" }, { kind: "write", path: "b", bytes: "b" });
    const spared = [`.a.${process.pid}.abc.tmp`, ".c.999999999.abc.tmp", ".a.x.tmp", "a.999999999.abc.tmp"];
    for (const name of [".a.999999999.abc.tmp", ".b.999999999.0.tmp", ...spared])
      writeFileSync(join(bench.root, name), "");
    await recoverPlan({ journal: bench.journal });
    expect(Object.keys(treeOf(bench.root)).sort()).toEqual([...spared, "a", "b"].sort());
  });
});

describe("readPending", () => {
  test("shows what will be there, whatever was done, and writes nothing", () => {
    for (const done of [0, 1, 2, 3, 4, 5]) {
      const bench = openBench();
      writeFileSync(join(bench.root, "log"), "1\n");
      writeFileSync(join(bench.root, "gone"), "g");
      writeFileSync(join(bench.root, "old"), "o\n");
      interrupt(
        bench,
        done,
        { kind: "append", path: "log", bytes: "2\n" },
        { kind: "write", path: "d/e/note", bytes: "n" },
        { kind: "remove", path: "gone" },
        { kind: "rename", from: "old", path: "kept/old" },
        { kind: "append", path: "old", bytes: "new\n" },
      );
      const before = treeOf(bench.folder);
      const pending = readPending(bench.journal);
      const read = (path: string): string | undefined => {
        const bytes = pending?.read(join(bench.root, path));
        return bytes === undefined || bytes === "absent" ? bytes : Buffer.from(bytes).toString("utf8");
      };
      expect(["log", "d/e/note", "gone", "kept/old", "old", "other"].map(read)).toEqual([
        "1\n2\n",
        "n",
        "absent",
        "o\n",
        "new\n",
        undefined,
      ]);
      const names = pending?.list(bench.root);
      const listed = new Set([
        ...Object.keys(treeOf(bench.root)).filter((path) => !path.includes("/")),
        ...(names?.added ?? []),
      ]);
      for (const name of names?.removed ?? []) listed.delete(name);
      expect([...listed].sort()).toEqual(["d", "kept", "log", "old"]);
      expect(treeOf(bench.folder)).toEqual(before);
    }
  });

  test("follows a moved folder, and leaves to the disk what somebody else changed", () => {
    const bench = openBench();
    mkdirSync(join(bench.root, "d"));
    writeFileSync(join(bench.root, "d/x"), "x");
    writeFileSync(join(bench.root, "note"), "old");
    interrupt(bench, 0, { kind: "rename", from: "d", path: "e/f" }, { kind: "write", path: "note", bytes: "new" });
    writeFileSync(join(bench.root, "note"), "edited");
    const pending = readPending(bench.journal);
    expect(pending?.read(join(bench.root, "e/f/x"))).toEqual(Buffer.from("x"));
    expect(pending?.read(join(bench.root, "d/x"))).toBe("absent");
    expect(pending?.read(join(bench.root, "note"))).toBeUndefined();
    expect(pending?.list(bench.root)).toEqual({ added: ["e"], removed: ["d"] });
    expect(pending?.list(join(bench.root, "e/f"))).toEqual({ added: ["x"], removed: [] });
    expect(pending?.list(join(bench.root, "d"))).toEqual({ added: [], removed: ["x"] });
    expect(pending?.paths).toEqual([join(bench.root, "d"), join(bench.root, "e/f"), join(bench.root, "note")]);
  });

  test("answers undefined without a journal", () => {
    expect(readPending(openBench().journal)).toBeUndefined();
  });
});
