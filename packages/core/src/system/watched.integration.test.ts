import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { buildSync } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { AbsPath } from "./paths.ts";
import type { RunWatchedOptions, WatchedResult } from "./port.ts";
import { runWatched } from "./watched.ts";

let folder: AbsPath;
let copied: string;

beforeAll(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve watched "))) as AbsPath;
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  copied = "";
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    copied += Buffer.from(chunk as Uint8Array).toString("utf8");
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

function watch(command: string, options: Partial<RunWatchedOptions> = {}): Promise<WatchedResult> {
  const env = { PATH: process.env["PATH"], HOME: folder };
  return runWatched(command, { cwd: folder, env, timeLimitMs: 50_000, tailBytes: 1000, ...options });
}

/** Is the process at work? One that ended and was not yet buried by its parent is not. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = fs.existsSync(`/proc/${pid}/stat`) ? fs.readFileSync(`/proc/${pid}/stat`, "utf8") : "";
  return !/\) [ZX] /.test(stat);
}

async function gone(pid: number): Promise<void> {
  await vi.waitFor(() => expect(lives(pid)).toBe(false), { timeout: 20_000, interval: 20 });
}

describe("runWatched", () => {
  test.each([
    ["exit 0", 0],
    ["exit 3", 3],
    ["true", 0],
    ["false", 1],
    ["no-such-command-anywhere", 127],
    ["./", 126],
    ["kill -9 $$", 137],
    ["kill -TERM $$", 143],
    ["kill -INT $$", 130],
    ["sh -c 'kill -9 $$'; exit $?", 137],
    ["syntax (error", 2],
  ])("runWatched answers for '%s' the exit code %i", async (command, exit) => {
    expect(await watch(command)).toMatchObject({ exit, ended: "exited" });
  });

  test("runWatched runs in the folder, with the environment it is given and no input", async () => {
    const env = { PATH: process.env["PATH"], GIVEN: "yes", NOT: undefined };
    const { tail } = await watch('pwd; echo "$GIVEN-${NOT-unset}-$HOME"; cat; echo end', { env });
    expect(tail).toBe(`${folder}\nyes-unset-\nend\n`);
  });

  test("runWatched copies both streams to standard error as they come, and keeps them", async () => {
    const { tail } = await watch("echo one; echo two >&2; echo three");
    for (const text of [tail, copied]) expect(text.split("\n").sort()).toEqual(["", "one", "three", "two"]);
  });

  test.each([1, 10, 1000, 4096])("runWatched keeps the last %i bytes of a long output", async (tailBytes) => {
    const { tail } = await watch("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done", { tailBytes });
    const whole = Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join("");
    expect(tail).toBe(whole.slice(-tailBytes));
    expect(copied).toBe(whole);
  });

  test("runWatched keeps a short output whole, also bytes that are no text", async () => {
    expect((await watch("printf 'ü\\377\\000'", { tailBytes: 4 })).tail).toBe("ü\ufffd\u0000");
    expect((await watch(":")).tail).toBe("");
  });

  test("runWatched counts the time", async () => {
    const { milliseconds } = await watch(":");
    expect(Number.isInteger(milliseconds) && milliseconds >= 0).toBe(true);
  });

  test("runWatched ends the whole group at the time limit", async () => {
    const pids = path.join(folder, "pids");
    const command = `sleep 300 & echo $! > '${pids}'; echo began; sh -c 'sleep 300; true'`;
    const result = await watch(command, { timeLimitMs: 2_000 });
    expect(result).toMatchObject({ exit: 143, ended: "timed-out", tail: "began\n" });
    await gone(Number(fs.readFileSync(pids, "utf8")));
  });

  test("runWatched leaves nothing of the group behind, also when this process then ends at once", async () => {
    const [pids, outfile] = [path.join(folder, "stubborn"), path.join(folder, "watched.cjs")];
    const entry = path.join(import.meta.dirname, "watched.ts");
    buildSync({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "cjs" });
    const command = `sh -c 'trap "" TERM; echo $$ > "${pids}"; exec sleep 300' & wait`;
    const options = { cwd: folder, env: { PATH: process.env["PATH"] }, timeLimitMs: 2_000, tailBytes: 10 };
    const script =
      "const [file, command, options] = process.argv.slice(1);" +
      "require(file).runWatched(command, JSON.parse(options)).then((result) => console.log(result.ended));";
    const args = ["-e", script, outfile, command, JSON.stringify(options)];
    const done = spawnSync(process.execPath, args, { env: options.env, encoding: "utf8" });
    expect([done.status, done.stdout]).toEqual([0, "timed-out\n"]);
    await gone(Number(fs.readFileSync(pids, "utf8")));
  });

  test("runWatched kills what does not end when it is asked to", async () => {
    const result = await watch("trap '' TERM; echo began; while :; do sleep 1; done", { timeLimitMs: 2_000 });
    expect(result).toMatchObject({ exit: 137, ended: "timed-out" });
  });

  test("runWatched says that it was over time also of a command that then ends with 0", async () => {
    const result = await watch("trap 'exit 0' TERM; while :; do sleep 0.05; done", { timeLimitMs: 2_000 });
    expect(result).toMatchObject({ exit: 0, ended: "timed-out" });
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "runWatched hands %s on to the group, and stays",
    async (signal) => {
      const others = process.listeners(signal);
      process.removeAllListeners(signal);
      try {
        const ready = path.join(folder, `ready ${signal}`);
        const running = watch(`echo $$ > '${ready}'; exec sleep 300`);
        await vi.waitFor(() => expect(fs.readFileSync(ready, "utf8")).toMatch(/\d\n/), { timeout: 20_000 });
        process.emit(signal, signal);
        expect(await running).toMatchObject({ exit: 143, ended: "interrupted" });
        expect(process.listenerCount(signal)).toBe(0);
        await gone(Number(fs.readFileSync(ready, "utf8")));
      } finally {
        for (const listener of others) process.on(signal, listener as NodeJS.SignalsListener);
      }
    },
  );

  test("runWatched does not wait for a process that was left behind with the pipes", async () => {
    const pids = path.join(folder, "left");
    const result = await watch(`sleep 300 & echo $! > '${pids}'; echo done`);
    const pid = Number(fs.readFileSync(pids, "utf8"));
    try {
      expect(result).toMatchObject({ exit: 0, ended: "exited", tail: "done\n" });
    } finally {
      if (lives(pid)) process.kill(pid, "SIGKILL");
    }
    await gone(pid);
  });

  test("runWatched leaves no listener behind", async () => {
    const count = (): number[] => (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => process.listenerCount(name));
    const before = count();
    await watch("exit 1");
    await watch("sleep 300", { timeLimitMs: 50 });
    expect(count()).toEqual(before);
  });

  test("runWatched rejects where the command cannot be started at all", async () => {
    await expect(watch("true", { cwd: path.join(folder, "gone") as AbsPath })).rejects.toThrow();
  });
});
