import { execFileSync } from "node:child_process";
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTestStore } from "./store.fixture.ts";
import { memoryFolder } from "./testing/folder.ts";

interface Entry {
  readonly id: string;
  readonly t: string;
}

/** Writes over a file as editors do that keep it: the same inode, no lock. Its times are another's, or as they were. */
function editInPlace(path: string, edit: (text: string) => string, times: "new" | "old"): void {
  const reference = `${path}.reference`;
  execFileSync("touch", ["-r", path, reference]);
  const file = openSync(path, "r+");
  const text = edit(readFileSync(path, "utf8"));
  writeSync(file, text, 0);
  ftruncateSync(file, Buffer.byteLength(text));
  closeSync(file);
  if (times === "old") execFileSync("touch", ["-r", reference, path]);
  else utimesSync(path, new Date(0), new Date(0));
}

/** A character less in the first line and one more in the third: what lies between moves, and nothing gets longer. */
function shift(text: string): string {
  return text
    .replace('{"id":"a","t":"12345"}', '{"id":"a","t":"1234"}')
    .replace('{"id":"b","t":"12345"}', '{"id":"b","t":"123456"}');
}

describe("a store whose file somebody edits in place while it is open", () => {
  test.each(["new", "old"] as const)("shreds no line at the next compaction, with %s times", async (times) => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Entry>(path, { durability: "os" });
    for (const [id, t] of [
      ["a", "12345"],
      ["c", "0"],
      ["b", "12345"],
      ["c", "1"],
    ] as const)
      await store.put({ id, t });
    editInPlace(path, shift, times);
    for (let n = 0; n < 100; n += 1) await store.put({ id: "c", t: `x${n}` });
    expect(readFileSync(path, "utf8").split("\n")[0]).toBe('{"id":"a","t":"1234"}');
    const reader = openTestStore<Entry>(path);
    expect([...reader.entries()].map(([, { t }]) => t)).toEqual(["1234", "x99", "123456"]);
    expect([reader.problems, existsSync(`${path}.damaged`)]).toEqual([[], false]);
    expect([...store.keys()]).toEqual(["a", "c", "b"]);
    await store.close();
  });

  test.each<[string, string, string]>([
    ["ends elsewhere", '"id":"a","t":"123456"', '"id":"c","t":""'],
    ["begins elsewhere", '"id":"c","t":"00"', '"id":"b","t":"1234"'],
  ])("takes a line that only %s for another", async (_what, longer, shorter) => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Entry>(path, { durability: "os" });
    for (const [id, t] of [
      ["a", "12345"],
      ["c", "0"],
      ["b", "12345"],
      ["c", "1"],
    ] as const)
      await store.put({ id, t });
    const lineOf = (member: string): RegExp => new RegExp(`^\\{${member.slice(0, 8)}.*$`, "m");
    const edit = (text: string): string =>
      text.replace(lineOf(longer), `{${longer}}`).replace(lineOf(shorter), `{${shorter}}`);
    editInPlace(path, edit, "old");
    for (let n = 0; n < 100; n += 1) await store.put({ id: "c", t: `x${n}` });
    const reader = openTestStore<Entry>(path);
    expect([[...reader.keys()], reader.problems]).toEqual([["a", "c", "b"], []]);
    const [changed] = [longer, shorter].filter((member) => !member.includes('"c"'));
    expect(readFileSync(path, "utf8")).toContain(`{${changed}}\n`);
    await store.close();
  });

  test("is read again at the next put", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Entry>(path, { durability: "os" });
    for (const id of ["a", "b"]) await store.put({ id, t: "1" });
    editInPlace(path, (text) => text.replace('"id":"a"', '"id":"z"'), "new");
    await store.put({ id: "c", t: "1" });
    expect([...store.keys()]).toEqual(["z", "b", "c"]);
    await store.close();
  });

  test.each(["new", "old"] as const)("moves no part of a line to the damaged ones, with %s times", async (times) => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Entry>(path, { durability: "os" });
    await store.put({ id: "a", t: "12345" });
    const file = openSync(path, "a");
    writeSync(file, "no line\n");
    closeSync(file);
    await store.put({ id: "b", t: "12345" });
    editInPlace(path, shift, times);
    for (let n = 0; n < 100; n += 1) await store.put({ id: "c", t: `x${n}` });
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe("no line\n");
    const reader = openTestStore<Entry>(path);
    expect([...reader.entries()].map(([, { t }]) => t)).toEqual(["1234", "123456", "x99"]);
    await store.close();
  });

  test("goes on with what is left of a file that was cut", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Entry>(path, { durability: "os" });
    for (const id of ["a", "b", "c"]) await store.put({ id, t: "1" });
    editInPlace(path, (text) => text.slice(0, text.indexOf("\n") + 1), "old");
    expect(await store.compact()).toMatchObject({ linesAfter: 1 });
    await store.put({ id: "d", t: "1" });
    expect([...store.keys()]).toEqual(["a", "d"]);
    await store.close();
  });
});
