import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readLock } from "./lock.ts";
import { answersOf, type Job, openTestStore, storeError, textOf } from "./store.fixture.ts";
import { buildProgram, ended, type Program, printed, runProgram, startProgram } from "./testing/child.ts";
import { memoryFolder, temporaryFolder } from "./testing/folder.ts";

function start(program: Program, args: readonly string[]): ChildProcess {
  const child = startProgram(program, args);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const holding = `
  import { withLock } from "./index.ts";
  withLock(process.argv[2], {}, () => new Promise(() => setInterval(() => {}, 1000) && console.log("held")));
`;

async function holdElsewhere(lockPath: string): Promise<ChildProcess> {
  const child = start(buildProgram(memoryFolder(), holding), [lockPath]);
  await printed(child, "held");
  return child;
}

describe("a store whose lock another process holds", () => {
  test("refuses what waits too long with LOCK_HELD, naming the holder, writes nothing of it, and goes on later", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const store = openTestStore<Job>(path, { lock: { waitMs: 20 } });
    await store.put({ id: "a" });
    const child = await holdElsewhere(`${path}.lock`);
    const held = storeError("LOCK_HELD", {
      path: `${path}.lock`,
      hint: expect.any(String),
      details: expect.objectContaining({ pid: child.pid }),
      message: expect.stringContaining(`process ${child.pid}`),
    });
    const waiting = await Promise.allSettled([
      store.put({ id: "b" }),
      store.putAll([{ id: "c" }, { id: "d" }]),
      store.remove("a"),
      store.compact(),
    ]);
    expect(waiting).toEqual(waiting.map(() => ({ status: "rejected", reason: held })));
    expect(answersOf(store)).toEqual({ size: 1, entries: [["a", { id: "a" }]], problems: [] });
    expect(store.refresh()).toBe(false);
    child.kill("SIGKILL");
    await ended(child);
    await store.put({ id: "e" });
    expect(textOf(path)).toBe('{"id":"a"}\n{"id":"e"}\n');
  });

  test("does not take a stopped holder for a dead one", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const child = await holdElsewhere(`${path}.lock`);
    child.kill("SIGSTOP");
    const store = openTestStore<Job>(path, { lock: { waitMs: 20 } });
    await expect(store.put({ id: "a" })).rejects.toThrow(storeError("LOCK_HELD"));
    expect(existsSync(path)).toBe(false);
  });

  test("ends the wait when the caller's signal says so", async () => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    await holdElsewhere(`${path}.lock`);
    const stop = new AbortController();
    const store = openTestStore<Job>(path, { lock: { waitMs: 60_000, signal: stop.signal } });
    const put = store.put({ id: "a" });
    setImmediate(() => stop.abort());
    await expect(put).rejects.toThrow(storeError("LOCK_CANCELLED", { path: `${path}.lock` }));
    expect(existsSync(path)).toBe(false);
  });
});

describe("a store among processes", () => {
  // A loop of more appends than these is told before the lock is given back: docs/decisions/store.md.
  test.each([1, 30])("lets others write while the caller blocks its thread after %i appends", (count) => {
    const path = join(temporaryFolder(), "jobs.jsonl");
    const inner = buildProgram(
      memoryFolder(),
      `
        import { openStore } from "./index.ts";
        const store = openStore({ path: process.argv[2], key: "id", lock: { waitMs: 200 } });
        store.put({ id: "inner" }).then(() => store.close(), (error) => console.log(error.code));
      `,
    );
    const program = buildProgram(
      memoryFolder(),
      `
        import { openStore } from "./index.ts";
        import { execFileSync } from "node:child_process";
        const [path, inner, count] = process.argv.slice(2);
        const store = openStore({ path, key: "id", durability: "os" });
        (async () => {
          for (let n = 1; n <= Number(count); n += 1) await store.put({ id: "outer" + n });
          console.log(execFileSync(process.execPath, [inner, path], { encoding: "utf8" }));
          await store.put({ id: "after" });
          await store.close();
        })();
      `,
    );
    const { exit, stdout } = runProgram(program, [path, inner.file, String(count)]);
    expect([exit, stdout.trim()]).toEqual([0, ""]);
    const outer = Array.from({ length: count }, (_, n) => `outer${n + 1}`);
    expect([...openTestStore<Job>(path).keys()]).toEqual([...outer, "inner", "after"]);
  });

  test("does not wait for ever when two take two locks in opposite order", async () => {
    const folder = temporaryFolder();
    const source = `
      import { openStore, withLock } from "./index.ts";
      import { existsSync, writeFileSync } from "node:fs";
      const [folder, own, other] = process.argv.slice(2);
      (async () => {
        const told = await withLock(folder + "/" + own + ".jsonl.lock", {}, async () => {
          writeFileSync(folder + "/" + own + ".ready", "");
          while (!existsSync(folder + "/" + other + ".ready")) await new Promise(setImmediate);
          const store = openStore({ path: folder + "/" + other + ".jsonl", key: "id", lock: { waitMs: 100 } });
          const result = await store.put({ id: own }).then(() => "written", (error) => error.code);
          await store.close();
          writeFileSync(folder + "/" + own + ".done", "");
          if (result === "LOCK_HELD") while (!existsSync(folder + "/" + other + ".done")) await new Promise(setImmediate);
          return result;
        });
        console.log(told);
      })();
    `;
    const program = buildProgram(memoryFolder(), source);
    const children = [start(program, [folder, "a", "b"]), start(program, [folder, "b", "a"])];
    const told = children.map((child) => {
      let text = "";
      child.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      return new Promise<string>((resolve) => child.once("close", () => resolve(text.trim())));
    });
    expect(await Promise.all(told)).toEqual(["LOCK_HELD", "LOCK_HELD"]);
    for (const name of ["a", "b"]) {
      const path = join(folder, `${name}.jsonl`);
      expect([readLock(`${path}.lock`), existsSync(path)]).toEqual([undefined, false]);
      await openTestStore<Job>(path).put({ id: "later" });
      expect(textOf(path)).toBe('{"id":"later"}\n');
    }
  });

  test("loses nothing acknowledged and tears nothing, compacting all the time, while one is killed", {
    timeout: 120_000,
  }, async () => {
    const folder = memoryFolder();
    const path = join(folder, "store", "jobs.jsonl");
    const source = `
      import { openStore } from "./index.ts";
      import { writeSync } from "node:fs";
      const [path, id, count] = process.argv.slice(2);
      const store = openStore({ path, key: "id", durability: "os", lock: { waitMs: 30000 } });
      (async () => {
        for (let n = 1; n <= Number(count); n += 1) {
          await store.put({ id, n, pad: "x".repeat((n * 37) % 900) });
          writeSync(1, ".");
          if (n % 40 === 0) await store.put({ id: id + "-gone" });
          if (n % 40 === 0 && !(await store.remove(id + "-gone"))) throw new Error("it was not there");
        }
        await store.close();
      })().catch((error) => { writeSync(2, String(error.stack)); process.exit(1); });
    `;
    const program = buildProgram(folder, source);
    const acknowledged = new Map<string, number>();
    const run = (id: string, count: number): { child: ChildProcess; closed: Promise<unknown> } => {
      const child = start(program, [path, id, String(count)]);
      child.stdout?.on("data", (chunk: Buffer) => acknowledged.set(id, (acknowledged.get(id) ?? 0) + chunk.length));
      return { child, closed: new Promise((resolve) => child.once("close", resolve)) };
    };
    const victim = run("victim", 1_000_000);
    const others = ["a", "b", "c"].map((id) => run(id, 250));
    for (const { child } of others) expect(await ended(child)).toEqual({ exit: 0, signal: null });
    victim.child.kill("SIGKILL");
    await Promise.all([victim, ...others].map(({ closed }) => closed));
    const store = openTestStore<Job>(path);
    expect(["a", "b", "c"].map((id) => store.get(id)?.n)).toEqual([250, 250, 250]);
    const known = acknowledged.get("victim") ?? 0;
    expect(known).toBeGreaterThan(0);
    expect([known, known + 1]).toContain(store.get("victim")?.n);
    expect(["a", "b", "c"].map((id) => store.has(`${id}-gone`))).toEqual([false, false, false]);
    expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(2 * 8 + 64 + 8);
    expect(store.problems.length).toBeLessThanOrEqual(1);
    await store.put({ id: "last" });
    await store.compact();
    expect([...store.keys()].filter((key) => !key.endsWith("-gone")).sort()).toEqual(["a", "b", "c", "last", "victim"]);
    await store.close();
    expect(
      readdirSync(join(path, "..")).filter((name) => name !== "jobs.jsonl" && name !== "jobs.jsonl.damaged"),
    ).toEqual([]);
  });
});
