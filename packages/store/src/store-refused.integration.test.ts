import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textOf } from "./store.fixture.ts";
import { buildProgram, type Program, runProgram } from "./testing/child.ts";
import { buildFaultShim, type Call, canInjectFaults, faultEnvironment, recordCalls } from "./testing/fault.ts";
import { memoryFolder, treeOf } from "./testing/folder.ts";

const errnos = { EIO: 5, EACCES: 13, EXDEV: 18, EMFILE: 24, ENOSPC: 28, EROFS: 30 } as const;

/** A store with a removal, a superseded line and a damaged one. */
const text = '{"id":"a","n":1}\nbad\n{"id":"b"}\n{"id":"a","n":2}\n{"id":"b","$deleted":true}\n';

const compacting = `
  import { openStore } from "./index.ts";
  const store = openStore({ path: process.argv[2], key: "id" });
  (async () => {
    const tell = (error) => console.log(error.code + " " + error.path);
    await store.compact().then(({ changed }) => console.log(changed), tell);
    console.log(JSON.stringify([...store.entries()]));
    await store.put({ id: "c" }).catch(tell);
    console.log([...store.keys()].join());
    await store.close();
  })();
`;

const appending = `
  import { openStore } from "./index.ts";
  const store = openStore({ path: process.argv[2], key: "id" });
  (async () => {
    const tell = (error) => console.log(error.code + " " + error.path);
    await store.put({ id: "a", n: 1 }).catch(tell);
    const batch = [store.putAll([{ id: "b", n: 1 }, { id: "a", n: 2 }]), store.put({ id: "c" }), store.remove("a")];
    for (const { reason } of await Promise.allSettled(batch)) if (reason !== undefined) tell(reason);
    console.log(JSON.stringify([...store.entries()]));
    await store.put({ id: "d" }).catch(tell);
    console.log(JSON.stringify([...store.entries()]));
    await store.close();
  })();
`;

interface Stage {
  readonly program: Program;
  readonly shim: string;
  readonly folder: string;
}

function stageOf(source: string): Stage {
  const folder = memoryFolder();
  return { folder, program: buildProgram(folder, source), shim: buildFaultShim(folder) };
}

/** A new root with the store's file in it, if it is to have one. */
function rootOf({ folder }: Stage, name: string, content: string | undefined): { root: string; path: string } {
  const root = join(folder, name);
  const path = join(root, "jobs.jsonl");
  mkdirSync(root);
  if (content !== undefined) writeFileSync(path, content);
  return { root, path };
}

function callsOf(stage: Stage, content: string | undefined): Call[] {
  const { root, path } = rootOf(stage, "recorded", content);
  return recordCalls(stage.shim, root, (env) => {
    expect(runProgram(stage.program, [path], env).stderr).toBe("");
  });
}

describe.skipIf(!canInjectFaults)("a compaction", () => {
  test("has the damaged lines on the disk first, then the new file, then its name, then its folder's entry", () => {
    const stage = stageOf(compacting);
    const root = join(stage.folder, "recorded");
    const calls = callsOf(stage, text).map(({ name, path }) => {
      const place = path.slice(root.length).replace(/\.\d+\.[0-9a-z]+\.tmp$/, ".tmp");
      return `${name} ${place === "" ? "/" : place}`;
    });
    const steps = calls.filter((call) => /^(?:write|fsync|rename|symlink|unlink) /.test(call));
    const from = steps.indexOf("symlink /jobs.jsonl.lock");
    expect(steps.slice(from, from + 11)).toEqual([
      "symlink /jobs.jsonl.lock",
      "write /.jobs.jsonl.damaged.tmp",
      "fsync /.jobs.jsonl.damaged.tmp",
      "rename /jobs.jsonl.damaged",
      "fsync /",
      "write /.jobs.jsonl.tmp",
      "fsync /.jobs.jsonl.tmp",
      "rename /jobs.jsonl",
      "fsync /",
      "unlink /jobs.jsonl.lock",
      "symlink /jobs.jsonl.lock",
    ]);
  });

  test.each([
    ["rename", "EXDEV", "IO"],
    ["rename", "EACCES", "NO_PERMISSION"],
    ["rename", "ENOSPC", "NO_SPACE"],
    ["rename", "EROFS", "READ_ONLY"],
    ["rename", "EIO", "IO"],
    ["write", "ENOSPC", "NO_SPACE"],
    ["write", "EIO", "IO"],
    ["fsync", "EIO", "IO"],
    ["create", "EMFILE", "IO"],
    ["create", "ENOSPC", "NO_SPACE"],
    ["create", "EROFS", "READ_ONLY"],
  ] as const)("that meets a %s refused with %s says so, leaves the old file and nothing else", (name, errno, code) => {
    const stage = stageOf(compacting);
    const calls = callsOf(stage, text);
    const at = calls.findIndex((call) => call.name === name && /\/\.jobs\.jsonl\.\d+|jobs\.jsonl$/.test(call.path));
    expect(at).toBeGreaterThan(0);
    const { root, path } = rootOf(stage, "refused", text);
    const env = faultEnvironment({ shim: stage.shim, root, at: at + 1, kind: errnos[errno] });
    const { stdout, stderr } = runProgram(stage.program, [path], env);
    expect(stderr).toBe("");
    const [answer = "", entries, keys] = stdout.trim().split("\n");
    expect(answer).toBe(`${code} ${path}`);
    expect([entries, keys]).toEqual(['[["a",{"id":"a","n":2}]]', "a,c"]);
    expect(treeOf(root)).toEqual({ "jobs.jsonl": `${text}{"id":"c"}\n`, "jobs.jsonl.damaged": "bad\n" });
  });
});

describe.skipIf(!canInjectFaults)("writes that are refused", () => {
  test.each([
    ["write", "ENOSPC", "NO_SPACE"],
    ["write", "EIO", "IO"],
    ["fdatasync", "EIO", "IO"],
    ["fdatasync", "ENOSPC", "NO_SPACE"],
  ] as const)("at a %s with %s are all undone, none acknowledged, and the next is taken", (name, errno, code) => {
    const stage = stageOf(appending);
    const calls = callsOf(stage, undefined);
    const isOnFile = (call: Call): boolean => call.name === name && call.path.endsWith("/jobs.jsonl");
    const [, second] = calls.flatMap((call, index) => (isOnFile(call) ? [index] : []));
    expect(second).toBeGreaterThan(0);
    const { root, path } = rootOf(stage, "refused", undefined);
    const env = faultEnvironment({ shim: stage.shim, root, at: Number(second) + 1, kind: errnos[errno] });
    const { stdout, stderr } = runProgram(stage.program, [path], env);
    expect(stderr).toBe("");
    const refused = `${code} ${path}`;
    const kept = '["a",{"id":"a","n":1}]';
    expect(stdout.trim().split("\n")).toEqual([refused, refused, refused, `[${kept}]`, `[${kept},["d",{"id":"d"}]]`]);
    expect(treeOf(root)).toEqual({ "jobs.jsonl": '{"id":"a","n":1}\n{"id":"d"}\n' });
  });

  test("that the system takes only half of at first land whole", () => {
    const wanted = new Map([
      [compacting, '{"id":"a","n":2}\n{"id":"c"}\n'],
      [
        appending,
        '{"id":"a","n":1}\n{"id":"b","n":1}\n{"id":"a","n":2}\n{"id":"c"}\n{"id":"a","$deleted":true}\n{"id":"d"}\n',
      ],
    ]);
    for (const [source, content] of wanted) {
      const stage = stageOf(source);
      const before = source === compacting ? text : undefined;
      const writes = callsOf(stage, before).flatMap(({ name }, index) => (name === "write" ? [index + 1] : []));
      expect(writes.length).toBeGreaterThan(2);
      for (const at of writes) {
        const { root, path } = rootOf(stage, `short-${at}`, before);
        const env = faultEnvironment({ shim: stage.shim, root, at, kind: "short" });
        expect(runProgram(stage.program, [path], env)).toMatchObject({ exit: 0, stderr: "" });
        expect(textOf(path), `write at call ${at}`).toBe(content);
      }
    }
  });

  test("have a new file's name on the disk before any of them is acknowledged", () => {
    const stage = stageOf(appending);
    const root = join(stage.folder, "recorded");
    const steps = callsOf(stage, undefined)
      .filter(
        ({ name, path }) =>
          /^(?:create|write|f(?:data)?sync)$/.test(name) && [root, join(root, "jobs.jsonl")].includes(path),
      )
      .map(({ name, path }) => `${name} ${path === root ? "/" : "/jobs.jsonl"}`);
    expect(steps.slice(0, 4)).toEqual(["create /jobs.jsonl", "fsync /", "write /jobs.jsonl", "fdatasync /jobs.jsonl"]);
  });

  test("when the file is made leave none that is half, and the next put makes it", () => {
    const stage = stageOf(appending);
    const calls = callsOf(stage, undefined);
    const at = calls.findIndex(({ name, path }) => name === "create" && path.endsWith("/jobs.jsonl"));
    for (const [errno, code] of [
      ["ENOSPC", "NO_SPACE"],
      ["EROFS", "READ_ONLY"],
      ["EACCES", "NO_PERMISSION"],
      ["EMFILE", "IO"],
    ] as const) {
      const { root, path } = rootOf(stage, errno, undefined);
      const env = faultEnvironment({ shim: stage.shim, root, at: at + 1, kind: errnos[errno] });
      const lines = runProgram(stage.program, [path], env).stdout.trim().split("\n");
      expect(lines[0]).toBe(`${code} ${path}`);
      expect(lines.slice(1)).toEqual([
        '[["b",{"id":"b","n":1}],["c",{"id":"c"}]]',
        '[["b",{"id":"b","n":1}],["c",{"id":"c"}],["d",{"id":"d"}]]',
      ]);
      expect(textOf(path).startsWith('{"id":"b","n":1}\n')).toBe(true);
      expect(existsSync(`${path}.lock`)).toBe(false);
    }
  });
});
