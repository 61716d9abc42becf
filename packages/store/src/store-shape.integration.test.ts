import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Job, openTestStore, storeError, textOf } from "./store.fixture.ts";
import { memoryFolder, treeOf } from "./testing/folder.ts";

/** A folder with these files, each with one entry named after its file. */
function folderOf(...names: readonly string[]): string {
  const folder = memoryFolder();
  for (const name of names) writeFileSync(join(folder, name), `{"id":"${name}"}\n`);
  return folder;
}

describe("a store's shape", () => {
  test.each<[string, number | undefined, string]>([
    ["jobs.jsonl", undefined, "jobs.jsonl"],
    ["jobs.jsonl", 1, "jobs.jsonl"],
    ["jobs.jsonl", 2, "jobs.v2.jsonl"],
    ["jobs.jsonl", 12, "jobs.v12.jsonl"],
    ["jobs.v2.jsonl", undefined, "jobs.v2.jsonl"],
    ["jobs.v2.jsonl", 2, "jobs.v2.jsonl"],
    ["jobs.v.jsonl", 2, "jobs.v.v2.jsonl"],
    ["jobs.v02.jsonl", 3, "jobs.v02.v3.jsonl"],
    [".jsonl", 2, ".v2.jsonl"],
    ["jobs", 1, "jobs"],
  ])("has %s of shape %s lie in %s, its lock beside it", async (name, shape, file) => {
    const folder = memoryFolder();
    const store = openTestStore<Job>(join(folder, name), shape === undefined ? {} : { shape });
    const put = store.put({ id: "a" });
    await put;
    await store.compact();
    await store.close();
    expect(treeOf(folder)).toEqual({ [file]: '{"id":"a"}\n' });
  });

  test.each<[string, number, string[], string]>([
    ["jobs.jsonl", 2, ["jobs.jsonl"], "jobs.jsonl"],
    ["jobs.jsonl", 2, ["jobs.jsonl", "jobs.v2.jsonl"], "jobs.jsonl"],
    ["jobs.jsonl", 3, ["jobs.v2.jsonl"], "jobs.v2.jsonl"],
    ["jobs.v3.jsonl", 3, ["jobs.v2.jsonl", "jobs.v3.jsonl"], "jobs.v2.jsonl"],
  ])("is refused as OLD_FORMAT: %s of shape %i beside %j", async (name, shape, files, old) => {
    const folder = folderOf(...files);
    const before = treeOf(folder);
    const refused = storeError("OLD_FORMAT", {
      path: join(folder, old),
      hint: expect.stringContaining(old),
      message: expect.stringContaining(join(folder, old)),
    });
    expect(() => openTestStore(join(folder, name), { shape })).toThrow(refused);
    expect(() => openTestStore(join(folder, name), { shape, readOnly: true })).toThrow(refused);
    expect(treeOf(folder)).toEqual(before);
  });

  test.each<[number, string[], string]>([
    [1, ["jobs.v2.jsonl"], "jobs.v2.jsonl"],
    [1, ["jobs.jsonl", "jobs.v2.jsonl"], "jobs.v2.jsonl"],
    [2, ["jobs.v2.jsonl", "jobs.v10.jsonl"], "jobs.v10.jsonl"],
  ])("is refused as NEWER: shape %i beside %j", (shape, files, newer) => {
    const folder = folderOf(...files);
    const before = treeOf(folder);
    const path = join(folder, "jobs.jsonl");
    expect(() => openTestStore(path, { shape })).toThrow(storeError("NEWER", { path: join(folder, newer) }));
    expect(treeOf(folder)).toEqual(before);
  });

  test("is not in question for files that only look like one", () => {
    const folder = folderOf(
      ...[
        "jobs.v2.jsonl",
        "jobs.v2.jsonl.damaged",
        "jobs.v1.jsonl",
        "jobs.v03.jsonl",
        "jobs.v3.json",
        "jobs.jsonl.old",
      ],
      ...[
        "jobs2.v3.jsonl",
        "myjobs.v3.jsonl",
        "jobs.v3.jsonl.idx",
        "jobs.x.v3.jsonl",
        "Jobs.jsonl.v3",
        "jobs.v0.jsonl",
      ],
    );
    expect([...openTestStore(join(folder, "jobs.jsonl"), { shape: 2 }).keys()]).toEqual(["jobs.v2.jsonl"]);
  });

  test("names what sets the old one aside, and that, typed into a shell, does", async () => {
    for (const name of [
      "plain.jsonl",
      "two words.jsonl",
      "it's.jsonl",
      '$HOME `x` "q".jsonl',
      "-n.jsonl",
      "new\nline.jsonl",
      "é.jsonl",
    ]) {
      const folder = folderOf(name);
      const path = join(folder, name);
      let hint = "";
      try {
        openTestStore(path, { shape: 2 });
      } catch (error) {
        hint = (error as { hint: string }).hint;
      }
      execFileSync("sh", ["-c", hint]);
      expect(readdirSync(folder)).toEqual([`${name}.old`]);
      const store = openTestStore<Job>(path, { shape: 2 });
      await store.put({ id: "a" });
      expect([textOf(`${path}.old`), readdirSync(folder).length]).toEqual([`{"id":"${name}"}\n`, 2]);
      await store.close();
    }
  });

  test("says what it is told to say of the old one", () => {
    const folder = folderOf("jobs.jsonl");
    const open = (): unknown => openTestStore(join(folder, "jobs.jsonl"), { shape: 2, setAside: "tool convert jobs" });
    expect(open).toThrow(storeError("OLD_FORMAT", { hint: "tool convert jobs" }));
  });

  test("is asked again before a file is made, and at every refresh", async () => {
    const folder = memoryFolder();
    const path = join(folder, "jobs.jsonl");
    const store = openTestStore<Job>(path, { shape: 2 });
    writeFileSync(path, '{"id":"old"}\n');
    await expect(store.put({ id: "a" })).rejects.toThrow(storeError("OLD_FORMAT", { path }));
    expect(() => store.refresh()).toThrow(storeError("OLD_FORMAT", { path }));
    expect([readdirSync(folder), existsSync(join(folder, "jobs.v2.jsonl"))]).toEqual([["jobs.jsonl"], false]);
    renameSync(path, `${path}.old`);
    await store.put({ id: "a" });
    expect(textOf(join(folder, "jobs.v2.jsonl"))).toBe('{"id":"a"}\n');
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 53])("is refused when it is %s", (shape) => {
    const path = join(memoryFolder(), "jobs.jsonl");
    expect(() => openTestStore(path, { shape })).toThrow(storeError("BAD_VALUE", { path }));
  });

  test("is refused when the path names another", () => {
    const path = join(memoryFolder(), "jobs.v3.jsonl");
    expect(() => openTestStore(path, { shape: 2 })).toThrow(storeError("BAD_VALUE", { path }));
    expect(() => openTestStore(path, { shape: 1 })).toThrow(storeError("BAD_VALUE", { path }));
  });

  test("is told also where a folder has the old one's name", () => {
    const folder = memoryFolder();
    mkdirSync(join(folder, "jobs.jsonl"));
    expect(() => openTestStore(join(folder, "jobs.jsonl"), { shape: 2 })).toThrow(storeError("OLD_FORMAT"));
  });
});
