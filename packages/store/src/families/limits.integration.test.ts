import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { memoryFolder, neutralEnvironment } from "../testing/folder.ts";
import { buildEngine, type Engine } from "./engine.ts";
import { type Filled, fillStore } from "./filling.ts";
import { isWhole, itemOf } from "./store-world.ts";

/** Does a command of the system succeed? */
function does(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

function mount(folder: string, size: string): boolean {
  return does("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder);
}

/** May this process mount a small file system? */
function canMountHere(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "mount-"));
  const mounted = process.platform === "linux" && mount(folder, "64k");
  if (mounted) does("umount", folder);
  rmSync(folder, { recursive: true, force: true });
  return mounted;
}

const canMount = canMountHere();
const limiter = "prlimit";
const canLimit = process.platform === "linux" && does(limiter, "--version");

function smallFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "small-"));
  onTestFinished(() => {
    does("umount", "-l", folder);
    rmSync(folder, { recursive: true, force: true });
  });
  if (!mount(folder, "64k")) throw new Error("cannot mount");
  return folder;
}

/** What a store holds must be what was acknowledged, and each entry whole. */
function expectHeld({ api }: Engine, path: string, count: number): void {
  const store = api.openStore({ path, key: "id" });
  const entries = [...store.entries()];
  expect(entries.map(([key]) => key)).toEqual(Array.from({ length: count }, (_, index) => `k${index + 1}`));
  expect(entries.every(([, item]) => isWhole(item))).toBe(true);
  expect(store.problems).toEqual([]);
  void store.close();
}

/** Runs a verb of the child under limits of its own. */
function runLimited<Result>({ program }: Engine, limit: string, args: readonly string[]): Result {
  const run = [limit, process.execPath, program.file, ...args];
  const env = neutralEnvironment(program.folder);
  const { status, stdout, stderr } = spawnSync(limiter, run, { encoding: "utf8", env, timeout: 60_000 });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Result;
}

describe.skipIf(!canMount)("a file system that is full", () => {
  test.each(["fsync", "os"] as const)(
    "takes no half entry (%s), and takes entries again when there is room",
    async (durability) => {
      const folder = smallFolder();
      const engine = await buildEngine(memoryFolder());
      const path = join(folder, "jobs.jsonl");
      writeFileSync(join(folder, "filler"), "x".repeat(20_000));
      const store = engine.api.openStore({ path, key: "id", durability });
      const put = (n: number): Promise<void> => store.put({ ...itemOf(`k${n}`, n, 100) });
      const filled = await fillStore(engine.api, put);
      expect(filled).toMatchObject({ code: "NO_SPACE", path });
      expect(filled.acknowledged).toBeGreaterThan(100);
      expectHeld(engine, path, filled.acknowledged);
      await expect(put(filled.acknowledged + 1)).rejects.toMatchObject({ code: "NO_SPACE" });
      rmSync(join(folder, "filler"));
      await put(filled.acknowledged + 1);
      await store.close();
      expectHeld(engine, path, filled.acknowledged + 1);
    },
  );

  test("leaves a document, a log and a blob as they are", async () => {
    const folder = smallFolder();
    const { api } = await buildEngine(memoryFolder());
    const [path, ledger] = [join(folder, "state.json"), join(folder, "ledger.jsonl")];
    const document = api.openDocument({ path, steps: [], parse: (members) => members });
    const log = api.openLog({ path: ledger });
    const blobs = api.openBlobs({ path: join(folder, "blobs") });
    await document.update(() => ({ n: 1 }));
    await log.append({ n: 1 });
    const { hash } = await blobs.put("small");
    const large = "x".repeat(70_000);
    await expect(document.update(() => ({ large }))).rejects.toMatchObject({ code: "NO_SPACE", path });
    await expect(log.append({ large })).rejects.toMatchObject({ code: "NO_SPACE", path: ledger });
    await expect(blobs.put(large)).rejects.toMatchObject({ code: "NO_SPACE" });
    expect(document.read()).toMatchObject({ kind: "loaded", value: { n: 1 } });
    expect([...log.read()].map(({ value }) => value)).toEqual([{ n: 1 }]);
    expect([[...blobs.hashes()], blobs.get(hash)?.toString()]).toEqual([[hash], "small"]);
    await document.update(() => ({ n: 2 }));
    await log.append({ n: 2 });
    expect([[...log.read()].length, log.problems]).toEqual([2, []]);
    await log.close();
  });
});

describe.skipIf(!canLimit)("a process with limits", () => {
  test.each(["fsync", "os"])(
    "has what was acknowledged when the largest file size is reached (%s)",
    async (durability) => {
      const folder = memoryFolder();
      const engine = await buildEngine(folder);
      const path = join(folder, "jobs.jsonl");
      const filled = runLimited<Filled>(engine, "--fsize=20000", ["fill", path, durability]);
      expect(filled).toMatchObject({ code: "NO_SPACE", path });
      expect(filled.acknowledged).toBeGreaterThan(50);
      expectHeld(engine, path, filled.acknowledged);
      const store = engine.api.openStore({ path, key: "id" });
      await store.put({ ...itemOf(`k${filled.acknowledged + 1}`, filled.acknowledged + 1) });
      await store.close();
      expectHeld(engine, path, filled.acknowledged + 1);
    },
  );

  test("says so when it can open no more files, and writes when it can", async () => {
    const folder = memoryFolder();
    const engine = await buildEngine(folder);
    const path = join(folder, "jobs.jsonl");
    const answer = runLimited(engine, "--nofile=64", ["exhaust", path]);
    expect(answer).toEqual({ acknowledged: 0, code: "IO", path: expect.stringContaining(folder), keys: ["second"] });
  });
});

describe.skipIf(!existsSync("/dev/full"))("a device that is always full", () => {
  test("is no file and is refused", async () => {
    const { api } = await buildEngine(memoryFolder());
    const refused = expect.objectContaining({ code: "REFUSED_PATH", path: "/dev/full" }) as Error;
    expect(() => api.openStore({ path: "/dev/full", key: "id" })).toThrow(refused);
    const lockPath = join(memoryFolder(), "lock");
    await expect(api.openLog({ path: "/dev/full", lockPath }).append({ n: 1 })).rejects.toEqual(refused);
    await expect(api.writeFileAtomic("/dev/full", "x")).rejects.toEqual(refused);
    expect(() => api.openDocument({ path: "/dev/full", steps: [], parse: (members) => members }).read()).toThrow(
      refused,
    );
  });
});
