import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Job, openTestStore, parseJob, storeError, untilInThread } from "./store.fixture.ts";
import type { Store } from "./store-interface.ts";
import type { StoreChange } from "./store-watch.ts";
import { buildProgram, ended, runProgram, startProgram } from "./testing/child.ts";
import { temporaryFolder } from "./testing/folder.ts";

/** A change in one word: `a=1`, or `-a` for a removal. */
function spell(change: StoreChange<Job>): string {
  return change.kind === "remove" ? `-${change.key}` : `${change.key}=${change.value.n ?? ""}`;
}

interface Watch {
  /** The next so many changes. */
  take(count: number): Promise<string[]>;
  /** The changes up to and with the one that puts `end`, which it writes itself. */
  takeRest(store: Store<Job>): Promise<string[]>;
  /** Asks for the next change and ends the watch. */
  stop(): Promise<IteratorResult<StoreChange<Job>>>;
}

/** Begins to watch: whatever is written after this is told. */
function watch(store: Store<Job>): Watch {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const changes = store.watch({ signal: stop.signal });
  let next: Promise<IteratorResult<StoreChange<Job>>> | undefined = changes.next();
  next.catch(() => {});
  const one = async (): Promise<StoreChange<Job>> => {
    const { done, value } = await (next ?? changes.next());
    next = undefined;
    if (done === true) throw new Error("the watch ended");
    return value;
  };
  const take = async (count: number): Promise<string[]> => {
    const taken: string[] = [];
    while (taken.length < count) taken.push(spell(await one()));
    next = changes.next();
    return taken;
  };
  return {
    take,
    takeRest: async (writer) => {
      const taken: string[] = [];
      await writer.put({ id: "end" });
      while (taken.at(-1) !== "end=") taken.push(spell(await one()));
      next = changes.next();
      return taken.slice(0, -1);
    },
    stop: () => {
      const last = next ?? changes.next();
      stop.abort();
      return last;
    },
  };
}

function scene(text?: string): { path: string; store: Store<Job>; other: Store<Job>; reader: Store<Job> } {
  const path = join(temporaryFolder(), "jobs.jsonl");
  if (text !== undefined) writeFileSync(path, text);
  const open = (): Store<Job> => openTestStore<Job>(path, { parse: parseJob, durability: "os" });
  return { path, store: open(), other: open(), reader: open() };
}

describe("Store.watch", () => {
  test("tells what this store and others put and remove from now on, in order", async () => {
    const { store, other } = scene('{"id":"old","n":1}\n');
    const watching = watch(store);
    await store.put({ id: "a", n: 1 });
    await other.putAll([
      { id: "b", n: 1 },
      { id: "a", n: 2 },
    ]);
    await store.remove("old");
    await other.remove("b");
    await other.put({ id: "b", n: 3 });
    expect(await watching.take(6)).toEqual(["a=1", "b=1", "a=2", "-old", "-b", "b=3"]);
    expect(await watching.takeRest(other)).toEqual([]);
  });

  test("tells what another process writes", async () => {
    const { path, store } = scene();
    const watching = watch(store);
    const source = `
      import { openStore } from "./index.ts";
      const store = openStore({ path: process.argv[2], key: "id" });
      (async () => {
        for (let n = 0; n < 100; n += 1) await store.put({ id: "k" + (n % 3), n });
        await store.remove("k1");
        await store.put({ id: "end" });
        await store.close();
      })();
    `;
    const child = startProgram(buildProgram(temporaryFolder(), source), [path]);
    const told: string[] = [];
    while (told.at(-1) !== "end=") told.push(...(await watching.take(1)));
    expect(await ended(child)).toMatchObject({ exit: 0 });
    // The compaction in between may leave only the last of each key to be told.
    const known = new Map<string, string>();
    for (const change of told) {
      const [key = "", n = ""] = change.split("=");
      if (key.startsWith("-")) known.delete(key.slice(1));
      else known.set(key, n);
    }
    expect(known).toEqual(new Map(Object.entries({ k0: "99", k2: "98", end: "" })));
    expect(new Set(told).size).toBe(told.length);
  });

  test("tells the decoder's entries, and passes over damaged, unfinished and blank lines", async () => {
    const { path, store } = scene();
    const watching = watch(store);
    writeFileSync(path, 'bad\n{"id":"a","n":1}\n\n{"id":"b","n":"x"}\n{"id":"c","m":1}\n{"id":"d"');
    expect(await watching.take(1)).toEqual(["a=1"]);
    appendFileSync(path, ',"n":2}\n');
    expect(await watching.take(1)).toEqual(["d=2"]);
    expect(await watching.takeRest(store)).toEqual([]);
  });

  test("tells a whole last line once, when it has its newline", async () => {
    const { path, store } = scene('{"id":"a","n":1}\n');
    const watching = watch(store);
    writeFileSync(`${path}.next`, '{"id":"a","n":2}\n{"id":"tail","n":1}');
    renameSync(`${path}.next`, path);
    expect(await watching.take(1)).toEqual(["a=2"]);
    appendFileSync(path, '\n{"id":"b","n":1}\n');
    expect(await watching.take(2)).toEqual(["tail=1", "b=1"]);
    expect(await watching.takeRest(store)).toEqual([]);
  });

  test("tells nothing at a compaction, by whomever, and goes on in the new file", async () => {
    const { path, store, other } = scene('{"id":"a","n":1}\n{"id":"b","n":1}\nbad\n{"id":"a","n":2}\n');
    const watching = watch(store);
    await other.compact();
    await other.put({ id: "a", n: 3 });
    expect(await watching.take(1)).toEqual(["a=3"]);
    await store.compact();
    await other.remove("b");
    expect(await watching.take(1)).toEqual(["-b"]);
    for (let n = 0; n < 200; n += 1) await other.put({ id: "c", n });
    const told: string[] = [];
    while (told.at(-1) !== "c=199") told.push(...(await watching.take(1)));
    expect(new Set(told).size).toBe(told.length);
    expect(await watching.takeRest(other)).toEqual([]);
    expect(readFileSync(path, "utf8").length).toBeLessThan(3000);
  });

  test("tells what differs when the file was replaced, removed and made again", async () => {
    const { path, store } = scene('{"id":"a","n":1}\n{"id":"b","n":1}\n{"id":"c","n":1}\n');
    const folder = join(path, "..");
    const watching = watch(store);
    writeFileSync(
      join(folder, "next"),
      '{"id":"b","n":1}\n{"id":"a","n":2}\n{"id":"d","n":1}\n{"id":"c","$deleted":true}\n',
    );
    renameSync(join(folder, "next"), path);
    expect(await watching.take(3)).toEqual(["a=2", "d=1", "-c"]);
    unlinkSync(path);
    expect((await watching.take(3)).sort()).toEqual(["-a", "-b", "-d"]);
    writeFileSync(join(folder, "next"), '{"id":"b","n":9}\n');
    renameSync(join(folder, "next"), path);
    expect(await watching.take(1)).toEqual(["b=9"]);
    expect(await watching.takeRest(store)).toEqual([]);
  });

  test("begins with a file that is not there yet", async () => {
    const { store, other } = scene();
    const watching = watch(store);
    await other.put({ id: "a", n: 1 });
    expect(await watching.take(1)).toEqual(["a=1"]);
  });

  test("begins at the right place although a write is being synced, and after others wrote", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    writeFileSync(path, '{"id":"z","n":1}\n');
    const store = openTestStore<Job>(path);
    const puts = Promise.all([1, 2, 3].map((n) => store.put({ id: `k${n}`, n })));
    await untilInThread(() => readFileSync(path).length > 17);
    store.refresh();
    await puts;
    const other = openTestStore<Job>(path);
    await other.put({ id: "before", n: 1 });
    const watching = watch(store);
    await other.put({ id: "new", n: 1 });
    expect(await watching.take(1)).toEqual(["new=1"]);
    expect(await watching.takeRest(other)).toEqual([]);
  });

  test("does not change what the store itself has read", async () => {
    const { store, other, reader } = scene('{"id":"a","n":1}\n');
    const watching = watch(reader);
    await other.put({ id: "a", n: 2 });
    expect(await watching.take(1)).toEqual(["a=2"]);
    expect([reader.get("a"), reader.refresh(), reader.get("a")]).toEqual([{ id: "a", n: 1 }, true, { id: "a", n: 2 }]);
    expect(store.get("a")).toEqual({ id: "a", n: 1 });
  });

  test("ends when the signal says so: before it begins, while it waits and between changes", async () => {
    const { store } = scene();
    const over = { done: true, value: undefined };
    expect(await store.watch({ signal: AbortSignal.abort() }).next()).toEqual(over);
    expect(await watch(store).stop()).toEqual(over);
    const stop = new AbortController();
    const changes = store.watch({ signal: stop.signal });
    const first = changes.next();
    await store.putAll([{ id: "a" }, { id: "b" }]);
    expect(await first).toMatchObject({ done: false });
    stop.abort();
    expect(await changes.next()).toEqual(over);
    expect(await changes.next()).toEqual(over);
  });

  test("ends when its reader leaves, and lets go of what it watched", async () => {
    const { store } = scene();
    await store.put({ id: "a", n: 1 });
    const isListed = existsSync("/proc/self/fd");
    const open = (): number => (isListed ? readdirSync("/proc/self/fd").length : 0);
    const before = open();
    for (let turn = 0; turn < 5; turn += 1) {
      const changes = store.watch({ signal: new AbortController().signal });
      const first = changes.next();
      await store.put({ id: "a", n: turn });
      expect(await first).toMatchObject({ done: false, value: { value: { n: turn } } });
      expect(await changes.return(undefined)).toEqual({ done: true, value: undefined });
      expect(await changes.next()).toEqual({ done: true, value: undefined });
    }
    await expect.poll(open).toBe(before);
  });

  test("keeps no process alive once it has ended, whichever way", () => {
    const folder = temporaryFolder();
    const source = `
      import { openStore } from "./index.ts";
      (async () => {
        const store = openStore({ path: process.argv[2], key: "id" });
        const stop = new AbortController();
        const left = store.watch({ signal: new AbortController().signal });
        const aborted = store.watch({ signal: stop.signal });
        const first = [left.next(), aborted.next()];
        await store.put({ id: "a" });
        await Promise.all(first);
        await left.return();
        const last = aborted.next();
        stop.abort();
        console.log((await last).done);
        await store.close();
      })();
    `;
    const outcome = runProgram(buildProgram(folder, source), [join(folder, "jobs.jsonl")]);
    expect(outcome).toEqual({ exit: 0, signal: null, stdout: "true\n", stderr: "" });
  });

  test("may be had many times at once", async () => {
    const { store, other } = scene();
    const all = [watch(store), watch(store), watch(other)];
    await store.put({ id: "a", n: 1 });
    expect(await Promise.all(all.map((one) => one.take(1)))).toEqual([["a=1"], ["a=1"], ["a=1"]]);
  });

  test("is refused when the folder is not there, and says so when it goes", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "none", "jobs.jsonl");
    const store = openTestStore<Job>(path);
    const none = store.watch({ signal: new AbortController().signal });
    await expect(none.next()).rejects.toThrow(storeError("NOT_FOUND", { path: join(folder, "none") }));
    mkdirSync(join(folder, "none"));
    writeFileSync(path, '{"id":"a","n":1}\n');
    const watching = watch(store);
    rmSync(path);
    expect(await watching.take(1)).toEqual(["-a"]);
  });

  test("refuses a path where something else lies", async () => {
    const { path, store } = scene();
    symlinkSync("/dev/zero", path);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    await expect(store.watch({ signal: stop.signal }).next()).rejects.toThrow(storeError("REFUSED_PATH", { path }));
  });
});
