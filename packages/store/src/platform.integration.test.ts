import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildProgram, ended, printed, runProgram, startProgram } from "./testing/child.ts";
import { modeOf, temporaryFolder } from "./testing/folder.ts";

/** A program that runs as on a platform that lacks something. */
function without(lacking: string, body: string): string {
  return `
    import { platform } from "./platform.ts";
    import * as fs from "node:fs";
    import { openLog, openStore, readLock, withLock, writeFileAtomic } from "./index.ts";
    Object.assign(platform, ${lacking});
    const [path, more] = process.argv.slice(2);
    (async () => { ${body} })().catch((error) => { fs.writeSync(2, String(error && error.stack)); process.exitCode = 1; });
  `;
}

const counting = `
  for (let round = 0; round < 40; round += 1) {
    await withLock(path + ".lock", { waitMs: 60000 }, async () => {
      const count = Number(fs.readFileSync(path, "utf8"));
      await new Promise(setImmediate);
      fs.writeFileSync(path, String(count + 1));
    });
  }
`;

describe("a platform without", () => {
  test.each([
    ["symbolic links", "{ symlinks: false }"],
    ["symbolic and hard links", "{ symlinks: false, hardLinks: false }"],
    ["a folder of processes", '{ proc: "/nowhere" }'],
  ])("%s still has one holder of a lock at a time", async (_what, lacking) => {
    const folder = temporaryFolder();
    const path = join(folder, "counter");
    writeFileSync(path, "0");
    const program = buildProgram(folder, without(lacking, counting));
    const results = await Promise.all([1, 2, 3].map(() => ended(startProgram(program, [path]))));
    expect(results.map(({ exit }) => exit)).toEqual([0, 0, 0]);
    expect(readFileSync(path, "utf8")).toBe("120");
    expect(readdirSync(folder).filter((name) => name.includes(".lock"))).toEqual([]);
  });

  test.each([
    ["symbolic links", "{ symlinks: false }"],
    ["symbolic and hard links", "{ symlinks: false, hardLinks: false }"],
  ])("%s takes over from a holder that was killed", async (_what, lacking) => {
    const folder = temporaryFolder();
    const path = join(folder, "a");
    const program = buildProgram(
      folder,
      without(
        lacking,
        `await withLock(path, {}, async () => { console.log("held"); if (more) await new Promise((r) => setTimeout(r, 60000)); });`,
      ),
    );
    const holder = startProgram(program, [path, "stay"]);
    await printed(holder, "held");
    expect(readFileSync(path, "utf8")).toMatch(new RegExp(`^${holder.pid}@`));
    holder.kill("SIGKILL");
    await ended(holder);
    expect(runProgram(program, [path])).toMatchObject({ exit: 0, stdout: "held\n", stderr: "" });
  });

  test("any links takes over from a holder that was killed before it had written its name", () => {
    const folder = temporaryFolder();
    const path = join(folder, "a");
    writeFileSync(path, "");
    const body = `
      const early = await withLock(path, { waitMs: 0 }, async () => 1).catch((error) => error.code);
      const late = await withLock(path, { staleAfterMs: 1 }, async () => 1);
      console.log(early, late);
    `;
    const { stdout, stderr } = runProgram(
      buildProgram(folder, without("{ symlinks: false, hardLinks: false }", body)),
      [path],
    );
    expect({ stdout, stderr }).toEqual({ stdout: "LOCK_HELD 1\n", stderr: "" });
  });

  test("a folder of processes takes a holder for alive until its heartbeat is old", () => {
    const folder = temporaryFolder();
    const path = join(folder, "a");
    symlinkSync(`4194305@0@${"0".repeat(24)}`, path);
    const body = `
      const early = await withLock(path, { waitMs: 0 }, async () => 1).catch((error) => error.code);
      const late = await withLock(path, { staleAfterMs: 1 }, async () => 1);
      console.log(early, late);
    `;
    const { stdout, stderr } = runProgram(buildProgram(folder, without('{ proc: "/nowhere" }', body)), [path]);
    expect({ stdout, stderr }).toEqual({ stdout: "LOCK_HELD 1\n", stderr: "" });
  });

  test("permission bits writes what it is asked to, with whatever bits there are", () => {
    const folder = temporaryFolder();
    const path = join(folder, "a");
    writeFileSync(path, "old");
    chmodSync(path, 0o600);
    const body = `
      await writeFileAtomic(path, "new", { mode: 0o600 });
      const log = openLog({ path: path + ".jsonl", mode: 0o640 });
      await log.append({ n: 1 });
    `;
    expect(runProgram(buildProgram(folder, without("{ modes: false }", body)), [path])).toMatchObject({
      exit: 0,
      stderr: "",
    });
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(readFileSync(`${path}.jsonl`, "utf8")).toBe('{"n":1}\n');
    expect(modeOf(`${path}.jsonl`)).toBe(0o644 & ~process.umask());
  });

  test("file numbers never appends to a file that was replaced, keeps no index, and watches on", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "s"));
    const path = join(folder, "s", "jobs.jsonl");
    const body = `
      const store = openStore({ path, key: "id", durability: "os" });
      const other = openStore({ path, key: "id", durability: "os" });
      const stop = new AbortController();
      const seen = [];
      const watching = (async () => {
        for await (const { kind, key } of store.watch({ signal: stop.signal })) {
          seen.push(kind + " " + key);
          if (key === "last") stop.abort();
        }
      })();
      for (let n = 0; n < 100; n += 1) await store.put({ id: "a", n, text: "x".repeat(5000) });
      await other.put({ id: "b", n: 1 });
      await other.compact();
      await store.put({ id: "c", n: 1 });
      await store.put({ id: "last", n: 1 });
      await watching;
      store.refresh();
      await store.close();
      await other.close();
      console.log(JSON.stringify({ keys: [...openStore({ path, key: "id" }).keys()], seen: [...new Set(seen)] }));
    `;
    const { stdout, stderr } = runProgram(buildProgram(folder, without("{ inodes: false }", body)), [path]);
    expect(stderr).toBe("");
    const { keys, seen } = JSON.parse(stdout) as { keys: string[]; seen: string[] };
    expect(keys).toEqual(["a", "b", "c", "last"]);
    expect(seen).toEqual(expect.arrayContaining(["put a", "put b", "put c", "put last"]));
    expect(readdirSync(join(folder, "s"))).toEqual(["jobs.jsonl"]);
  });
});
