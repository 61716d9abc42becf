import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeLine } from "./line.ts";
import { answersOf, type Job, lineCountOf, openTestStore, storeError, textOf } from "./store.fixture.ts";
import { memoryFolder } from "./testing/folder.ts";

type Members = Readonly<Record<string, unknown>>;

const keys = [
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "$deleted", "id", "undefined", "null"],
  ...[
    " ",
    "0",
    "-0",
    "00",
    "1e3",
    "a",
    "A",
    "a ",
    " a",
    ".",
    "../../etc/passwd",
    "é",
    "e\u0301",
    "😀",
    "\ufeff",
    "\ufffd",
  ],
  ...["\n", "\r\n", "\t", "\0", "\x1f", "\x7f", '"', "\\", '\\"', "\\u0061", "\u2028", "\u2029", "{}", '{"id":"x"}'],
  ...["x".repeat(255), "x".repeat(256), "x".repeat(257), "é".repeat(300)],
];

describe("a key", () => {
  test("may be any text that is not empty", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { durability: "os" });
    for (const [n, id] of keys.entries()) await store.put({ id, n });
    const entries = keys.map((id, n) => [id, { id, n }]);
    expect(textOf(path)).toBe(keys.map((id, n) => `${encodeLine({ id, n }, "id")}\n`).join(""));
    for (const reader of [store, openTestStore<Job>(path)]) {
      expect(answersOf(reader)).toEqual({ size: keys.length, entries, problems: [] });
      for (const id of ["", "prototype", "x", "x".repeat(254), "X", "\ufffd\ufffd"]) {
        expect([reader.get(id), reader.has(id)], id).toEqual([undefined, false]);
      }
    }
    for (const [n, id] of keys.entries()) {
      if (n % 2 === 0) expect(await store.remove(id), id).toBe(true);
    }
    const left = entries.filter((_, n) => n % 2 === 1);
    for (const reader of [store, openTestStore<Job>(path)]) expect(answersOf(reader).entries).toEqual(left);
    await store.compact();
    for (const reader of [store, openTestStore<Job>(path)]) expect(answersOf(reader).entries).toEqual(left);
    expect(lineCountOf(path)).toBe(left.length);
  });

  test("may have a mebibyte and more", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { durability: "os" });
    const long = ["x", "é", "\n"].map((character) => character.repeat(1024 * 1024));
    await store.putAll(long.map((id, n) => ({ id, n })));
    await store.put({ id: long[1] ?? "", n: 9 });
    await store.remove(long[2] ?? "");
    await store.compact();
    for (const reader of [store, openTestStore<Job>(path)]) {
      expect(long.map((id) => reader.get(id)?.n)).toEqual([0, 9, undefined]);
      expect([...reader.keys()].map((key) => long.indexOf(key))).toEqual([0, 1]);
      expect(reader.has(`${long[0]}x`)).toBe(false);
    }
  });

  test("is spelled in a removal as put spells it", async () => {
    for (const id of keys) {
      const path = join(memoryFolder(), "jobs.jsonl");
      const store = openTestStore<Job>(path, { durability: "os" });
      await store.put({ id });
      await store.remove(id);
      const member = encodeLine({ id }, "id").slice(0, -1);
      expect(textOf(path), id).toBe(`${member}}\n${member},"$deleted":true}\n`);
    }
  });

  test("is not taken for the replacement character when it is a lone surrogate", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { durability: "os" });
    await store.put({ id: "\ufffd", n: 1 });
    for (const id of ["\ud800", "\udfff"]) {
      expect([store.has(id), store.get(id), await store.remove(id)]).toEqual([false, undefined, false]);
    }
    expect(textOf(path)).toBe('{"id":"\ufffd","n":1}\n');
    expect(store.get("\ufffd")).toEqual({ id: "\ufffd", n: 1 });
  });

  test("finds its entry, whatever other keys there are", async () => {
    const key = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 6 }),
      fc.constantFrom("__proto__", "a", "\0"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(key, { maxLength: 30 }), fc.array(key, { maxLength: 5 }), async (ids, removed) => {
        const path = join(memoryFolder(), "jobs.jsonl");
        const store = openTestStore<Job>(path, { durability: "os" });
        const model = new Map(ids.map((id, n) => [id, { id, n }]));
        await store.putAll(ids.map((id, n) => ({ id, n })));
        for (const id of removed) expect(await store.remove(id)).toBe(model.delete(id));
        for (const reader of [store, openTestStore<Job>(path)]) {
          expect(answersOf(reader)).toEqual({ size: model.size, entries: [...model], problems: [] });
          await reader.close();
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("a key member", () => {
  test.each(["id", "a b", "a.b", "é", "i$d", "__proto__", '"', "10", "\n", "toString", "z".repeat(300)])(
    "may be called %j",
    async (key) => {
      const path = join(memoryFolder(), "jobs.jsonl");
      const store = openTestStore<Members>(path, { key, durability: "os" });
      const value = (name: string, n: number): Members => {
        const members: Members = { "9": n, n: [n] };
        return Object.defineProperty(members, key, { value: name, enumerable: true });
      };
      await store.putAll([value("a", 1), value("b", 2), value("a", 3)]);
      await store.remove("b");
      const member = JSON.stringify(key);
      expect(textOf(path)).toBe(
        `{${member}:"a","9":1,"n":[1]}\n{${member}:"b","9":2,"n":[2]}\n{${member}:"a","9":3,"n":[3]}\n` +
          `{${member}:"b","$deleted":true}\n`,
      );
      for (const reader of [store, openTestStore<Members>(path, { key })]) {
        expect([...reader.keys()]).toEqual(["a"]);
        expect(reader.get("a")?.["9"]).toBe(3);
        expect(reader.problems).toEqual([]);
      }
    },
  );

  test.each(["", "$", "$id", "$deleted", 1, undefined])("is refused when it is %j", (key) => {
    const path = join(memoryFolder(), "jobs.jsonl");
    expect(() => openTestStore(path, { key: key as string })).toThrow(storeError("BAD_VALUE", { path }));
    expect(existsSync(path)).toBe(false);
  });

  test("is found wherever it stands in the line", () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    writeFileSync(path, '{"n":1,"id":"a"}\n{"n":2, "x":{"id":"no"}, "id":"b"}\n{"n":1,"id":"c"}\n');
    expect([...openTestStore(path).keys()]).toEqual(["a", "b", "c"]);
  });
});
