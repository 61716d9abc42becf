import type { ChildProcess } from "node:child_process";
import {
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ownHolder, renderHolder } from "./holder.ts";
import { readLock, withLock } from "./lock.ts";
import { buildProgram, ended, type Program, printed, runProgram, startProgram } from "./testing/child.ts";
import { buildFaultShim, canInjectFaults, faultEnvironment } from "./testing/fault.ts";
import { modeOf, temporaryFolder } from "./testing/folder.ts";

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const holding = `
  import { withLock } from "./index.ts";
  withLock(process.argv[2], {}, () => new Promise(() => setInterval(() => {}, 1000) && console.log("held")));
`;

async function holdElsewhere(folder: string, path: string): Promise<ChildProcess> {
  const child = startProgram(buildProgram(folder, holding), [path]);
  children.push(child);
  await printed(child, "held");
  return child;
}

/** A text no process of this boot can have written. */
function foreignText(changes: Partial<ReturnType<typeof ownHolder>>): string {
  return renderHolder({ ...ownHolder(), ...changes });
}

describe("withLock", () => {
  test("holds a link that names this process while it runs, gives it back after, and passes the result on", async () => {
    const path = join(temporaryFolder(), "made", "a.lock");
    const result = await withLock(path, {}, async () => {
      expect(readlinkSync(path)).toMatch(new RegExp(`^${process.pid}@\\d+@[0-9a-f]{24}$`));
      expect(Buffer.byteLength(readlinkSync(path))).toBeLessThanOrEqual(59);
      expect(readLock(path)).toMatchObject({ pid: process.pid, state: "alive" });
      return 42;
    });
    expect(result).toBe(42);
    expect(readLock(path)).toBeUndefined();
    expect(modeOf(join(path, ".."))).toBe(0o700);
  });

  test("gives the lock back when the work fails, and passes its error on", async () => {
    const path = join(temporaryFolder(), "a.lock");
    const failing = withLock(path, {}, async () => {
      throw new RangeError("mine");
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(readLock(path)).toBeUndefined();
  });

  test("lets one at a time in, in one process too", async () => {
    const path = join(temporaryFolder(), "a.lock");
    let inside = 0;
    let most = 0;
    let count = 0;
    await Promise.all(
      Array.from({ length: 20 }, () =>
        withLock(path, {}, async () => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise(setImmediate);
          count += 1;
          inside -= 1;
        }),
      ),
    );
    expect([most, count]).toEqual([1, 20]);
  });

  test("says who holds it after one try when it may not wait", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.lock");
    const child = await holdElsewhere(folder, path);
    const take = withLock(path, { waitMs: 0 }, async () => {});
    await expect(take).rejects.toMatchObject({ code: "LOCK_HELD", path, details: { pid: child.pid } });
    expect(readLock(path)).toMatchObject({ pid: child.pid, state: "alive" });
  });

  test("ends the wait when the caller's signal says so", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.lock");
    await holdElsewhere(folder, path);
    const stop = new AbortController();
    const take = withLock(path, { waitMs: 60_000, signal: stop.signal }, async () => {});
    setImmediate(() => stop.abort());
    await expect(take).rejects.toMatchObject({ code: "LOCK_CANCELLED", path });
    const never = withLock(join(folder, "free.lock"), { signal: stop.signal }, async () => {});
    await expect(never).rejects.toMatchObject({ code: "LOCK_CANCELLED" });
    expect(existsSync(join(folder, "free.lock"))).toBe(false);
  });

  test("refuses a nested take at once, however it is spelled, and lets the same work take another lock", async () => {
    const folder = temporaryFolder();
    symlinkSync(".", join(folder, "here"));
    const path = join(folder, "a.lock");
    await withLock(path, {}, async () => {
      await new Promise(setImmediate);
      for (const spelling of [path, join(folder, "here", "a.lock")]) {
        await expect(withLock(spelling, {}, async () => {})).rejects.toMatchObject({ code: "LOCK_NESTED" });
      }
      expect(await withLock(join(folder, "b.lock"), {}, async () => 1)).toBe(1);
    });
  });

  test("lets work that outlives the lock it was started under take the lock again", async () => {
    const path = join(temporaryFolder(), "a.lock");
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let later: Promise<number> | undefined;
    await withLock(path, {}, async () => {
      later = gate.then(() => withLock(path, {}, async () => 7));
    });
    release();
    expect(await later).toBe(7);
  });

  test("takes over from a holder that was killed", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.lock");
    const child = await holdElsewhere(folder, path);
    child.kill("SIGKILL");
    await ended(child);
    expect(readLock(path)).toMatchObject({ pid: child.pid, state: "gone" });
    expect(await withLock(path, { waitMs: 0 }, async () => "mine")).toBe("mine");
    expect(readdirSync(folder).filter((name) => name.startsWith("a.lock"))).toEqual([]);
  });

  test("does not take a stopped process for a dead one", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.lock");
    const child = await holdElsewhere(folder, path);
    child.kill("SIGSTOP");
    const past = new Date(0);
    lutimesSync(path, past, past);
    const take = withLock(path, { waitMs: 50, staleAfterMs: 1 }, async () => {});
    await expect(take).rejects.toMatchObject({ code: "LOCK_HELD" });
  });

  test.each<[string, () => string]>([
    ["a process that does not exist", () => foreignText({ pid: 4_194_304 + 1 })],
    ["a process id that was given out again", () => foreignText({ start: "1" })],
  ])("takes over from %s", async (_case, text) => {
    const path = join(temporaryFolder(), "a.lock");
    symlinkSync(text(), path);
    expect(readLock(path)?.state).toBe("gone");
    expect(await withLock(path, { waitMs: 0 }, async () => 1)).toBe(1);
  });

  test("leaves a lock of another host or container until its heartbeat is old", async () => {
    for (const changes of [{ host: "11111111", boot: "22222222" }, { namespace: "33333333" }, { boot: "22222222" }]) {
      const path = join(temporaryFolder(), "a.lock");
      symlinkSync(foreignText(changes), path);
      expect(readLock(path)?.state).toBe("elsewhere");
      await expect(withLock(path, { waitMs: 0 }, async () => {})).rejects.toMatchObject({ code: "LOCK_HELD" });
      expect(await withLock(path, { staleAfterMs: 20 }, async () => 1)).toBe(1);
    }
  });

  test("does not go by what a holder's clock says", async () => {
    const path = join(temporaryFolder(), "a.lock");
    symlinkSync(foreignText({ host: "11111111", boot: "22222222" }), path);
    const past = new Date(0);
    lutimesSync(path, past, past);
    await expect(withLock(path, { waitMs: 0 }, async () => {})).rejects.toMatchObject({ code: "LOCK_HELD" });
  });

  test("refreshes its lock while it holds it", async () => {
    const path = join(temporaryFolder(), "a.lock");
    await withLock(path, { staleAfterMs: 20 }, async () => {
      const past = new Date(0);
      lutimesSync(path, past, past);
      await expect.poll(() => lstatSync(path).mtimeMs).toBeGreaterThan(0);
    });
  });

  test("gives nothing back that was taken away meanwhile", async () => {
    const path = join(temporaryFolder(), "a.lock");
    const text = foreignText({ host: "11111111", boot: "22222222" });
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const later of [3600, -3600]) {
      await withLock(path, {}, async () => {
        unlinkSync(path);
        symlinkSync(text, path);
        vi.setSystemTime(Date.now() + later * 1000);
      });
      expect(readlinkSync(path), String(later)).toBe(text);
      unlinkSync(path);
    }
  });

  test("passes by breakers that died, whichever step they died at", async () => {
    const dead = foreignText({ pid: 4_194_304 + 1 });
    for (const orphans of [[".break"], [".break2"], [".break", ".break2"]]) {
      const folder = temporaryFolder();
      const path = join(folder, "a.lock");
      for (const name of ["", ...orphans]) symlinkSync(dead, `${path}${name}`);
      expect(await withLock(path, {}, async () => 1), orphans.join()).toBe(1);
      expect(existsSync(path)).toBe(false);
      expect(readdirSync(folder).includes("a.lock.break")).toBe(false);
    }
  });

  test("refuses a file, a folder and a link that is no lock", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "mine");
    writeFileSync(join(folder, "empty"), "");
    writeFileSync(join(folder, "large"), "x".repeat(1000));
    mkdirSync(join(folder, "folder"));
    symlinkSync("somewhere", join(folder, "link"));
    for (const name of ["file", "empty", "large", "folder", "link"]) {
      const take = withLock(join(folder, name), { waitMs: 0 }, async () => {});
      await expect(take, name).rejects.toMatchObject({ code: "REFUSED_PATH", path: join(folder, name) });
    }
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("mine");
  });

  test("waits for a holder whose text it cannot read", async () => {
    const path = join(temporaryFolder(), "a.lock");
    symlinkSync("12@another-form", path);
    await expect(withLock(path, { waitMs: 0 }, async () => {})).rejects.toMatchObject({ code: "LOCK_HELD" });
    expect(readLock(path)).toEqual({ pid: undefined, state: "alive", text: "12@another-form" });
  });
});

const torture = `
  import { withLock } from "./index.ts";
  import * as fs from "node:fs";
  const [path, counter, rounds, seed] = process.argv.slice(2);
  let state = Number(seed);
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  (async () => {
    for (let round = 0; round < Number(rounds); round += 1) {
      await withLock(path, { waitMs: 30000 }, async () => {
        const inside = fs.openSync(counter + ".inside", "wx");
        fs.closeSync(inside);
        const count = Number(fs.readFileSync(counter, "utf8"));
        if (random() < 0.3) await new Promise(setImmediate);
        fs.writeFileSync(counter, String(count + 1));
        fs.unlinkSync(counter + ".inside");
        fs.writeSync(1, ".");
        if (random() < 0.05) process.kill(process.pid, "SIGKILL");
      });
    }
  })().catch((error) => { fs.writeSync(2, String(error && error.stack)); process.exit(1); });
`;

/** Runs a worker again and again, with another seed each time, until one run ends by itself. */
async function runUntilDone(
  program: Program,
  args: readonly string[],
  seed: number,
): Promise<{ rounds: number; kills: number }> {
  let rounds = 0;
  for (let kills = 0; ; kills += 1) {
    const child = startProgram(program, [...args, String(seed + kills * 7919)]);
    children.push(child);
    child.stdout?.on("data", (chunk: Buffer) => {
      rounds += chunk.length;
    });
    const closed = new Promise((resolve) => child.once("close", resolve));
    const { exit, signal } = await ended(child);
    await closed;
    if (exit === 0) return { rounds, kills };
    if (signal !== "SIGKILL") throw new Error(`a worker ended with ${exit ?? signal}`);
  }
}

describe("withLock among many processes", () => {
  test("never has two holders and loses no turn, while holders are killed", { timeout: 300_000 }, async () => {
    const folder = temporaryFolder();
    const counter = join(folder, "counter");
    writeFileSync(counter, "0");
    const program = buildProgram(folder, torture);
    const workers = [1, 2, 3, 4].map((seed) =>
      runUntilDone(program, [join(folder, "a.lock"), counter, "60"], seed * 104_729),
    );
    const results = await Promise.all(workers);
    const total = results.reduce((sum, { rounds }) => sum + rounds, 0);
    expect(results.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThan(3);
    expect(total).toBeGreaterThanOrEqual(240);
    expect(readFileSync(counter, "utf8")).toBe(String(total));
  });
});

describe.skipIf(!canInjectFaults)("withLock where no symbolic links can be made", () => {
  const program = `
    import { readLock, withLock } from "./index.ts";
    import * as fs from "node:fs";
    const path = process.argv[2];
    withLock(path, {}, async () => {
      const text = fs.readFileSync(path, "utf8");
      const second = await withLock(path + "2", { waitMs: 0 }, async () => 1).catch((error) => error.code);
      console.log(JSON.stringify({ isFile: fs.lstatSync(path).isFile(), text, pid: readLock(path).pid === process.pid, second }));
    }).then(() => console.log(fs.existsSync(path)));
  `;

  test("uses a file that is complete when it appears, and takes over from a dead holder", () => {
    const folder = temporaryFolder();
    const root = join(folder, "locks");
    mkdirSync(root);
    const path = join(root, "a.lock");
    writeFileSync(path, foreignText({ pid: 4_194_304 + 1 }));
    writeFileSync(`${path}2`, foreignText({ host: "11111111", boot: "22222222" }));
    const shim = buildFaultShim(folder);
    const env = faultEnvironment({ shim, root, at: 1, kind: 1, forever: true });
    const { stdout, stderr } = runProgram(buildProgram(folder, program), [path], env);
    expect(stderr).toBe("");
    const [seen, after] = stdout.trim().split("\n");
    expect(JSON.parse(seen ?? "")).toMatchObject({ isFile: true, pid: true, second: "LOCK_HELD" });
    expect(after).toBe("false");
    expect(readdirSync(root)).toEqual(["a.lock2"]);
  });
});
