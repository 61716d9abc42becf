import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answersOf, type Job, openTestStore, parseJob, storeError, textOf, untilInThread } from "./store.fixture.ts";
import { maxDepth } from "./strict.ts";
import { memoryFolder } from "./testing/folder.ts";

type Members = Readonly<Record<string, unknown>>;

const cycle: Record<string, unknown> = { id: "a" };
cycle["self"] = { again: [cycle] };

class Custom {
  readonly id = "a";
}

/** So many arrays in each other, in the entry's own object. */
function nested(depth: number): Members {
  let value: unknown = 1;
  for (let at = 1; at < depth; at += 1) value = [value];
  return { id: "a", v: value };
}

describe("an entry that cannot be written", () => {
  test.each<[string, unknown]>([
    ["a text", "a"],
    ["a number", 1],
    ["null", null],
    ["undefined", undefined],
    ["a list", [{ id: "a" }]],
    ["a function", () => ({ id: "a" })],
    ["a date", new Date(0)],
    ["a map", new Map([["id", "a"]])],
    ["of a class", new Custom()],
    ["an object without the key member", { n: 1 }],
    ["an object that only inherits the key member", Object.create({ id: "a" })],
    ["empty", {}],
    ["an empty key", { id: "" }],
    ["a key that is a number", { id: 1 }],
    ["a key that is null", { id: null }],
    ["a key that is true", { id: true }],
    ["a key that is an object", { id: { toString: () => "a" } }],
    ["a key that is a list", { id: ["a"] }],
    ["a key that is undefined", { id: undefined }],
    ["a key with a lone surrogate", { id: "\ud800" }],
    ["a cycle", cycle],
    ["a member that is undefined", { id: "a", n: undefined }],
    ["undefined deep inside", { id: "a", n: [{ x: undefined }] }],
    ["a hole", { id: "a", n: new Array(2) }],
    ["a big integer", { id: "a", n: 1n }],
    ["not a number", { id: "a", n: Number.NaN }],
    ["infinity", { id: "a", n: Number.POSITIVE_INFINITY }],
    ["a symbol", { id: "a", n: Symbol("n") }],
    ["a function inside", { id: "a", n: () => 1 }],
    ["a date inside", { id: "a", at: new Date(0) }],
    ["a lone surrogate inside", { id: "a", n: ["\udc00"] }],
    ["a lone surrogate in a name", { id: "a", "\ud800": 1 }],
    ["$deleted", { id: "a", $deleted: true }],
    ["$deleted, not true", { id: "a", $deleted: false }],
    ["a name that begins with $", { id: "a", $other: 1 }],
    ["one level too many", nested(maxDepth + 1)],
  ])("is BAD_VALUE and leaves everything as it was: %s", async (_case, value) => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<unknown>(path, { durability: "os" });
    const refused = storeError("BAD_VALUE", { path, message: expect.stringContaining(path) });
    await expect(store.put(value)).rejects.toThrow(refused);
    expect(existsSync(path)).toBe(false);
    await store.put({ id: "a", n: 1 });
    await expect(store.put(value)).rejects.toThrow(refused);
    await expect(store.putAll([{ id: "b" }, value])).rejects.toThrow(refused);
    expect(textOf(path)).toBe('{"id":"a","n":1}\n');
    expect(answersOf(store)).toEqual({ size: 1, entries: [["a", { id: "a", n: 1 }]], problems: [] });
  });

  test("names the member", async () => {
    const store = openTestStore<unknown>(join(memoryFolder(), "jobs.jsonl"));
    await expect(store.put({ id: "a", list: [{ n: 1n }] })).rejects.toThrow("$.list[0].n");
    await expect(store.put({ n: 1 })).rejects.toThrow('"id"');
    await expect(store.put({ id: 1 })).rejects.toThrow('"id"');
    await expect(store.put({ id: "a", $x: 1 })).rejects.toThrow('"$x"');
  });

  test("is one that the store's own decoder refuses, for it would not be read back", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { parse: parseJob, durability: "os" });
    const wrong = { id: "a", n: "one" } as unknown as Job;
    const refused = storeError("BAD_VALUE", { path, message: expect.stringContaining("n is not a number") });
    await expect(store.put(wrong)).rejects.toThrow(refused);
    expect(existsSync(path)).toBe(false);
    const encoded = openTestStore<Job>(path, { parse: parseJob, encode: ({ id }) => ({ id, n: "one" }) });
    await expect(encoded.put({ id: "a", n: 1 })).rejects.toThrow(refused);
    expect(existsSync(path)).toBe(false);
  });

  test("is one whose encoder fails, and the reason is passed on", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const encode = (): never => {
      throw new RangeError("mine");
    };
    await expect(openTestStore<Job>(path, { encode }).put({ id: "a" })).rejects.toThrow(RangeError);
    expect(existsSync(path)).toBe(false);
  });
});

describe("an entry", () => {
  test("may be as deep as the parser reads", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    await openTestStore<Members>(path).put(nested(maxDepth));
    expect(openTestStore<Members>(path).get("a")).toEqual(nested(maxDepth));
  });

  test("may have any names but those that begin with $, which are allowed further down", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const value = JSON.parse(
      '{"id":"a","__proto__":{"polluted":1},"constructor":1,"toString":2,"":3,"10":4,"9":5,"deep":{"$deleted":true}}',
    ) as Members;
    const store = openTestStore<Members>(path);
    await store.put(value);
    expect(textOf(path)).toBe(
      '{"id":"a","":3,"10":4,"9":5,"__proto__":{"polluted":1},"constructor":1,"deep":{"$deleted":true},"toString":2}\n',
    );
    for (const reader of [store, openTestStore<Members>(path)]) {
      const found = reader.get("a") ?? {};
      expect(JSON.stringify(found)).toBe(
        textOf(path).trim().replace('"id":"a","":3,"10":4,"9":5', '"9":5,"10":4,"id":"a","":3'),
      );
      expect([Object.getPrototypeOf(found), Object.hasOwn(found, "__proto__")]).toEqual([Object.prototype, true]);
    }
    expect(({} as Members)["polluted"]).toBeUndefined();
  });

  test("may hold every character, each line staying one line", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const text = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)).join("");
    const value = { id: "a", text: `${text}\u2028\u2029\ufeff\ufffd\uffff😀` };
    const store = openTestStore<Members>(path);
    await store.put(value);
    expect(textOf(path).match(/[\n\r\u2028\u2029]/g)).toEqual(["\n"]);
    for (const reader of [store, openTestStore<Members>(path)]) expect(reader.get("a")).toEqual(value);
  });

  test("may have numbers of every size", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const numbers = [0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, -1.5, 0.1 + 0.2];
    await openTestStore<Members>(path).put({ id: "a", numbers });
    expect(openTestStore<Members>(path).get("a")).toEqual({ id: "a", numbers });
  });

  test("may have 64 MiB, and those around it stay what they are", { timeout: 120_000 }, async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<{ id: string; text: string }>(path, { durability: "os" });
    const text = "é".repeat(32 * 1024 * 1024);
    await store.put({ id: "before", text: "1" });
    await store.put({ id: "large", text });
    await store.put({ id: "after", text: "2" });
    const reader = openTestStore<{ id: string; text: string }>(path);
    for (const one of [store, reader]) {
      expect([...one.keys()]).toEqual(["before", "large", "after"]);
      expect(one.get("large")?.text === text).toBe(true);
      expect(one.get("after")).toEqual({ id: "after", text: "2" });
    }
    await store.put({ id: "large", text: "small" });
    const { bytesAfter } = await store.compact();
    expect(textOf(path)).toBe('{"id":"before","text":"1"}\n{"id":"large","text":"small"}\n{"id":"after","text":"2"}\n');
    expect(bytesAfter).toBe(textOf(path).length);
    expect(reader.get("large")?.text === text).toBe(true);
  });

  test("of 20 MB is written apart from others of its size that are put at once, for a text has its limits", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    writeFileSync(path, "");
    const store = openTestStore<{ id: string; text: string }>(path, { durability: "os" });
    const text = "x".repeat(20_000_000);
    const line = text.length + '{"id":"0","text":""}\n'.length;
    const puts = Promise.all(["0", "1", "2"].map((id) => store.put({ id, text })));
    await untilInThread(() => statSync(path).size > 0);
    const first = statSync(path).size;
    await puts;
    expect([first, statSync(path).size, [...store.keys()]]).toEqual([line, 3 * line, ["0", "1", "2"]]);
    expect(store.get("2")?.text === text).toBe(true);
  });
});
