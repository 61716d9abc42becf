import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Entry, type Log, openLog } from "./index.ts";
import { withLock } from "./lock.ts";
import { buildProgram, ended, runProgram, startProgram } from "./testing/child.ts";
import { buildFaultShim, canInjectFaults, faultEnvironment, readCalls } from "./testing/fault.ts";
import { memoryFolder, modeOf, temporaryFolder } from "./testing/folder.ts";

interface Event {
  readonly n: number;
}

function parseEvent(value: unknown): Event {
  if (typeof value === "object" && value !== null && "n" in value && typeof value.n === "number") return { n: value.n };
  throw new Error("no n");
}

function numbers(log: Log<Event>, fromLine?: number): number[] {
  return [...log.read(fromLine === undefined ? {} : { fromLine })].map(({ value }) => value.n);
}

describe("openLog", () => {
  test("makes no file until the first append, and has no entries until then", async () => {
    const path = join(temporaryFolder(), "made", "log.jsonl");
    const log = openLog({ path, parse: parseEvent });
    expect(numbers(log)).toEqual([]);
    expect(existsSync(join(path, ".."))).toBe(false);
    await log.append({ n: 1 });
    expect(readFileSync(path, "utf8")).toBe('{"n":1}\n');
    await log.close();
  });

  test.each(["fsync", "os"] as const)(
    "keeps the order of appends that overlap, with durability %s",
    async (durability) => {
      const path = join(temporaryFolder(), "log.jsonl");
      const log = openLog({ path, durability, parse: parseEvent });
      const wanted = Array.from({ length: 500 }, (_, n) => n);
      await Promise.all(wanted.map((n) => (n % 3 === 0 ? log.appendAll([{ n }]) : log.append({ n }))));
      expect(numbers(log)).toEqual(wanted);
      expect([...log.read({ fromLine: 499 })].map(({ line, text }) => [line, text])).toEqual([
        [499, '{"n":498}'],
        [500, '{"n":499}'],
      ]);
      await log.close();
    },
  );

  test("starts a new line after a torn one, which then costs itself only", async () => {
    const path = join(temporaryFolder(), "log.jsonl");
    writeFileSync(path, '{"n":1}\n{"n":');
    const log = openLog({ path, parse: parseEvent });
    expect(numbers(log)).toEqual([1]);
    expect(log.problems).toEqual([{ path, line: 2, reason: "torn" }]);
    await log.append({ n: 3 });
    expect(numbers(log)).toEqual([1, 3]);
    expect(log.problems).toEqual([{ path, line: 2, reason: "column 6: unexpected end" }]);
    expect(numbers(log, 3)).toEqual([3]);
    expect(log.problems).toEqual([]);
    await log.close();
  });

  test("keeps a whole last line that only lost its newline", async () => {
    const path = join(temporaryFolder(), "log.jsonl");
    writeFileSync(path, '{"n":1}');
    const log = openLog({ path, parse: parseEvent });
    await log.append({ n: 2 });
    expect(readFileSync(path, "utf8")).toBe('{"n":1}\n{"n":2}\n');
    await log.close();
  });

  test("does not call a last line torn that somebody is writing", async () => {
    const path = join(temporaryFolder(), "log.jsonl");
    writeFileSync(path, '{"n":1}\n{"n":');
    const log = openLog({ path, parse: parseEvent });
    await withLock(`${path}.lock`, {}, async () => {
      expect(numbers(log)).toEqual([1]);
      expect(log.problems).toEqual([]);
    });
    expect(numbers(log)).toEqual([1]);
    expect(log.problems.length).toBe(1);
  });

  test("follows a file that was replaced or removed between appends", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "log.jsonl");
    const log = openLog({ path, parse: parseEvent });
    await log.append({ n: 1 });
    renameSync(path, join(folder, "old"));
    await log.append({ n: 2 });
    writeFileSync(join(folder, "next"), '{"n":9}\n');
    renameSync(join(folder, "next"), path);
    await log.append({ n: 10 });
    expect(numbers(log)).toEqual([9, 10]);
    expect(readFileSync(join(folder, "old"), "utf8")).toBe('{"n":1}\n');
    await log.close();
  });

  test("gives a new file the exact mode and leaves that of one that is there", async () => {
    const folder = temporaryFolder();
    const log = openLog({ path: join(folder, "a"), mode: 0o600 });
    await log.append({ n: 1 });
    expect(modeOf(join(folder, "a"))).toBe(0o600);
    writeFileSync(join(folder, "b"), "", { mode: 0o640 });
    const other = openLog({ path: join(folder, "b"), mode: 0o600 });
    await other.append({ n: 1 });
    expect(modeOf(join(folder, "b"))).toBe(0o640);
    await Promise.all([log.close(), other.close()]);
  });

  test("refuses a folder, a pipe and a link, and names the path", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "folder"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    symlinkSync("target", join(folder, "link"));
    for (const name of ["folder", "pipe", "link"]) {
      const path = join(folder, name);
      const log = openLog({ path });
      await expect(log.append({ n: 1 }), name).rejects.toMatchObject({ code: "REFUSED_PATH", path });
      if (name !== "link") {
        expect(() => [...log.read()], name).toThrow(expect.objectContaining({ code: "REFUSED_PATH" }));
      }
    }
    expect(existsSync(join(folder, "target"))).toBe(false);
  });

  test("refuses a value that has no line, and adds nothing of a batch that holds one", async () => {
    const path = join(temporaryFolder(), "log.jsonl");
    const log = openLog<Record<string, unknown>>({ path });
    await expect(log.append({ n: undefined })).rejects.toMatchObject({ code: "BAD_VALUE" });
    await expect(log.appendAll([{ n: 1 }, { n: Number.NaN }])).rejects.toMatchObject({ code: "BAD_VALUE" });
    await log.appendAll([]);
    expect(existsSync(path)).toBe(false);
    await log.close();
    await expect(log.append({ n: 1 })).rejects.toMatchObject({ code: "BAD_VALUE" });
  });

  test("reads lines longer than its chunks, with characters across their borders", async () => {
    const path = join(temporaryFolder(), "log.jsonl");
    const log = openLog<{ text: string }>({ path, durability: "os" });
    const texts = [1, 262_131, 262_132, 262_133, 262_134, 700_000].map((length) => "é😀".repeat(length));
    await log.appendAll(texts.map((text) => ({ text })));
    expect([...log.read()].map(({ value }) => value.text)).toEqual(texts);
    expect(log.problems).toEqual([]);
    await log.close();
  });

  test("lets the file go when a reader stops early", async () => {
    const path = join(temporaryFolder(), "log.jsonl");
    const log = openLog({ path, parse: parseEvent });
    await log.appendAll([{ n: 1 }, { n: 2 }]);
    const open = (): number =>
      execFileSync("ls", ["-l", `/proc/${process.pid}/fd`], { encoding: "utf8" }).split(path).length;
    await log.close();
    const before = open();
    for (const { value } of log.read()) {
      expect(value.n).toBe(1);
      break;
    }
    expect(open()).toBe(before);
  });
});

const writer = `
  import { openLog } from "./index.ts";
  const [path, who, count] = process.argv.slice(2);
  const log = openLog({ path, durability: "os" });
  (async () => {
    for (let n = 0; n < Number(count); n += 1) {
      await log.append({ who, n, pad: "x".repeat((n * 37) % 3000) });
      console.log(n);
    }
    await log.close();
  })();
`;

describe("openLog among processes", () => {
  test("loses and tears no acknowledged entry, while one writer is killed", { timeout: 300_000 }, async () => {
    const folder = temporaryFolder();
    const path = join(folder, "log.jsonl");
    const program = buildProgram(folder, writer);
    const acknowledged = new Map<string, number>();
    const children = ["a", "b", "c"].map((who) => {
      const child = startProgram(program, [path, who, who === "c" ? "100000" : "150"]);
      let text = "";
      child.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
        acknowledged.set(who, text.split("\n").length - 1);
      });
      return child;
    });
    const closed = children.map((child) => new Promise((resolve) => child.once("close", resolve)));
    await Promise.all(children.slice(0, 2).map(ended));
    children[2]?.kill("SIGKILL");
    await Promise.all(closed);
    const log = openLog<{ who: string; n: number }>({ path });
    const seen = new Map<string, number[]>();
    for (const { value } of log.read()) seen.set(value.who, [...(seen.get(value.who) ?? []), value.n]);
    for (const who of ["a", "b", "c"]) {
      const found = seen.get(who) ?? [];
      expect(found).toEqual(found.map((_, index) => index));
      expect(found.length).toBeGreaterThanOrEqual(acknowledged.get(who) ?? 0);
    }
    expect(seen.get("a")?.length).toBe(150);
    expect(log.problems.length).toBeLessThanOrEqual(1);
    await log.append({ who: "d", n: 0 });
    expect([...log.read()].at(-1)?.value).toEqual({ who: "d", n: 0 });
    await log.close();
  });
});

describe.skipIf(!canInjectFaults)("openLog, interrupted and refused", () => {
  const source = `
    import { openLog } from "./index.ts";
    const log = openLog({ path: process.argv[2] });
    (async () => {
      for (const n of [1, 2, 3]) {
        await log.append({ n }).then(() => console.log(n), (error) => console.log(error.code + " " + error.path));
      }
      await log.close();
    })();
  `;

  /** Runs it with the fault at the first call, the second and so on, until a run has fewer calls than that. */
  function* runsWith(kind: "kill" | "torn" | number): Generator<{ path: string; lines: string[]; where: string }> {
    const folder = memoryFolder();
    const shim = buildFaultShim(folder);
    const program = buildProgram(folder, source);
    for (let at = 1; ; at += 1) {
      const root = join(folder, `at-${at}`);
      mkdirSync(root);
      const calls = join(folder, `calls-${at}`);
      const fault = { ...faultEnvironment({ shim, root, at, kind }), FAULT_LOG: calls };
      const path = join(root, "log");
      const { stdout } = runProgram(program, [path], fault);
      const made = readCalls(calls);
      if (made.length < at) return;
      yield {
        path,
        lines: stdout.trim().split("\n").filter(Boolean),
        where: `${kind} at call ${at}, ${made[at - 1]?.name}`,
      };
    }
  }

  test.each(["kill", "torn"] as const)(
    "keeps every acknowledged entry and no half one after a %s at any of its system calls",
    { timeout: 300_000 },
    async (kind) => {
      let runs = 0;
      for (const { path, lines, where } of runsWith(kind)) {
        const log = openLog({ path, parse: parseEvent });
        const found = numbers(log);
        expect(found.slice(0, lines.length), where).toEqual(lines.map(Number));
        expect(found, where).toEqual([1, 2, 3].slice(0, found.length));
        await log.append({ n: 9 });
        expect(numbers(log), where).toEqual([...found, 9]);
        await log.close();
        runs += 1;
      }
      expect(runs).toBeGreaterThan(8);
    },
  );

  test.each([28, 5])(
    "acknowledges nothing the disk refused with errno %i, and cuts it back",
    { timeout: 300_000 },
    (errno) => {
      const refused = new Set<string>();
      for (const { path, lines, where } of runsWith(errno)) {
        const acknowledged = lines.filter((line) => /^\d$/.test(line));
        const errors = lines.filter((line) => !/^\d$/.test(line));
        const text = existsSync(path) ? readFileSync(path, "utf8") : "";
        expect(text, where).toBe(acknowledged.map((n) => `{"n":${n}}\n`).join(""));
        for (const error of errors) {
          expect(error, where).toMatch(errno === 28 ? /^NO_SPACE / : /^IO /);
          expect(error, where).toContain(dirname(path));
          refused.add(where.split(", ")[1] ?? "");
        }
      }
      for (const call of ["symlink", "create", "fsync", "write", "fdatasync"]) expect([...refused]).toContain(call);
    },
  );
});

describe("watch", () => {
  async function take(entries: AsyncGenerator<Entry<Event>>, count: number): Promise<[number, number][]> {
    const taken: [number, number][] = [];
    while (taken.length < count) {
      const next = await entries.next();
      if (next.done === true) throw new Error(`ended after ${JSON.stringify(taken)}`);
      taken.push([next.value.line, next.value.value.n]);
    }
    return taken;
  }

  test("gives what anybody appends from now on, whole lines only, until the signal", async () => {
    const path = join(temporaryFolder(), "log.jsonl");
    writeFileSync(path, '{"n":1}\n');
    const log = openLog({ path, parse: parseEvent });
    const stop = new AbortController();
    const entries = log.watch({ signal: stop.signal });
    const first = take(entries, 2);
    await new Promise(setImmediate);
    appendFileSync(path, '{"n":2}\n{"n":');
    appendFileSync(path, "3}\nnonsense\n");
    expect(await first).toEqual([
      [2, 2],
      [3, 3],
    ]);
    await log.append({ n: 5 });
    expect(await take(entries, 1)).toEqual([[5, 5]]);
    const last = entries.next();
    stop.abort();
    expect(await last).toEqual({ done: true, value: undefined });
    await log.close();
  });

  test("starts from a line when asked, and from a file that is not there yet", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "log.jsonl");
    const log = openLog({ path, parse: parseEvent });
    const stop = new AbortController();
    const entries = log.watch({ signal: stop.signal, fromLine: 2 });
    const taken = take(entries, 2);
    await log.appendAll([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await taken).toEqual([
      [2, 2],
      [3, 3],
    ]);
    stop.abort();
    await log.close();
  });

  test("survives replacement: goes on after the same beginning, starts anew otherwise", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "log.jsonl");
    writeFileSync(path, '{"n":1}\n');
    const log = openLog({ path, parse: parseEvent });
    const stop = new AbortController();
    const entries = log.watch({ signal: stop.signal, fromLine: 1 });
    expect(await take(entries, 1)).toEqual([[1, 1]]);
    writeFileSync(join(folder, "next"), '{"n":1}\n{"n":2}\n');
    renameSync(join(folder, "next"), path);
    expect(await take(entries, 1)).toEqual([[2, 2]]);
    writeFileSync(join(folder, "next"), '{"n":7}\n');
    renameSync(join(folder, "next"), path);
    expect(await take(entries, 1)).toEqual([[1, 7]]);
    const { ino } = statSync(path);
    truncateSync(path, 0);
    appendFileSync(path, '{"n":8}\n');
    expect(await take(entries, 1)).toEqual([[1, 8]]);
    expect(statSync(path).ino).toBe(ino);
    stop.abort();
  });

  test("refuses a folder that is not there", async () => {
    const log = openLog({ path: join(temporaryFolder(), "none", "log.jsonl") });
    const entries = log.watch({ signal: new AbortController().signal });
    await expect(entries.next()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
