import {
  appendFileSync,
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { releaseLock, takeLock } from "./lock.ts";
import {
  answersOf,
  inodeOf,
  type Job,
  lineCountOf,
  openTestStore,
  parseJob,
  storeError,
  textOf,
} from "./store.fixture.ts";
import { buildProgram, ended, runProgram, startProgram } from "./testing/child.ts";
import { memoryFolder, modeOf, treeOf } from "./testing/folder.ts";

function fileOf(...parts: readonly (string | Uint8Array)[]): string {
  const path = join(memoryFolder(), "jobs.jsonl");
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return path;
}

/** Lines for `keys` keys, `lines` of them. */
function linesOf(keys: number, lines: number): string {
  return Array.from({ length: lines }, (_, n) => `{"id":"k${n % keys}","n":${n}}\n`).join("");
}

describe("an append compacts", () => {
  test.each([1, 2, 3, 10, 40])("beyond twice the %i keys and 64 lines, and not before", async (keys) => {
    const limit = 2 * keys + 64;
    const path = fileOf(linesOf(keys, limit - 2));
    const store = openTestStore<Job>(path, { durability: "os" });
    const ino = inodeOf(path);
    await store.put({ id: "k0", n: -1 });
    await store.put({ id: "k0", n: -2 });
    expect([lineCountOf(path), inodeOf(path)]).toEqual([limit, ino]);
    const before = answersOf(store).entries.slice(1);
    await store.put({ id: "k0", n: -3 });
    expect(lineCountOf(path)).toBe(keys);
    expect(answersOf(store)).toEqual({ size: keys, entries: [["k0", { id: "k0", n: -3 }], ...before], problems: [] });
    await store.put({ id: "k0", n: -4 });
    expect(lineCountOf(path)).toBe(keys + 1);
  });

  test("counting blank and damaged lines, removals, and what others wrote", async () => {
    const path = fileOf(
      '{"id":"a"}\n',
      "\n".repeat(20),
      "bad\n".repeat(20),
      '{"id":"b"}\n{"id":"b","$deleted":true}\n'.repeat(10),
    );
    const store = openTestStore<Job>(path, { durability: "os" });
    expect(store.size).toBe(1);
    appendFileSync(path, '{"id":"a"}\n'.repeat(4));
    await store.put({ id: "a", n: 1 });
    expect(lineCountOf(path)).toBe(66);
    await store.put({ id: "a", n: 2 });
    expect(textOf(path)).toBe('{"id":"a","n":2}\n');
    expect(textOf(`${path}.damaged`)).toBe("bad\n".repeat(20));
  });

  test("when a removal makes it due, for there is a key less", async () => {
    const path = fileOf(linesOf(2, 67));
    const store = openTestStore<Job>(path, { durability: "os" });
    await store.remove("k1");
    expect(textOf(path)).toBe('{"id":"k0","n":66}\n');
    await store.remove("k0");
    expect(lineCountOf(path)).toBe(2);
  });

  test("once for many lines at once, and again and again", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { durability: "os" });
    await store.putAll(Array.from({ length: 500 }, (_, n) => ({ id: "a", n })));
    expect(textOf(path)).toBe('{"id":"a","n":499}\n');
    let most = 0;
    for (let n = 0; n < 700; n += 1) {
      await store.put({ id: n % 2 === 0 ? "a" : "b", n });
      most = Math.max(most, lineCountOf(path));
    }
    expect(most).toBe(68);
    expect(answersOf(openTestStore<Job>(path)).entries).toEqual([
      ["a", { id: "a", n: 698 }],
      ["b", { id: "b", n: 699 }],
    ]);
  });

  test("and is acknowledged all the same when the compaction fails, which is tried again later", async () => {
    const path = fileOf("bad\n", linesOf(1, 65));
    mkdirSync(`${path}.damaged`);
    const store = openTestStore<Job>(path, { durability: "os" });
    for (let n = 0; n < 10; n += 1) await store.put({ id: "k0", n });
    expect([lineCountOf(path), store.get("k0")]).toEqual([76, { id: "k0", n: 9 }]);
    await expect(store.compact()).rejects.toThrow(storeError("REFUSED_PATH", { path: `${path}.damaged` }));
    expect(readdirSync(join(path, "..")).sort()).toEqual(["jobs.jsonl", "jobs.jsonl.damaged"]);
    expect([lineCountOf(path), store.size]).toEqual([76, 1]);
    rmdirSync(`${path}.damaged`);
    let most = 0;
    for (let n = 10; most < 1000 && lineCountOf(path) > 1; n += 1) {
      await store.put({ id: "k0", n });
      most = Math.max(most, lineCountOf(path));
    }
    expect([most, textOf(`${path}.damaged`), store.size]).toEqual([2 * 67 - 1, "bad\n", 1]);
  });
});

describe("Store.compact", () => {
  test("keeps the last line of each key as it is, byte for byte, in order of first appearance", async () => {
    const path = fileOf(
      ...['{"id":"a"}\n', ' { "unknown" : [1.0, 1e2] , "id":"b" }\r\n', '{"id":"c"}\n', '{"id":"gone"}\n'],
      ...['{"id":"a","more":{"z":1,"a":2}}\n', '{"id":"gone","$deleted":true}\n', '{"id":"c","$deleted":true}\n', "\n"],
      ...['{"id":"d","n":1}\n', '{"id":"c","u":"\\u0041"}\n', "\t\n", '{"id":"e","n":-0}'],
    );
    const parse = (value: unknown): Job => ({ id: (value as Job).id });
    const store = openTestStore<Job>(path, { parse });
    const before = answersOf(store);
    const bytesBefore = readFileSync(path).length;
    const lines = [
      ...['{"id":"a","more":{"z":1,"a":2}}\n', ' { "unknown" : [1.0, 1e2] , "id":"b" }\r\n', '{"id":"d","n":1}\n'],
      ...['{"id":"c","u":"\\u0041"}\n', '{"id":"e","n":-0}\n'],
    ];
    const report = {
      changed: true,
      linesBefore: 12,
      linesAfter: 5,
      bytesBefore,
      bytesAfter: lines.join("").length,
      moved: [],
      damagedPath: `${path}.damaged`,
    };
    expect(await store.compact({ dryRun: true })).toEqual(report);
    expect(readFileSync(path).length).toBe(bytesBefore);
    expect(await store.compact()).toEqual(report);
    expect(textOf(path)).toBe(lines.join(""));
    for (const reader of [store, openTestStore<Job>(path, { parse })]) expect(answersOf(reader)).toEqual(before);
    expect(readdirSync(join(path, ".."))).toEqual(["jobs.jsonl"]);
  });

  test("does nothing where nothing is to be done", async () => {
    const path = fileOf('{"id":"a"}\n{"id":"b"}\n');
    const ino = inodeOf(path);
    const store = openTestStore<Job>(path);
    expect(await store.compact()).toMatchObject({ changed: false, linesBefore: 2, linesAfter: 2 });
    expect(inodeOf(path)).toBe(ino);
    const folder = memoryFolder();
    const none = openTestStore<Job>(join(folder, "none", "jobs.jsonl"));
    expect(await none.compact()).toMatchObject({ changed: false, linesBefore: 0, linesAfter: 0, bytesBefore: 0 });
    expect(treeOf(folder)).toEqual({});
  });

  test("gives a whole last line the newline it lacks", async () => {
    const path = fileOf('{"id":"a"}\n{"id":"b"}');
    const store = openTestStore<Job>(path);
    expect(await store.compact()).toMatchObject({
      changed: true,
      linesBefore: 2,
      linesAfter: 2,
      bytesBefore: 21,
      bytesAfter: 22,
    });
    expect([textOf(path), [...store.keys()]]).toEqual(['{"id":"a"}\n{"id":"b"}\n', ["a", "b"]]);
  });

  test("takes in what was written while it waited for the lock", async () => {
    const path = fileOf('{"id":"a"}\n{"id":"a"}\n');
    const store = openTestStore<Job>(path);
    const hold = await takeLock(`${path}.lock`, {});
    const compaction = store.compact();
    await new Promise(setImmediate);
    appendFileSync(path, '{"id":"b"}\n{"id":"a","n":3}\n');
    releaseLock(hold);
    expect(await compaction).toMatchObject({ changed: true, linesBefore: 4, linesAfter: 2 });
    expect(textOf(path)).toBe('{"id":"a","n":3}\n{"id":"b"}\n');
  });

  test("leaves an empty file where every key was removed", async () => {
    const path = fileOf('{"id":"a"}\n{"id":"a","$deleted":true}\n');
    const store = openTestStore<Job>(path);
    expect(await store.compact()).toMatchObject({ changed: true, linesAfter: 0, bytesAfter: 0 });
    expect(textOf(path)).toBe("");
    await store.put({ id: "b" });
    expect([textOf(path), [...store.keys()]]).toEqual(['{"id":"b"}\n', ["b"]]);
  });

  test.each([1_048_574, 1_048_575, 1_048_576, 1_048_577, 2_500_000])(
    "copies lines of %i bytes, next to each other and apart",
    async (bytes) => {
      const long = (id: string, letter: string): string => `{"id":"${id}","s":"${letter.repeat(bytes - 16)}"}\n`;
      const path = fileOf(
        long("a", "1"),
        '{"id":"b"}\n',
        long("a", "2"),
        long("c", "3"),
        '{"id":"b"}\n',
        long("d", "4").trimEnd(),
      );
      const store = openTestStore(path);
      await store.compact();
      expect(textOf(path) === `${long("a", "2")}{"id":"b"}\n${long("c", "3")}${long("d", "4")}`).toBe(true);
      expect([...openTestStore(path).keys()]).toEqual(["a", "b", "c", "d"]);
      expect(String(store.get("d")?.["s"]).length).toBe(bytes - 16);
    },
  );

  test("keeps the mode, whatever the umask", async () => {
    const old = process.umask(0o077);
    onTestFinished(() => void process.umask(old));
    for (const mode of [0o600, 0o640, 0o666, 0o444]) {
      const path = fileOf('{"id":"a"}\n{"id":"a"}\nbad\n');
      chmodSync(path, mode);
      await openTestStore(path).compact();
      expect([lineCountOf(path), modeOf(path), modeOf(`${path}.damaged`)]).toEqual([1, mode, mode]);
    }
  });

  test.skipIf(process.getuid?.() !== 0)("keeps the owner, also of what is moved aside, when root does it", async () => {
    const path = fileOf('{"id":"a"}\n{"id":"a"}\nbad\n');
    chownSync(path, 65_534, 65_533);
    await openTestStore(path).compact();
    const owners = [path, `${path}.damaged`].map((name) => [lstatSync(name).uid, lstatSync(name).gid]);
    expect([lineCountOf(path), owners]).toEqual([
      1,
      [
        [65_534, 65_533],
        [65_534, 65_533],
      ],
    ]);
  });

  test("replaces the file: a hard link beside it keeps the old content, and appends before that reach both", async () => {
    const path = fileOf('{"id":"a"}\n');
    const link = join(path, "..", "backup");
    linkSync(path, link);
    const store = openTestStore<Job>(path);
    await store.put({ id: "a", n: 2 });
    const both = '{"id":"a"}\n{"id":"a","n":2}\n';
    expect([textOf(path), textOf(link)]).toEqual([both, both]);
    await store.compact();
    await store.put({ id: "b" });
    expect([textOf(path), textOf(link)]).toEqual(['{"id":"a","n":2}\n{"id":"b"}\n', both]);
  });

  test("waits for the lock, says who has it, and changes nothing", async () => {
    const path = fileOf('{"id":"a"}\n{"id":"a"}\n');
    const store = openTestStore<Job>(path, { lock: { waitMs: 0 } });
    const hold = await takeLock(`${path}.lock`, {});
    const held = storeError("LOCK_HELD", {
      path: `${path}.lock`,
      details: expect.objectContaining({ pid: process.pid }),
    });
    await expect(store.compact()).rejects.toThrow(held);
    await expect(store.put({ id: "b" })).rejects.toThrow(held);
    expect(await store.compact({ dryRun: true })).toMatchObject({ changed: true, linesAfter: 1 });
    releaseLock(hold);
    expect(textOf(path)).toBe('{"id":"a"}\n{"id":"a"}\n');
    expect(await store.compact()).toMatchObject({ changed: true });
  });

  test("sweeps what dead writers left, and nothing else", async () => {
    const path = fileOf('{"id":"a"}\n{"id":"a"}\n');
    const folder = join(path, "..");
    const dead = [
      ".jobs.jsonl.999999999.x1.tmp",
      ".jobs.jsonl.damaged.999999999.x.tmp",
      ".jobs.jsonl.idx.999999999.x.tmp",
    ];
    const spared = [
      ...[
        `.jobs.jsonl.${process.pid}.x.tmp`,
        ".jobs.jsonl.1.x.tmp",
        ".other.jsonl.999999999.x.tmp",
        "jobs.jsonl.999999999.x.tmp",
      ],
      ...[
        ".jobs.jsonl.999999999.x.tmp.mine",
        ".jobs.jsonl.tmp",
        ".jobs.jsonl.swp",
        "jobs.jsonl.bak",
        ".jobs.v2.jsonl.999999999.x.tmp",
      ],
    ];
    for (const name of [...dead, ...spared]) writeFileSync(join(folder, name), "x");
    await openTestStore(path).compact();
    expect(readdirSync(folder).sort()).toEqual([...spared, "jobs.jsonl"].sort());
  });
});

describe("damaged lines", () => {
  const bad = [
    Buffer.from("bad\r\n"),
    Buffer.from([0, 0xff, 0xc3, 0x0a]),
    Buffer.from('\ufeff{"id":"b"}\n'),
    Buffer.from('{"id":"a","n"'),
  ];

  test("are moved byte for byte by a compaction, after those that are there", async () => {
    const path = fileOf(bad[0] ?? "", '{"id":"a"}\n', bad[1] ?? "", "\n", bad[2] ?? "", '{"id":"a"}\n', bad[3] ?? "");
    const damagedPath = `${path}.damaged`;
    const all = Buffer.concat([...bad, Buffer.from("\n")]);
    const store = openTestStore<Job>(path, { durability: "os" });
    const report = await store.compact();
    expect(report.moved.map(({ line, isTail }) => [line, isTail])).toEqual([
      [1, false],
      [3, false],
      [5, false],
      [7, true],
    ]);
    expect([textOf(path), readFileSync(damagedPath).equals(all)]).toEqual(['{"id":"a"}\n', true]);
    expect(store.problems).toEqual([]);
    appendFileSync(path, "worse\n");
    await store.put({ id: "a", n: 1 });
    expect(store.problems.map(({ line }) => line)).toEqual([2]);
    await store.compact();
    expect(readFileSync(damagedPath).equals(Buffer.concat([all, Buffer.from("worse\n")]))).toBe(true);
  });

  test("are those too that only the decoder refuses, and the line before them stays", async () => {
    const path = fileOf('{"id":"a","n":1}\n{"id":"a","m":2}\n{"id":"b","m":2}\n');
    const store = openTestStore<Job>(path, { parse: parseJob });
    await store.compact();
    expect([textOf(path), textOf(`${path}.damaged`)]).toEqual([
      '{"id":"a","n":1}\n',
      '{"id":"a","m":2}\n{"id":"b","m":2}\n',
    ]);
    expect(answersOf(store)).toEqual({ size: 1, entries: [["a", { id: "a", n: 1 }]], problems: [] });
  });

  test("are not doubled when a compaction was cut short after they were moved", async () => {
    const path = fileOf("bad\n", '{"id":"a"}\n', "worse\n");
    writeFileSync(`${path}.damaged`, "old\nbad\nworse\n");
    await openTestStore(path).compact();
    expect([textOf(path), textOf(`${path}.damaged`)]).toEqual(['{"id":"a"}\n', "old\nbad\nworse\n"]);
  });

  test("are not doubled when more came before it was tried again", async () => {
    const path = fileOf("bad\n", '{"id":"a"}\n', "worse\n", "worst\n");
    writeFileSync(`${path}.damaged`, "old\nbad\nworse\n");
    await openTestStore(path).compact();
    expect(textOf(`${path}.damaged`)).toBe("old\nbad\nworse\nworst\n");
  });

  test.each<[string, (target: string) => void]>([
    ["a folder", (target) => mkdirSync(target)],
    ["a link", (target) => symlinkSync("jobs.jsonl", target)],
    ["a link that leads nowhere", (target) => symlinkSync("nowhere", target)],
  ])("stay in the file when %s lies where they go", async (_case, block) => {
    const path = fileOf("bad\n", '{"id":"a"}\n{"id":"a"}\n');
    block(`${path}.damaged`);
    await expect(openTestStore(path).compact()).rejects.toThrow(
      storeError("REFUSED_PATH", { path: `${path}.damaged` }),
    );
    expect(textOf(path)).toBe('bad\n{"id":"a"}\n{"id":"a"}\n');
    expect(readdirSync(join(path, "..")).sort()).toEqual(["jobs.jsonl", "jobs.jsonl.damaged"]);
  });
});

describe("a compaction by somebody else", () => {
  test("leaves a reader the complete old file until it refreshes", async () => {
    const path = fileOf(linesOf(50, 150));
    const reader = openTestStore<Job>(path);
    const walk = reader.entries();
    const first = walk.next().value;
    const writer = openTestStore<Job>(path, { durability: "os" });
    await writer.put({ id: "k49", n: -1 });
    await writer.remove("k0");
    await writer.compact();
    const rest = [...walk];
    expect([first, ...rest]).toEqual(Array.from({ length: 50 }, (_, n) => [`k${n}`, { id: `k${n}`, n: n + 100 }]));
    expect(reader.refresh()).toBe(true);
    expect(answersOf(reader)).toEqual(answersOf(writer));
    expect(reader.refresh()).toBe(false);
  });

  test("between two appends never has the second land in the file that is gone", async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const program = buildProgram(
      memoryFolder(),
      `
        import { openStore } from "./index.ts";
        const store = openStore({ path: process.argv[2], key: "id" });
        store.compact().then((report) => console.log(report.changed)).then(() => store.close());
      `,
    );
    const store = openTestStore<Job>(path);
    const link = join(path, "..", "old");
    await store.putAll([
      { id: "a", n: 1 },
      { id: "a", n: 2 },
    ]);
    linkSync(path, link);
    await new Promise(setImmediate);
    expect(runProgram(program, [path])).toMatchObject({ exit: 0, stdout: "true\n" });
    await store.put({ id: "b" });
    expect(textOf(path)).toBe('{"id":"a","n":2}\n{"id":"b"}\n');
    expect(textOf(link)).toBe('{"id":"a","n":1}\n{"id":"a","n":2}\n');
    expect(answersOf(store).entries).toEqual([
      ["a", { id: "a", n: 2 }],
      ["b", { id: "b" }],
    ]);
  });

  test("while another appends loses nothing", { timeout: 120_000 }, async () => {
    const path = join(memoryFolder(), "jobs.jsonl");
    const program = buildProgram(
      memoryFolder(),
      `
        import { openStore } from "./index.ts";
        import { writeSync } from "node:fs";
        const store = openStore({ path: process.argv[2], key: "id", durability: "os" });
        (async () => {
          while (!store.has("the end")) {
            if ((await store.compact()).changed) writeSync(1, ".");
            await new Promise(setImmediate);
          }
          await store.close();
        })();
      `,
    );
    const child = startProgram(program, [path]);
    onTestFinished(() => void child.kill("SIGKILL"));
    let compactions = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      compactions += chunk.length;
    });
    const store = openTestStore<Job>(path, { durability: "os" });
    const model = new Map<string, Job>();
    for (let n = 0; compactions < 40 && child.exitCode === null; n += 1) {
      const job = { id: `k${n % 7}`, n };
      await store.put(job);
      model.set(job.id, job);
      if (n % 50 === 49) expect(await store.remove(job.id)).toBe(model.delete(job.id));
      if (n % 10 === 0) await new Promise(setImmediate);
    }
    await store.put({ id: "the end" });
    model.set("the end", { id: "the end" });
    expect(await ended(child)).toEqual({ exit: 0, signal: null });
    store.refresh();
    for (const reader of [store, openTestStore<Job>(path)]) {
      expect(answersOf(reader)).toEqual({ size: model.size, entries: [...model], problems: [] });
    }
    expect(readdirSync(join(path, ".."))).toEqual(["jobs.jsonl"]);
  });
});
