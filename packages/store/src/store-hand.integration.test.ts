import { appendFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answersOf, type Job, openTestStore, parseJob, storeError, textOf } from "./store.fixture.ts";
import { memoryFolder, treeOf } from "./testing/folder.ts";

function fileOf(...parts: readonly (string | Uint8Array)[]): string {
  const path = join(memoryFolder(), "rules.jsonl");
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return path;
}

const hand = { edited: "hand", parse: parseJob } as const;

describe("a store edited by hand", () => {
  test("is read in any spelling of good lines, in their order", () => {
    const path = fileOf('\n { "n" : 1, "id" : "b" } \r\n\t\n{"id":"a"}\n\n{"\\u0069d":"é"}');
    expect(answersOf(openTestStore<Job>(path, hand))).toEqual({
      size: 3,
      entries: [
        ["b", { id: "b", n: 1 }],
        ["a", { id: "a" }],
        ["é", { id: "é" }],
      ],
      problems: [],
    });
  });

  test("is empty when there is no file or nothing in it", () => {
    const folder = memoryFolder();
    expect(answersOf(openTestStore<Job>(join(folder, "none.jsonl"), hand)).size).toBe(0);
    for (const text of ["", "\n", " \n\r\n"]) expect(answersOf(openTestStore<Job>(fileOf(text), hand)).size).toBe(0);
  });

  test.each<[string, string | Uint8Array, string, string]>([
    ["an unknown member", '{"id":"b","m":1}\n', "2", 'unknown member "m"'],
    ["a wrong type", '{"id":"b","n":"1"}\n', "2", "n is not a number"],
    ["a member twice", '{"id":"b","n":1,"n":1}\n', "2:17", 'duplicate member "n"'],
    ["a member twice by an escape", '{"id":"b","n":1,"\\u006e":1}\n', "2:17", 'duplicate member "n"'],
    ["a key that stands there already", '{"id":"a"}\n', "2", 'the key "a" stands on line 1 already'],
    [
      "a key that stands there already, spelled otherwise",
      '{"id":"\\u0061"}\n',
      "2",
      'the key "a" stands on line 1 already',
    ],
    ["no key", '{"n":1}\n', "2", 'the key member "id" is missing'],
    ["an empty key", '{"id":""}\n', "2", 'the key member "id" is empty'],
    ["a key that is no text", '{"id":1}\n', "2", 'the key member "id" is not a string'],
    [
      "a removal",
      '{"id":"a","$deleted":true}\n',
      "2",
      "a removal has no place in a file edited by hand: delete the entry's line",
    ],
    ["a removal that is none", '{"id":"a","$deleted":false}\n', "2", '"$deleted" is not true'],
    ["a member of the store's own", '{"id":"b","$x":1}\n', "2", '"$x" is reserved'],
    ["two objects", '{"id":"b"} {"id":"c"}\n', "2:12", "text after the end of the value"],
    ["a list", '[{"id":"b"}]\n', "2", "not an object"],
    ["no JSON", "id: b\n", "2:1", 'unexpected "i"'],
    ["a comment", "// b\n", "2:1", 'unexpected "/"'],
    ["a comma too many", '{"id":"b",}\n', "2:11", 'unexpected "}"'],
    ["a conflict marker", "<<<<<<< ours\n", "2", "conflict marker"],
    ["a byte order mark", '\ufeff{"id":"b"}\n', "2:1", "byte order mark"],
    ["a NUL", '{"id":"b\0"}\n', "2", "NUL byte"],
    ["invalid UTF-8", Buffer.from('{"id":"b\xff"}\n', "latin1"), "2", "invalid UTF-8"],
    ["an escaped lone surrogate", '{"id":"\\ud800"}\n', "2:7", "lone surrogate in a string"],
    ["a last line cut short", '{"id":"b"', "2", "torn"],
  ])("is refused at its first bad line, named with its place: %s", (_case, line, place, reason) => {
    const path = fileOf('{"id":"a"}\n', line);
    const [number, column] = place.split(":").map(Number);
    const damaged = storeError("DAMAGED", {
      path,
      line: number,
      message: `${path}:${place}: ${reason}`,
      details: column === undefined ? { reason } : { reason, column },
    });
    expect(() => openTestStore<Job>(path, hand)).toThrow(damaged);
    const later = fileOf('{"id":"a"}\n', line, "\n", "even worse\n");
    expect(() => openTestStore<Job>(later, hand)).toThrow(expect.objectContaining({ code: "DAMAGED", line: number }));
  });

  test("reads nothing past the first bad line", () => {
    const asked: unknown[] = [];
    const parse = (value: unknown): Job => {
      asked.push((value as Job).id);
      return parseJob(value);
    };
    const path = fileOf('{"id":"a"}\n{"id":"b","bad":1}\n{"id":"c"}\n');
    expect(() => openTestStore<Job>(path, { edited: "hand", parse })).toThrow(storeError("DAMAGED", { line: 2 }));
    expect(asked).toEqual(["a", "b"]);
  });

  test("is read strictly without a decoder, too", () => {
    expect(() => openTestStore(fileOf('{"id":"a"}\n{"id":"a"}\n'), { edited: "hand" })).toThrow(
      storeError("DAMAGED", { line: 2 }),
    );
    expect(openTestStore(fileOf('{"id":"a","any":1}\n'), { edited: "hand" }).get("a")).toEqual({ id: "a", any: 1 });
  });

  test("finds a key that stands far apart twice, and names both lines", () => {
    const lines = Array.from({ length: 40_000 }, (_, n) => `{"id":"rule-${n}","n":${n}}\n`);
    const path = fileOf(lines.join(""), '{"id":"rule-7"}\n');
    expect(() => openTestStore<Job>(path, hand)).toThrow(`${path}:40001: the key "rule-7" stands on line 8 already`);
    writeFileSync(path, lines.join(""));
    expect(openTestStore<Job>(path, hand).size).toBe(40_000);
  });

  test.each([
    ["with a decoder", hand],
    ["without one", { edited: "hand" }],
  ] as const)("is written by nothing and nobody but its editor, however large, %s", async (_case, options) => {
    const folder = memoryFolder();
    const path = join(folder, "rules.jsonl");
    const text = `{"id":"a"}\n\n{"id":"b"}${"\n".repeat(300_000)}{"id":"c"}\n`;
    writeFileSync(path, text);
    utimesSync(path, 1_000_000, 1_000_000);
    const store = openTestStore<Job>(path, options);
    const refused = storeError("BAD_VALUE", { path, message: expect.stringContaining("by hand") });
    await expect(store.put({ id: "d" })).rejects.toThrow(refused);
    await expect(store.putAll([{ id: "d" }])).rejects.toThrow(refused);
    await expect(store.remove("a")).rejects.toThrow(refused);
    await expect(store.compact()).rejects.toThrow(refused);
    expect([...store.keys()]).toEqual(["a", "b", "c"]);
    await store.close();
    expect(Object.keys(treeOf(folder))).toEqual(["rules.jsonl"]);
    expect([textOf(path) === text, statSync(path).mtimeMs]).toEqual([true, 1_000_000_000]);
  });

  test("is read anew as a whole when its editor writes it in place", () => {
    const path = fileOf('{"id":"a"}\n{"id":"b"}\n');
    for (const options of [hand, { edited: "hand" }] as const) {
      writeFileSync(path, '{"id":"a"}\n{"id":"b"}\n');
      const store = openTestStore<Job>(path, options);
      expect([...store.keys()]).toEqual(["a", "b"]);
      writeFileSync(path, '{"id":"c"}\n{"id":"b"}\n{"id":"d"}\n');
      expect([store.refresh(), [...store.keys()], store.has("a")]).toEqual([true, ["c", "b", "d"], false]);
    }
  });

  test("takes in an edit at a refresh, and keeps its answers where the edit is bad", () => {
    const path = fileOf('{"id":"a"}\n');
    const store = openTestStore<Job>(path, hand);
    writeFileSync(path, '{"id":"b"}\n{"id":"a","n":1}\n');
    expect([store.refresh(), [...store.keys()], store.refresh()]).toEqual([true, ["b", "a"], false]);
    appendFileSync(path, "bad\n");
    expect(() => store.refresh()).toThrow(storeError("DAMAGED", { path, line: 3 }));
    expect(answersOf(store).entries).toEqual([
      ["b", { id: "b" }],
      ["a", { id: "a", n: 1 }],
    ]);
    writeFileSync(path, '{"id":"c"}\n');
    expect([store.refresh(), [...store.keys()]]).toEqual([true, ["c"]]);
  });
});
