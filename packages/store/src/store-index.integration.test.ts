import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checksumOfWords } from "./checksum.ts";
import { KeyTable, keyBytes } from "./key-table.ts";
import { releaseLock, takeLock } from "./lock.ts";
import { answersOf, inodeOf, openTestStore } from "./store.fixture.ts";
import { indexFromBytes, readIndex, saveIndex } from "./store-index.ts";
import type { Store } from "./store-interface.ts";
import { memoryFolder, modeOf, temporaryFolder } from "./testing/folder.ts";

interface Padded {
  readonly id: string;
  readonly n: number;
  readonly pad?: string;
}

const pad = "-".repeat(15_000);

/** Large enough for an index: 20 entries of 15 kB. */
function largeFile(folder = memoryFolder()): string {
  const path = join(folder, "jobs.jsonl");
  writeFileSync(path, Array.from({ length: 20 }, (_, n) => `{"id":"k${n}","n":${n},"pad":"${pad}"}\n`).join(""));
  return path;
}

function withFile<Result>(path: string, run: (file: number) => Result): Result {
  const file = openSync(path, "r+");
  try {
    return run(file);
  } finally {
    closeSync(file);
  }
}

const lie = "told by the index";

/** An index that is valid for the file as it lies there, and says what is not so: an answer tells whether it was asked. */
function plantIndex(path: string, key = "id"): void {
  const table = new KeyTable();
  table.set(keyBytes(lie), { offset: 0, length: 1 });
  withFile(path, (file) => {
    saveIndex({ indexPath: `${path}.idx`, key }, file, { table, damaged: [], lines: 1 });
  });
}

function isBelieved(path: string, key = "id"): boolean {
  return [...openTestStore(path, { key, readOnly: true }).keys()].includes(lie);
}

/** What the store answers, the padding told by its length only. */
function paddedAnswersOf(store: Store<Padded>): unknown {
  const { entries, ...rest } = answersOf(store);
  return { ...rest, entries: entries.map(([key, { n, pad: text = "" }]) => [key, n, text.length]) };
}

/** Waits for the file system's clock to go on. */
function untilItsClockTicks(path: string, touch: () => void): void {
  const before = statSync(path, { bigint: true }).ctimeNs;
  do touch();
  while (statSync(path, { bigint: true }).ctimeNs === before);
}

describe("an index", () => {
  test("is believed as long as the file is as it was", () => {
    for (const path of [largeFile(), largeFile(temporaryFolder())]) {
      plantIndex(path);
      for (let turn = 0; turn < 3; turn += 1) expect(isBelieved(path)).toBe(true);
      readFileSync(path);
      expect(isBelieved(path)).toBe(true);
    }
  });

  test.each<[string, (path: string) => void]>([
    ["its size: something was appended", (path) => appendFileSync(path, '{"id":"new","n":1}\n')],
    ["its size: it was cut", (path) => truncateSync(path, indexFromBytes + 5)],
    ["its content, of the same size", (path) => withFile(path, (file) => writeSync(file, '{"id":"z0"', 0))],
    ["its modification time", (path) => utimesSync(path, 1_000_000, 1_000_000)],
    [
      "its modification time, by a millisecond",
      (path) => utimesSync(path, statSync(path).atime, (statSync(path).mtimeMs + 1) / 1000),
    ],
    ["its change time alone", (path) => untilItsClockTicks(path, () => chmodSync(path, 0o644))],
    [
      "its inode: it was replaced by a copy with the same times",
      (path) => {
        const { atimeMs, mtimeMs } = statSync(path);
        copyFileSync(path, `${path}.copy`);
        utimesSync(`${path}.copy`, atimeMs / 1000, mtimeMs / 1000);
        renameSync(`${path}.copy`, path);
      },
    ],
    [
      "its content, its modification time set back",
      (path) => {
        const { atimeMs, mtimeMs } = statSync(path);
        untilItsClockTicks(path, () => {
          withFile(path, (file) => writeSync(file, '{"id":"z0"', 0));
          utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
        });
      },
    ],
  ])("is passed over when the file differs in %s", (_case, change) => {
    const path = largeFile();
    plantIndex(path);
    expect(isBelieved(path)).toBe(true);
    change(path);
    expect(isBelieved(path)).toBe(false);
  });

  test("is passed over for another key member", () => {
    const path = largeFile();
    writeFileSync(path, readFileSync(path, "utf8").replaceAll('"n":', '"name":"x","n":'));
    plantIndex(path, "name");
    expect([isBelieved(path, "name"), isBelieved(path, "id"), isBelieved(path, "pad")]).toEqual([true, false, false]);
  });

  test("is passed over when any of its bytes is another, or any are missing or too many", () => {
    const path = largeFile();
    plantIndex(path);
    const indexPath = `${path}.idx`;
    const whole = readFileSync(indexPath);
    withFile(path, (file) => {
      const isRead = (bytes: Uint8Array): boolean => {
        writeFileSync(indexPath, bytes);
        return readIndex({ indexPath, key: "id" }, file) !== undefined;
      };
      expect(isRead(whole)).toBe(true);
      for (let at = 0; at < whole.length; at += 1) {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
        expect(isRead(changed), `byte ${at}`).toBe(false);
        expect(isRead(whole.subarray(0, at)), `cut at ${at}`).toBe(false);
      }
      expect(isRead(Buffer.concat([whole, Buffer.from([0])]))).toBe(false);
      expect(isRead(Buffer.concat([whole, whole]))).toBe(false);
      expect(isRead(whole)).toBe(true);
    });
    expect(isBelieved(path)).toBe(true);
  });

  test.each<[string, boolean, (head: string) => string]>([
    ["as it is", true, (head) => head.replace('"form":', '"more":1,"form":')],
    ["of another form", false, (head) => head.replace(/"form":\d+/, '"form":99')],
    ["of another byte order", false, (head) => head.replace(/"order":"\w+"/, '"order":"middle"')],
    ["with more rows than it has", false, (head) => head.replace('"rows":1,', '"rows":2,')],
    ["with another inode", false, (head) => head.replace('"inode":"', '"inode":"1')],
    ["with another size", false, (head) => head.replace('"size":"', '"size":"1')],
    ["with another modification time", false, (head) => head.replace('"mtimeNs":"', '"mtimeNs":"1')],
    ["with another change time", false, (head) => head.replace('"ctimeNs":"', '"ctimeNs":"1')],
    ["that is no JSON", false, (head) => head.replace('"form"', "'form'")],
  ])("that is whole, %s, is believed: %s", (_case, isGood, change) => {
    const path = largeFile();
    plantIndex(path);
    const whole = readFileSync(`${path}.idx`);
    const start = whole.indexOf("\n");
    const head = whole.toString("utf8", 16, start);
    const changed = change(head).trimEnd();
    expect(changed).not.toBe(head.trimEnd());
    // The columns begin at a multiple of eight.
    const padded = changed.padEnd(changed.length + 7 - ((16 + changed.length) % 8));
    const body = Buffer.concat([Buffer.from(padded), whole.subarray(start)]);
    writeFileSync(`${path}.idx`, Buffer.concat([Buffer.from(checksumOfWords(body)), body]));
    expect(isBelieved(path)).toBe(isGood);
  });

  test.each<[string, (indexPath: string, folder: string) => void]>([
    ["an empty file", (indexPath) => writeFileSync(indexPath, "")],
    ["a file of something else", (indexPath) => writeFileSync(indexPath, "mine\n")],
    ["a folder", (indexPath) => mkdirSync(indexPath)],
    ["a pipe", (indexPath) => execFileSync("mkfifo", [indexPath])],
    ["a link that leads nowhere", (indexPath) => symlinkSync("nowhere", indexPath)],
    [
      "the index of another store",
      (indexPath, folder) => {
        const other = largeFile(join(folder));
        renameSync(other, `${other}.other`);
        plantIndex(`${other}.other`);
        renameSync(`${other}.other.idx`, indexPath);
      },
    ],
  ])("is done without where %s lies, and the store works on", async (_case, put) => {
    const folder = memoryFolder();
    const path = join(folder, "own.jsonl");
    put(`${path}.idx`, folder);
    renameSync(largeFile(folder), path);
    const store = openTestStore<Padded>(path, { durability: "os" });
    expect(store.size).toBe(20);
    await store.put({ id: "new", n: 1 });
    await store.close();
    expect(answersOf(openTestStore<Padded>(path)).size).toBe(21);
  });
});

describe("Store.close", () => {
  test("keeps an index of a large file, and only of one", async () => {
    const path = largeFile();
    chmodSync(path, 0o640);
    const small = join(memoryFolder(), "jobs.jsonl");
    for (const one of [path, small]) {
      const store = openTestStore<Padded>(one, { durability: "os" });
      await store.put({ id: "new", n: 1 });
      await store.close();
    }
    expect([modeOf(`${path}.idx`), existsSync(`${small}.idx`)]).toEqual([0o640, false]);
    const kept = withFile(path, (file) => readIndex({ indexPath: `${path}.idx`, key: "id" }, file));
    expect([kept?.lines, kept?.table.size, kept?.damaged]).toEqual([21, 21, []]);
    expect(readdirSync(join(path, "..")).sort()).toEqual(["jobs.jsonl", "jobs.jsonl.idx"]);
  });

  test("writes it again only when there is something new", async () => {
    const path = largeFile();
    await openTestStore(path).close();
    const first = inodeOf(`${path}.idx`);
    await openTestStore(path).close();
    const reader = openTestStore<Padded>(path, { durability: "os" });
    expect([reader.size, inodeOf(`${path}.idx`)]).toEqual([20, first]);
    await reader.put({ id: "new", n: 1 });
    await reader.close();
    expect(inodeOf(`${path}.idx`)).not.toBe(first);
    const kept = withFile(path, (file) => readIndex({ indexPath: `${path}.idx`, key: "id" }, file));
    expect(kept?.table.size).toBe(21);
  });

  test("gives a file that changed a moment ago a time that no later change will have", async () => {
    const path = largeFile();
    const before = statSync(path, { bigint: true }).mtimeNs;
    await openTestStore(path).close();
    const after = statSync(path, { bigint: true }).mtimeNs;
    expect(after).not.toBe(before);
    expect(after % 1_000_000n).not.toBe(0n);
  });

  test("keeps nothing of what a decoder said, for another may ask", async () => {
    const path = largeFile();
    appendFileSync(path, '{"id":"k0","n":"bad"}\n{"id":"new","n":"bad"}\n');
    const parse = (value: unknown): Padded => {
      if (typeof (value as Padded).n !== "number") throw new Error("n is no number");
      return value as Padded;
    };
    const store = openTestStore<Padded>(path, { parse, durability: "os" });
    expect(store.size).toBe(20);
    await store.put({ id: "more", n: 1 });
    await store.close();
    const other = openTestStore<Readonly<Record<string, unknown>>>(path);
    expect([other.size, other.get("k0"), other.problems]).toEqual([22, { id: "k0", n: "bad" }, []]);
  });

  test("puts it where it is told to", async () => {
    const path = largeFile();
    const indexPath = join(memoryFolder(), "elsewhere.idx");
    await openTestStore(path, { indexPath }).close();
    expect([existsSync(indexPath), existsSync(`${path}.idx`)]).toEqual([true, false]);
    rmSync(indexPath);
    await openTestStore(path, { indexPath: join(memoryFolder(), "none", "x.idx") }).close();
    expect(answersOf(openTestStore(path, { indexPath })).size).toBe(20);
  });

  test("writes none, and does not touch the file, when it was opened for reading only", async () => {
    const path = largeFile();
    utimesSync(path, 1_000_000, 1_000_000);
    const store = openTestStore(path, { readOnly: true });
    expect(store.size).toBe(20);
    await store.close();
    expect([readdirSync(join(path, "..")), statSync(path).mtimeMs]).toEqual([["jobs.jsonl"], 1_000_000_000]);
  });

  test("writes none while somebody else has the lock, and does not wait for it", async () => {
    const path = largeFile();
    const hold = await takeLock(`${path}.lock`, {});
    await openTestStore(path).close();
    releaseLock(hold);
    expect(existsSync(`${path}.idx`)).toBe(false);
  });

  test("writes none while the last line lacks its newline", async () => {
    for (const tail of ['{"id":"to', '{"id":"whole","n":1}', '{"id":"k0","$deleted":true}', "  "]) {
      const path = largeFile();
      appendFileSync(path, tail);
      const before = answersOf(openTestStore(path));
      await openTestStore(path).close();
      expect(existsSync(`${path}.idx`)).toBe(false);
      expect(answersOf(openTestStore(path))).toEqual(before);
    }
  });
});

describe("a store with an index", () => {
  test("notices an edit of the same size made right after it was closed", async () => {
    for (const path of [largeFile(), largeFile(temporaryFolder())]) {
      for (let turn = 0; turn < 20; turn += 1) {
        const store = openTestStore<Padded>(path, { durability: "os" });
        await store.put({ id: "last", n: turn });
        await store.close();
        withFile(path, (file) => writeSync(file, `{"id":"k${turn % 10}","n":${9 - (turn % 10)}`, 0));
        const reader = openTestStore<Padded>(path);
        expect(reader.get(`k${turn % 10}`)?.n).toBe(turn % 10 === 0 ? 9 : turn % 10);
        expect([...reader.keys()][0]).toBe(`k${turn % 10}`);
        await reader.close();
      }
    }
  });

  test("gives the entries it tells of, and goes on from there", async () => {
    const path = largeFile();
    appendFileSync(path, 'bad\n\n{"id":"k3","$deleted":true}\n{"id":"k4","n":44}\n');
    const before = answersOf(openTestStore(path));
    await openTestStore(path).close();
    const store = openTestStore<Padded>(path, { durability: "os" });
    expect(answersOf(store)).toEqual(before);
    expect(before.problems).toEqual([[21, 'column 1: unexpected "b"']]);
    await store.put({ id: "k3", n: 33 });
    await store.remove("k5");
    appendFileSync(path, '{"id":"other","n":1}\nworse\n');
    store.refresh();
    expect(store.problems.map(({ line }) => line)).toEqual([21, 28]);
    const { moved, linesBefore } = await store.compact();
    expect([moved.length, linesBefore]).toEqual([2, 28]);
    expect([...store.keys()].slice(-3)).toEqual(["k19", "k3", "other"]);
    expect(answersOf(openTestStore(path))).toEqual(answersOf(store));
  });

  test("asks the decoder all the same", async () => {
    const path = largeFile();
    appendFileSync(path, '{"id":"k0","n":"bad"}\n{"id":"new","n":"bad"}\n');
    await openTestStore(path).close();
    expect(existsSync(`${path}.idx`)).toBe(true);
    const parse = (value: unknown): Padded => {
      if (typeof (value as Padded).n !== "number") throw new Error("n is no number");
      return value as Padded;
    };
    expect(openTestStore<Padded>(path, { parse }).get("k0")?.n).toBe(0);
    expect(openTestStore<Padded>(path, { parse }).has("new")).toBe(false);
    expect(answersOf(openTestStore<Padded>(path, { parse }))).toMatchObject({
      size: 20,
      problems: [
        [21, "n is no number"],
        [22, "n is no number"],
      ],
    });
  });

  test("answers as one without, whatever was done before", async () => {
    const id = fc.constantFrom("k0", "k1", "k19", "a", "b", "é");
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constant("put"), id, fc.nat()) },
      { weight: 3, arbitrary: fc.tuple(fc.constant("remove"), id, fc.nat()) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom("damage", "compact", "tear"), id, fc.nat()) },
      { weight: 4, arbitrary: fc.tuple(fc.constant("reopen"), id, fc.nat()) },
    );
    let believed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
        const path = largeFile();
        const indexPath = `${path}.idx`;
        let store = openTestStore<Padded>(path, { durability: "os" });
        for (const [kind, key, n] of [...steps, ["reopen", "a", 0] as const]) {
          if (kind === "put") await store.put({ id: key, n, pad: pad.slice(n % 15_000) });
          if (kind === "remove") await store.remove(key);
          if (kind === "compact") await store.compact();
          if (kind === "damage") appendFileSync(path, "bad\n");
          if (kind === "tear") appendFileSync(path, '{"id":"x","n"');
          if (kind === "reopen") {
            await store.close();
            if (statSync(path).size >= indexFromBytes && existsSync(indexPath)) {
              if (withFile(path, (file) => readIndex({ indexPath, key: "id" }, file)) !== undefined) believed += 1;
            }
            const plain = openTestStore<Padded>(path, { indexPath: `${path}.none`, readOnly: true });
            store = openTestStore<Padded>(path, { durability: "os" });
            expect(paddedAnswersOf(store)).toEqual(paddedAnswersOf(plain));
            expect(await store.compact({ dryRun: true })).toEqual(await plain.compact({ dryRun: true }));
            await plain.close();
          }
        }
        await store.close();
      }),
      { numRuns: 40 },
    );
    expect(believed).toBeGreaterThan(40);
  });
});
