import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { encodeLine } from "./line.ts";
import { withLock } from "./lock.ts";
import { answersOf, type Job, openTestStore, parseJob, textOf } from "./store.fixture.ts";
import { buildProgram, ended, printed, startProgram } from "./testing/child.ts";
import { memoryFolder, modeOf } from "./testing/folder.ts";

const good = '{"id":"a","n":1}\n';
const goodEntry: [string, Job] = ["a", { id: "a", n: 1 }];

/** A file with these bytes. */
function fileOf(...parts: readonly (string | Uint8Array)[]): string {
  const path = join(memoryFolder(), "jobs.jsonl");
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return path;
}

const damages: readonly [string, string | Uint8Array, string][] = [
  ["no JSON", "nonsense", 'column 1: unexpected "n"'],
  ["cut short", '{"id":"b","n":', "column 15: unexpected end"],
  ["a list", "[1]", "not an object"],
  ["null", "null", "not an object"],
  ["a number", "1", "not an object"],
  ["a text", '"id"', "not an object"],
  ["empty of members", "{}", 'the key member "id" is missing'],
  ["without the key member", '{"n":1}', 'the key member "id" is missing'],
  ["with an empty key", '{"id":""}', 'the key member "id" is empty'],
  ["with a number for its key", '{"id":1}', 'the key member "id" is not a string'],
  ["with null for its key", '{"id":null}', 'the key member "id" is not a string'],
  ["with a list for its key", '{"id":["b"]}', 'the key member "id" is not a string'],
  ["with a member of the store's own", '{"id":"b","$x":1}', '"$x" is reserved'],
  ["a removal that is not true", '{"id":"a","$deleted":false}', '"$deleted" is not true'],
  ["a removal with other members", '{"id":"a","$deleted":true,"n":1}', "a removal has other members"],
  ["a removal of nothing", '{"$deleted":true}', 'the key member "id" is missing'],
  ["with a member twice", '{"id":"b","n":1,"n":2}', 'column 17: duplicate member "n"'],
  ["with its key twice", '{"id":"b","id":"b"}', 'column 11: duplicate member "id"'],
  ["with a member twice further down", '{"id":"b","n":{"x":1,"x":1}}', 'column 22: duplicate member "x"'],
  ["two objects", '{"id":"b"}{"id":"c"}', "column 11: text after the end of the value"],
  ["two objects and a space", '{"id":"b"} {"id":"c"}', "column 12: text after the end of the value"],
  ["with a byte order mark", '\ufeff{"id":"b"}', "column 1: byte order mark"],
  ["with a NUL", '{"id":"b\0"}', "NUL byte"],
  ["of NULs", "\0\0\0\0", "NUL byte"],
  ["invalid UTF-8", Buffer.from('{"id":"b\xff"}', "latin1"), "invalid UTF-8"],
  ["overlong UTF-8", Buffer.from('{"id":"b\xc0\xaf"}', "latin1"), "invalid UTF-8"],
  ["a surrogate in UTF-8", Buffer.from('{"id":"b\xed\xa0\x80"}', "latin1"), "invalid UTF-8"],
  ["UTF-16", Buffer.from('{"id":"b"}', "utf16le"), "NUL byte"],
  ["with an escaped lone surrogate", '{"id":"b","s":"\\ud83d"}', "column 15: lone surrogate in a string"],
  ["with an escaped lone surrogate for its key", '{"id":"\\ude00"}', "column 7: lone surrogate in a string"],
  ["with a raw control character", '{"id":"b\t"}', "column 9: control character in a string"],
  ["with a number out of range", '{"id":"b","n":1e999}', "column 15: number out of range"],
  ["nested too deeply", `{"id":"b","n":${"[".repeat(600)}${"]".repeat(600)}}`, "column 526: nested too deeply"],
  ["a conflict marker", "<<<<<<< ours", "conflict marker"],
  ["a conflict divider", "=======", "conflict marker"],
];

describe("a damaged line", () => {
  test.each(damages)("costs itself only, and stays where it is: %s", async (_case, line, reason) => {
    const path = fileOf(good, line, "\n", '{"id":"z"}\n');
    const before = readFileSync(path);
    for (const options of [{}, { parse: (value: unknown) => value as Job }]) {
      const store = openTestStore<Job>(path, { durability: "os", ...options });
      expect(store.problems).toEqual([{ path, line: 2, reason }]);
      expect(answersOf(store).entries).toEqual([goodEntry, ["z", { id: "z" }]]);
    }
    const store = openTestStore<Job>(path, { durability: "os" });
    await store.put({ id: "y" });
    expect(readFileSync(path)).toEqual(Buffer.concat([before, Buffer.from('{"id":"y"}\n')]));
    expect(answersOf(store)).toMatchObject({ size: 3, problems: [[2, reason]] });
  });

  test.each(damages)("has the line before it answer for the same key: %s", (_case, line) => {
    const path = fileOf(good, line, "\n");
    expect(answersOf(openTestStore<Job>(path)).entries).toEqual([goodEntry]);
  });

  test("is one of many, each numbered as an editor numbers it", () => {
    const path = fileOf("bad\n\n", good, "bad\r\n", "  \n", '{"id":"b"}\n', "bad");
    expect(answersOf(openTestStore(path))).toMatchObject({
      entries: [goodEntry, ["b", { id: "b" }]],
      problems: [
        [1, 'column 1: unexpected "b"'],
        [4, 'column 1: unexpected "b"'],
        [7, "torn"],
      ],
    });
  });
});

describe("a line", () => {
  test.each<[string, string]>([
    ["CRLF at its end", '{"id":"b","n":2}\r\n'],
    ["white space around and inside", ' \t{ "id" : "b" ,\t"n":2 } \n'],
    ["other member order", '{"n":2,"id":"b"}\n'],
    ["escapes", '{"\\u0069d":"\\u0062","n":2}\n'],
    ["no newline at the end of the file", '{"id":"b","n":2}'],
  ])("is an entry with %s, and stays as it is", async (_case, line) => {
    const path = fileOf(good, line);
    const store = openTestStore<Job>(path, { parse: parseJob, durability: "os" });
    expect(answersOf(store)).toEqual({ size: 2, entries: [goodEntry, ["b", { id: "b", n: 2 }]], problems: [] });
    await store.put({ id: "c" });
    expect(textOf(path)).toBe(`${good}${line}${line.endsWith("\n") ? "" : "\n"}{"id":"c"}\n`);
  });

  test("may hold U+2028 and U+2029 as they are: they end no line", () => {
    const path = fileOf('{"id":"\u2028","s":"\u2029"}\n', '{"id":"b","s":"x\u2028y"}\n', "\u2028\n");
    expect(answersOf(openTestStore(path))).toEqual({
      size: 2,
      entries: [
        ["\u2028", { id: "\u2028", s: "\u2029" }],
        ["b", { id: "b", s: "x\u2028y" }],
      ],
      problems: [[3, 'column 1: unexpected "\u2028"']],
    });
  });

  test.each([
    ["empty", ""],
    ["spaces", "   "],
    ["a tab", "\t"],
    ["a carriage return", "\r"],
  ])("is passed over when it is blank, at the beginning, within and at the end: %s", (_case, blank) => {
    const path = fileOf(`${blank}\n`, good, `${blank}\n${blank}\n`, '{"id":"b"}\n', blank);
    expect(answersOf(openTestStore<Job>(path))).toEqual({
      size: 2,
      entries: [goodEntry, ["b", { id: "b" }]],
      problems: [],
    });
  });

  test("wins over those before it for the same key, and a removal over all of them", () => {
    const path = fileOf(
      ...['{"id":"a","n":1}\n', '{"id":"b","n":1}\n', '{"id":"a","n":2}\n', '{"$deleted":true,"id":"b"}\n'],
      ...['{"id":"none","$deleted":true}\n', '{"id":"c"}\n', '{"id":"b","n":3}\n', '{"id":"a","n":4}\n'],
    );
    expect(answersOf(openTestStore<Job>(path)).entries).toEqual([
      ["a", { id: "a", n: 4 }],
      ["c", { id: "c" }],
      ["b", { id: "b", n: 3 }],
    ]);
  });

  test.each([262_142, 262_143, 262_144, 262_145, 524_288, 1_048_575, 1_048_576, 1_048_577, 3_000_000])(
    "may have %i bytes",
    async (bytes) => {
      const path = join(memoryFolder(), "jobs.jsonl");
      const store = openTestStore<{ id: string; s: string }>(path, { durability: "os" });
      const shell = encodeLine({ id: "long", s: "" }, "id").length;
      const s = "é".repeat((bytes - shell) / 2) + "x".repeat((bytes - shell) % 2);
      const values = [
        { id: "a", s: "1" },
        { id: "long", s },
        { id: "b", s: "😀" },
        { id: "long2", s },
        { id: "a", s: "2" },
      ];
      await store.putAll(values);
      expect(
        textOf(path)
          .split("\n")
          .slice(0, -1)
          .map((line) => Buffer.byteLength(line))
          .includes(bytes),
      ).toBe(true);
      for (const reader of [store, openTestStore<{ id: string; s: string }>(path)]) {
        expect([...reader.keys()]).toEqual(["a", "long", "b", "long2"]);
        for (const value of values.slice(1)) expect(reader.get(value.id)?.s === value.s).toBe(true);
        expect(reader.problems).toEqual([]);
      }
    },
  );

  test("may have 32 MB of numbers in a form that is known", { timeout: 120_000 }, () => {
    const path = fileOf(
      '{"id":"a","v":[1]}\n',
      `{"id":"b","v":[${"1,".repeat(16_000_000)}1]}\n`,
      '{"id":"c","v":[2]}\n',
    );
    const store = openTestStore<{ id: string; v: number[] }>(path);
    expect([[...store.keys()], store.problems, store.get("b")?.v.length]).toEqual([["a", "b", "c"], [], 16_000_001]);
  });
});

describe("a file", () => {
  test("that is empty has nothing, as one that is not there, and is not made anew", async () => {
    const path = fileOf("");
    const { ino } = statSync(path);
    const store = openTestStore<Job>(path, { mode: 0o600 });
    expect(answersOf(store)).toEqual({ size: 0, entries: [], problems: [] });
    expect(store.refresh()).toBe(false);
    await store.put({ id: "a" });
    expect([textOf(path), statSync(path).ino, modeOf(path)]).toEqual(['{"id":"a"}\n', ino, 0o644 & ~process.umask()]);
    const absent = openTestStore<Job>(join(memoryFolder(), "jobs.jsonl"));
    expect(answersOf(absent)).toEqual({ size: 0, entries: [], problems: [] });
  });

  test.each<[string, string | Uint8Array]>([
    ["an object", '{"id":"a","n"'],
    ["an opening brace", "{"],
    ["half a character", Buffer.from([0x7b, 0x22, 0xc3])],
    ["NULs", "\0\0"],
  ])("that holds only a torn line, %s, has nothing and one problem", async (_case, torn) => {
    const path = fileOf(torn);
    const store = openTestStore<Job>(path, { durability: "os" });
    expect(answersOf(store)).toEqual({ size: 0, entries: [], problems: [[1, "torn"]] });
    await store.put({ id: "b" });
    expect(readFileSync(path)).toEqual(Buffer.concat([Buffer.from(torn), Buffer.from('\n{"id":"b"}\n')]));
    expect(answersOf(store)).toMatchObject({
      size: 1,
      entries: [["b", { id: "b" }]],
      problems: [[1, expect.any(String)]],
    });
    expect(store.problems[0]?.reason).not.toBe("torn");
    expect(answersOf(openTestStore<Job>(path))).toEqual(answersOf(store));
  });
});

describe("a torn tail", () => {
  test("is never glued to what is appended, whichever byte it was cut at", async () => {
    const whole = Buffer.from('{"id":"é😀","n":2}');
    for (let cut = 1; cut <= whole.length; cut += 1) {
      const path = fileOf(good, whole.subarray(0, cut));
      const store = openTestStore<Job>(path, { durability: "os" });
      await store.put({ id: "c", n: 3 });
      expect(readFileSync(path)).toEqual(
        Buffer.concat([Buffer.from(good), whole.subarray(0, cut), Buffer.from('\n{"id":"c","n":3}\n')]),
      );
      const kept: [string, Job][] = cut === whole.length ? [["é😀", { id: "é😀", n: 2 }]] : [];
      for (const reader of [store, openTestStore<Job>(path)]) {
        expect(reader.problems.map(({ line }) => line)).toEqual(kept.length === 0 ? [2] : []);
        expect(answersOf(reader).entries).toEqual([goodEntry, ...kept, ["c", { id: "c", n: 3 }]]);
        await reader.close();
      }
    }
  });

  test("becomes an entry when its writer goes on", () => {
    const path = fileOf(good, '{"id":"b"');
    const store = openTestStore<Job>(path);
    expect(store.problems).toEqual([{ path, line: 2, reason: "torn" }]);
    appendFileSync(path, ',"n":2');
    expect([store.refresh(), store.problems.length, store.has("b")]).toEqual([true, 1, false]);
    appendFileSync(path, "}");
    expect([store.refresh(), store.problems.length, store.get("b")]).toEqual([true, 0, { id: "b", n: 2 }]);
    appendFileSync(path, '\n{"id":"c"}\n');
    expect([store.refresh(), store.problems.length, [...store.keys()]]).toEqual([true, 0, ["a", "b", "c"]]);
  });

  test("that counted as an entry counts no longer when it becomes another line", () => {
    const path = fileOf(good, '{"id":"b"}\n', '{"id":"a","n":2}');
    const store = openTestStore<Job>(path);
    expect(store.get("a")).toEqual({ id: "a", n: 2 });
    appendFileSync(path, '{"id":"c"}\n');
    expect(store.refresh()).toBe(true);
    expect(answersOf(store)).toEqual({
      size: 2,
      entries: [goodEntry, ["b", { id: "b" }]],
      problems: [[3, "column 17: text after the end of the value"]],
    });
  });

  test("that removed a key brings it back when it becomes another line", () => {
    const path = fileOf(good, '{"id":"a","$deleted":true}');
    const store = openTestStore<Job>(path);
    expect(store.has("a")).toBe(false);
    appendFileSync(path, "x\n");
    store.refresh();
    expect(answersOf(store)).toMatchObject({ entries: [goodEntry], problems: [[2, expect.any(String)]] });
  });

  test("is no problem while anybody holds the lock", async () => {
    const path = fileOf(good, '{"id":"b"');
    const store = openTestStore<Job>(path);
    await withLock(`${path}.lock`, {}, async () => {
      expect([store.problems, [...store.keys()]]).toEqual([[], ["a"]]);
    });
    expect(store.problems.length).toBe(1);
    const source = `
      import { withLock } from "./index.ts";
      withLock(process.argv[2], {}, () => new Promise(() => setInterval(() => {}, 1000) && console.log("held")));
    `;
    const child = startProgram(buildProgram(memoryFolder(), source), [`${path}.lock`]);
    onTestFinished(() => void child.kill("SIGKILL"));
    await printed(child, "held");
    expect(store.problems).toEqual([]);
    child.kill("SIGKILL");
    await ended(child);
    expect(store.problems).toEqual([{ path, line: 2, reason: "torn" }]);
  });
});

describe("the decoder", () => {
  test("has the line before the one it refuses answer, reports it, and counts no key it never takes", async () => {
    const lines = [
      '{"id":"a","n":1}',
      '{"id":"b","n":1}',
      '{"id":"a","n":"two"}',
      '{"id":"c","m":1}',
      '{"id":"b","n":2}',
    ];
    const ask = [
      (path: string) => openTestStore<Job>(path, { parse: parseJob }).get("a"),
      (path: string) => openTestStore<Job>(path, { parse: parseJob }).has("a") && { id: "a", n: 1 },
      (path: string) => new Map(openTestStore<Job>(path, { parse: parseJob }).entries()).get("a"),
    ];
    const path = fileOf(`${lines.join("\n")}\n`);
    for (const first of ask) expect(first(path)).toEqual({ id: "a", n: 1 });
    const store = openTestStore<Job>(path, { parse: parseJob });
    expect([store.get("c"), store.has("c"), store.get("b")]).toEqual([undefined, false, { id: "b", n: 2 }]);
    expect(answersOf(store)).toEqual({
      size: 2,
      entries: [
        ["a", { id: "a", n: 1 }],
        ["b", { id: "b", n: 2 }],
      ],
      problems: [
        [3, "n is not a number"],
        [4, 'unknown member "m"'],
      ],
    });
    await store.put({ id: "c", n: 3 });
    expect([...store.keys()]).toEqual(["a", "b", "c"]);
  });

  test("gives no entry that it refuses, also when others write it later", () => {
    const path = fileOf(good);
    const store = openTestStore<Job>(path, { parse: parseJob });
    expect(store.size).toBe(1);
    appendFileSync(path, '{"id":"a","n":"two"}\n{"id":"b","n":[]}\n');
    expect(store.refresh()).toBe(true);
    expect(answersOf(store)).toMatchObject({
      entries: [goodEntry],
      problems: [
        [2, "n is not a number"],
        [3, "n is not a number"],
      ],
    });
  });

  test("leaves no key to remove whose every line it refuses", async () => {
    const path = fileOf('{"id":"b","m":1}\n', good);
    const store = openTestStore<Job>(path, { parse: parseJob, durability: "os" });
    expect(await store.remove("b")).toBe(false);
    expect(textOf(path)).toBe(`{"id":"b","m":1}\n${good}`);
    expect(await store.remove("a")).toBe(true);
    expect(textOf(path)).toBe(`{"id":"b","m":1}\n${good}{"id":"a","$deleted":true}\n`);
  });
});

describe("a file that others change", () => {
  test("is read anew after it was replaced, cut, emptied or removed", () => {
    const path = fileOf(good, '{"id":"b"}\n');
    const store = openTestStore<Job>(path);
    const change = (text: string, flag: string): string[] => {
      writeFileSync(path, text, { flag });
      expect(store.refresh()).toBe(true);
      return [...store.keys()];
    };
    expect(change('{"id":"c"}\n', "a")).toEqual(["a", "b", "c"]);
    expect(change('{"id":"x"}\n', "w")).toEqual(["x"]);
    expect(change('{"id":"x"}\n{"id":"a much longer line than was there before"}\n', "w")).toEqual([
      "x",
      "a much longer line than was there before",
    ]);
    expect(change('{"id":"x"}\n', "w")).toEqual(["x"]);
    expect(change('{"id":"longer from its first line on"}\n{"id":"y"}\n', "w")).toEqual([
      "longer from its first line on",
      "y",
    ]);
    expect(change("", "w")).toEqual([]);
    expect(change(good, "a")).toEqual(["a"]);
    unlinkSync(path);
    expect([store.refresh(), store.size, store.refresh()]).toEqual([true, 0, false]);
  });

  test("answers from what is in place when an entry was overwritten there", () => {
    const path = fileOf('{"id":"a","n":1}\n{"id":"b","n":1}\n');
    const store = openTestStore<Job>(path);
    const file = openSync(path, "r+");
    writeSync(file, '{"id":"c","n":1}\n', 0);
    closeSync(file);
    expect([store.get("a"), [...store.keys()]]).toEqual([undefined, ["c", "b"]]);
  });
});
