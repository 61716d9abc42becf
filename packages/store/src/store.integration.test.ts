import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answersOf, type Job, openTestStore, parseJob, storeError, textOf, untilInThread } from "./store.fixture.ts";
import { openStore } from "./store.ts";
import { buildProgram, runProgram } from "./testing/child.ts";
import { buildFaultShim, canInjectFaults, recordCalls } from "./testing/fault.ts";
import { memoryFolder, modeOf, temporaryFolder, treeOf } from "./testing/folder.ts";

describe("openStore", () => {
  test("makes nothing until the first put, and is empty until then", async () => {
    const path = join(temporaryFolder(), "made", "here", "jobs.jsonl");
    const store = openTestStore<Job>(path, { parse: parseJob });
    expect(answersOf(store)).toEqual({ size: 0, entries: [], problems: [] });
    expect([store.get("a"), store.has("a"), store.refresh(), await store.remove("a")]).toEqual([
      undefined,
      false,
      false,
      false,
    ]);
    await store.put({ id: "a" });
    expect(textOf(path)).toBe('{"id":"a"}\n');
    await store.close();
    expect(treeOf(join(path, "..", "..", ".."))).toEqual({
      made: "/",
      "made/here": "/",
      "made/here/jobs.jsonl": '{"id":"a"}\n',
    });
  });

  test("gives a new file the exact mode, or 0o644 less the umask, and leaves that of one that is there", async () => {
    const folder = memoryFolder();
    writeFileSync(join(folder, "c.jsonl"), "", { mode: 0o640 });
    for (const [name, mode] of [
      ["a.jsonl", 0o666],
      ["b.jsonl", undefined],
      ["c.jsonl", 0o600],
    ] as const) {
      await openTestStore(join(folder, name), mode === undefined ? {} : { mode }).put({ id: "a" });
    }
    const modes = ["a.jsonl", "b.jsonl", "c.jsonl"].map((name) => modeOf(join(folder, name)));
    expect(modes).toEqual([0o666, 0o644 & ~process.umask(), 0o640]);
  });
});

describe("Store.put", () => {
  test("writes one line: the key member first, then code-unit order at every depth", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore(path);
    await store.put({
      b: { z: 1, "10": 2, "9": [{ d: 1, c: null }], a: {} },
      id: "k",
      é: 1,
      Z: 0,
      "😀": 2,
      "\uffff": 3,
    });
    await store.put({ id: "k" });
    const first = '{"id":"k","Z":0,"b":{"10":2,"9":[{"c":null,"d":1}],"a":{},"z":1},"é":1,"😀":2,"\uffff":3}\n';
    expect(textOf(path)).toBe(`${first}{"id":"k"}\n`);
    expect(answersOf(store)).toEqual({ size: 1, entries: [["k", { id: "k" }]], problems: [] });
  });

  test("writes the members that encode names, and gives what parse makes of them", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const open = () =>
      openTestStore<{ name: string; at: Date }>(path, {
        encode: ({ name, at }) => ({ id: name, at: at.toISOString() }),
        parse: (value) => {
          const { id, at } = value as { id: string; at: string };
          return { name: id, at: new Date(at) };
        },
      });
    const store = open();
    const job = { name: "a", at: new Date(86_400_000) };
    await store.put(job);
    expect(textOf(path)).toBe('{"id":"a","at":"1970-01-02T00:00:00.000Z"}\n');
    for (const reader of [store, open()]) expect(reader.get("a")).toEqual(job);
  });

  test("takes the value as it is when it is called, and gives a new one each time", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<{ id: string; list: number[] }>(path);
    const job = { id: "a", list: [1] };
    const put = store.put(job);
    job.list.push(2);
    await put;
    store.get("a")?.list.push(3);
    expect(store.get("a")).toEqual({ id: "a", list: [1] });
    expect(textOf(path)).toBe('{"id":"a","list":[1]}\n');
  });

  test.each(["fsync", "os"] as const)(
    "keeps the order of writes that overlap, with durability %s",
    async (durability) => {
      const path = join(memoryFolder(), "jobs.jsonl");
      const store = openTestStore<Job>(path, { durability, parse: parseJob });
      const removed: Promise<boolean>[] = [];
      const puts: Promise<void>[] = [];
      for (let n = 0; n < 500; n += 1) {
        puts.push(n % 5 === 0 ? store.putAll([{ id: `k${n}`, n }]) : store.put({ id: `k${n}`, n }));
        if (n % 3 === 0) removed.push(store.remove(`k${n}`), store.remove(`k${n}`));
        if (n % 9 === 0) puts.push(store.put({ id: `k${n}`, n: 0 - n }));
      }
      await Promise.all(puts);
      expect(await Promise.all(removed)).toEqual(removed.map((_, index) => index % 2 === 0));
      const wanted = Array.from({ length: 500 }, (_, n) => n).filter((n) => n % 3 !== 0 || n % 9 === 0);
      const entries = wanted.map((n) => [`k${n}`, { id: `k${n}`, n: n % 9 === 0 ? 0 - n : n }]);
      for (const reader of [store, openTestStore<Job>(path, { parse: parseJob })]) {
        expect(answersOf(reader)).toEqual({ size: entries.length, entries, problems: [] });
      }
    },
  );

  test("counts once what is read while it is synced", async () => {
    const folder = temporaryFolder();
    for (const read of ["refresh", "size", "problems"] as const) {
      const path = join(folder, `${read}.jsonl`);
      writeFileSync(path, '{"id":"z"}\n');
      const store = openTestStore<Job>(path, read === "refresh" ? {} : { parse: parseJob });
      const puts = Promise.all(["a", "b", "c"].map((id) => store.put({ id })));
      await untilInThread(() => readFileSync(path).length > 11);
      if (read === "refresh") store.refresh();
      else expect(store[read]).toBeDefined();
      await puts;
      expect(await store.compact(), read).toMatchObject({ changed: false, linesBefore: 4, bytesBefore: 44 });
    }
  });

  test("leaves what somebody appends while it is synced to be taken in", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    writeFileSync(path, '{"id":"z"}\n');
    const store = openTestStore<Job>(path, { parse: parseJob });
    const puts = Promise.all(["a", "b"].map((id) => store.put({ id })));
    await untilInThread(() => readFileSync(path).length > 11);
    appendFileSync(path, '{"id":"other"}\nbad\n');
    await puts;
    expect([store.refresh(), [...store.keys()]]).toEqual([true, ["z", "a", "b", "other"]]);
    await store.put({ id: "c" });
    expect(answersOf(store)).toMatchObject({ size: 5, problems: [[5, 'column 1: unexpected "b"']] });
  });
});

describe("Store.putAll", () => {
  test("writes all of them, in order, the last for a key counting", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path);
    await store.putAll([
      { id: "a", n: 1 },
      { id: "b", n: 2 },
      { id: "a", n: 3 },
    ]);
    expect(textOf(path)).toBe('{"id":"a","n":1}\n{"id":"b","n":2}\n{"id":"a","n":3}\n');
    expect(answersOf(store).entries).toEqual([
      ["a", { id: "a", n: 3 }],
      ["b", { id: "b", n: 2 }],
    ]);
  });

  test("writes none when one cannot be written, and goes on", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { parse: parseJob });
    const bad = [{ id: "a", n: Number.NaN }, { id: "" }, { id: "b", m: 1 }, null, { n: 1 }] as Job[];
    for (const value of bad) {
      await expect(store.putAll([{ id: "good" }, value])).rejects.toThrow(storeError("BAD_VALUE", { path }));
    }
    expect([existsSync(path), store.size]).toEqual([false, 0]);
    await store.putAll([]);
    expect(existsSync(path)).toBe(false);
    await store.putAll([{ id: "a" }]);
    await expect(store.putAll([{ id: "a", n: 2 }, bad[0] as Job])).rejects.toThrow(storeError("BAD_VALUE"));
    expect([textOf(path), store.get("a")]).toEqual(['{"id":"a"}\n', { id: "a" }]);
  });

  test.skipIf(!canInjectFaults)("needs one write and one sync, and so do many callers at once", () => {
    const folder = memoryFolder();
    const source = `
      import { openStore } from "./index.ts";
      const store = openStore({ path: process.argv[2], key: "id" });
      const jobs = Array.from({ length: 64 }, (_, n) => ({ id: "k" + n }));
      const write = process.argv[3] === "putAll" ? store.putAll(jobs) : Promise.all(jobs.map((job) => store.put(job)));
      write.then(() => store.close());
    `;
    const program = buildProgram(folder, source);
    const shim = buildFaultShim(folder);
    for (const how of ["putAll", "put"]) {
      const path = join(folder, `${how}.jsonl`);
      const calls = recordCalls(shim, path, (env) => {
        expect(runProgram(program, [path, how], env).stderr).toBe("");
      });
      const onFile = calls.filter((call) => call.path === path).map(({ name }) => name);
      expect(onFile.filter((name) => /write|sync/.test(name))).toEqual(["write", "fdatasync"]);
    }
  });
});

describe("Store.remove", () => {
  test("appends the key and $deleted, and answers whether there was one", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path);
    await store.putAll([{ id: "a" }, { id: "b" }]);
    expect(await store.remove("a")).toBe(true);
    const text = '{"id":"a"}\n{"id":"b"}\n{"id":"a","$deleted":true}\n';
    expect(textOf(path)).toBe(text);
    expect([await store.remove("a"), await store.remove("c"), await store.remove("")]).toEqual([false, false, false]);
    expect(textOf(path)).toBe(text);
    expect(answersOf(store)).toEqual({ size: 1, entries: [["b", { id: "b" }]], problems: [] });
    expect([store.get("a"), store.has("a")]).toEqual([undefined, false]);
  });

  test("makes way for the key at the end of the order, before and after a compaction and an opening", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path);
    await store.putAll([{ id: "a" }, { id: "b" }, { id: "c" }]);
    await store.remove("a");
    await store.put({ id: "b", n: 2 });
    await store.put({ id: "a", n: 2 });
    const order = ["b", "c", "a"];
    expect([[...store.keys()], [...openTestStore<Job>(path).keys()]]).toEqual([order, order]);
    await store.compact();
    expect([[...store.keys()], [...openTestStore<Job>(path).keys()]]).toEqual([order, order]);
    expect(textOf(path)).toBe('{"id":"b","n":2}\n{"id":"c"}\n{"id":"a","n":2}\n');
  });
});

describe("Store.refresh", () => {
  test("takes in what another one wrote, and says whether there was anything", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const one = openTestStore<Job>(path);
    const other = openTestStore<Job>(path);
    await one.put({ id: "a", n: 1 });
    expect([one.refresh(), other.get("a"), other.refresh(), other.get("a")]).toEqual([
      false,
      undefined,
      true,
      { id: "a", n: 1 },
    ]);
    expect(other.refresh()).toBe(false);
    await other.put({ id: "b" });
    await one.put({ id: "c" });
    expect([[...one.keys()], other.has("c")]).toEqual([["a", "b", "c"], false]);
    await one.remove("a");
    expect(other.refresh()).toBe(true);
    expect(answersOf(other)).toEqual(answersOf(one));
  });

  test("needs no asking where both write: two stores on one path lose nothing", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const stores = [openTestStore<Job>(path, { durability: "os" }), openTestStore<Job>(path, { durability: "os" })];
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => stores[n % 2]?.put({ id: `k${n % 40}`, n }) ?? Promise.resolve()),
    );
    for (const store of stores) store.refresh();
    const [one, other] = stores.map(answersOf);
    expect(one).toEqual(other);
    expect(one?.size).toBe(40);
    expect(one?.entries.map(([, { n }]) => n).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 40 }, (_, index) => 260 + index),
    );
  });
});

describe("Store.close", () => {
  test("waits for what is queued, leaves nothing behind and may be called again", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "jobs.jsonl");
    const store = openTestStore<Job>(path);
    const puts = Promise.all(Array.from({ length: 20 }, (_, n) => store.put({ id: `k${n}` })));
    await store.close();
    expect(textOf(path).split("\n").length - 1).toBe(20);
    await puts;
    await store.close();
    expect(readdirSync(folder)).toEqual(["jobs.jsonl"]);
  });

  test.skipIf(!existsSync("/proc/self/fd"))("lets every file go", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const before = readdirSync("/proc/self/fd").length;
    for (let turn = 0; turn < 20; turn += 1) {
      const store = openStore<Job>({ path, key: "id" });
      await store.put({ id: "a", n: turn });
      await store.compact();
      store.refresh();
      await store.close();
    }
    expect(readdirSync("/proc/self/fd").length).toBe(before);
  });

  test("has everything say that it is closed", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { parse: parseJob });
    await store.put({ id: "a" });
    await store.close();
    const closed = storeError("BAD_VALUE", { path, message: `${path}: is closed` });
    for (const ask of [
      () => store.get("a"),
      () => store.has("a"),
      () => store.size,
      () => store.keys(),
      () => [...store.entries()],
      () => store.problems,
      () => store.refresh(),
    ]) {
      expect(ask, String(ask)).toThrow(closed);
    }
    for (const act of [
      () => store.put({ id: "b" }),
      () => store.putAll([{ id: "b" }]),
      () => store.remove("a"),
      () => store.compact(),
    ]) {
      await expect(act(), String(act)).rejects.toThrow(closed);
    }
    const stop = new AbortController();
    const watching = async (): Promise<unknown> => store.watch({ signal: stop.signal }).next();
    const waits = new Promise((resolve) => setImmediate(resolve, "it waits"));
    await expect(Promise.race([watching(), waits])).rejects.toThrow(closed);
    stop.abort();
    expect(textOf(path)).toBe('{"id":"a"}\n');
  });
});

describe("a store opened for reading only", () => {
  test("refuses every write and writes nothing at all, not even where there is nothing", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "jobs.jsonl");
    const none = openTestStore<Job>(join(folder, "none", "jobs.jsonl"), { readOnly: true });
    writeFileSync(path, '{"id":"a"}\n{"id":"a","n":2}\nbad\n{"id":"to');
    const store = openTestStore<Job>(path, { readOnly: true, parse: parseJob });
    const before = treeOf(folder);
    for (const [reader, itsPath] of [
      [store, path],
      [none, join(folder, "none", "jobs.jsonl")],
    ] as const) {
      const refused = storeError("BAD_VALUE", { path: itsPath });
      await expect(reader.put({ id: "b" })).rejects.toThrow(refused);
      await expect(reader.putAll([])).rejects.toThrow(refused);
      await expect(reader.remove("a")).rejects.toThrow(refused);
    }
    await expect(store.compact()).rejects.toThrow(storeError("BAD_VALUE", { path }));
    expect(answersOf(store)).toMatchObject({
      entries: [["a", { id: "a", n: 2 }]],
      problems: [
        [3, 'column 1: unexpected "b"'],
        [4, "torn"],
      ],
    });
    expect(none.size).toBe(0);
    appendFileSync(path, '\n{"id":"b"}\n');
    expect([store.refresh(), store.has("b")]).toEqual([true, true]);
    await Promise.all([store.close(), none.close()]);
    expect(treeOf(folder)).toEqual({ ...before, "jobs.jsonl": `${before["jobs.jsonl"]}\n{"id":"b"}\n` });
  });
});
