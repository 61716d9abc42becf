import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openBlobs } from "./blobs.ts";
import { buildProgram, ended, type Program, runProgram, startProgram } from "./testing/child.ts";
import {
  buildFaultShim,
  type Call,
  canInjectFaults,
  type Fault,
  faultEnvironment,
  recordCalls,
} from "./testing/fault.ts";
import { memoryFolder } from "./testing/folder.ts";
import { openLostCache } from "./testing/lost-cache.ts";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

const source = `
  import { openBlobs } from "./index.ts";
  import { writeSync } from "node:fs";
  const blobs = openBlobs({ path: process.argv[2] });
  async function* pieces() { for (const text of ["pie", "ces", ""]) yield Buffer.from(text); }
  const steps = [
    () => blobs.put("first"),
    () => blobs.put(pieces()),
    () => blobs.put("first"),
    () => blobs.put("mended"),
    () => blobs.remove("${hashOf("going")}"),
  ];
  (async () => {
    for (const [index, step] of steps.entries()) {
      try {
        await step();
        writeSync(1, index + "\\n");
      } catch (error) {
        writeSync(1, JSON.stringify({ code: error.code, path: error.path, message: error.message }));
        return;
      }
    }
  })();
`;

interface Scene {
  readonly root: string;
  readonly program: Program;
  readonly shim: string;
}

function openScene(): Scene {
  const folder = memoryFolder();
  return { root: join(folder, "root"), program: buildProgram(folder, source), shim: buildFaultShim(folder) };
}

const mended = hashOf("mended");
const going = hashOf("going");

function pathIn(root: string, hash: string): string {
  return join(root, hash.slice(0, 2), hash);
}

function resetScene({ root }: Scene): void {
  rmSync(root, { recursive: true, force: true });
  rmSync(`${root}.lock`, { force: true });
  for (const [hash, text] of [
    [mended, "broken"],
    [going, "going"],
  ] as const) {
    mkdirSync(dirname(pathIn(root, hash)), { recursive: true });
    writeFileSync(pathIn(root, hash), text);
  }
}

interface Ran {
  readonly killed: boolean;
  /** How many steps were acknowledged. */
  readonly acknowledged: number;
  readonly failure: { readonly code?: string; readonly path?: string; readonly message?: string } | undefined;
}

function run({ program, root }: Scene, env: Record<string, string>): Ran {
  const { signal, stdout, stderr } = runProgram(program, [root], env);
  if (signal === null && stderr !== "") throw new Error(stderr);
  const [failure] = stdout.match(/\{.*\}$/) ?? [];
  return {
    killed: signal === "SIGKILL",
    acknowledged: stdout.split("\n").filter((line) => /^\d$/.test(line)).length,
    failure: failure === undefined ? undefined : (JSON.parse(failure) as Ran["failure"]),
  };
}

/** What holds whatever happened: no wrong content, what was acknowledged is so, and the damaged bytes are somewhere. */
async function expectSound({ root }: Scene, acknowledged: number, where: string): Promise<void> {
  const blobs = openBlobs({ path: root });
  const kinds = new Set<string>();
  for await (const { kind, path } of blobs.verify()) {
    kinds.add(kind);
    if (kind === "content") expect(path, where).toBe(pathIn(root, mended));
    else expect(["temporary", "set-aside"], `${where}: ${path}`).toContain(kind);
  }
  expect(kinds.has("content") || kinds.has("set-aside"), where).toBe(true);
  if (acknowledged > 0) expect(blobs.get(hashOf("first"))?.toString(), where).toBe("first");
  if (acknowledged > 1) expect(blobs.get(hashOf("pieces"))?.toString(), where).toBe("pieces");
  if (acknowledged > 3) expect(blobs.get(mended)?.toString(), where).toBe("mended");
  if (acknowledged > 4) expect(blobs.has(going), where).toBe(false);
}

function temporariesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tmp"));
}

async function expectMendable(scene: Scene, where: string): Promise<void> {
  expect(run(scene, {}), where).toEqual({ killed: false, acknowledged: 5, failure: undefined });
  await expectSound(scene, 5, where);
  for (const name of temporariesIn(scene.root)) utimesSync(join(scene.root, name), 1, 1);
  await openBlobs({ path: scene.root }).sweep(() => true);
  expect(temporariesIn(scene.root), where).toEqual([]);
}

function measure(scene: Scene): string[] {
  resetScene(scene);
  const calls = recordCalls(scene.shim, scene.root, (env) => expect(run(scene, env).acknowledged).toBe(5));
  return calls.map(({ name }) => name);
}

describe.skipIf(!canInjectFaults)("openBlobs, interrupted", () => {
  test("has no wrong content and all that was acknowledged after a kill at any system call", {
    timeout: 300_000,
  }, async () => {
    const scene = openScene();
    const calls = measure(scene);
    const counts = new Set<number>();
    for (const [index, call] of calls.entries()) {
      if (call === "open" || call === "fsync" || call === "fdatasync") continue;
      for (const kind of call === "write" ? (["kill", "torn"] as const) : (["kill"] as const)) {
        const where = `${kind} at call ${index + 1}, ${call}`;
        resetScene(scene);
        const ran = run(scene, faultEnvironment({ shim: scene.shim, root: scene.root, at: index + 1, kind }));
        expect(ran.killed, where).toBe(true);
        counts.add(ran.acknowledged);
        await expectSound(scene, ran.acknowledged, where);
        await expectMendable(scene, where);
      }
    }
    expect([...counts].sort()).toEqual([0, 1, 2, 3, 4, 5].slice(0, counts.size));
    expect(counts.size).toBeGreaterThan(4);
  });

  test("leaves no temporary file when the disk refuses a call, names the path and acknowledges nothing", {
    timeout: 300_000,
  }, async () => {
    const scene = openScene();
    const calls = measure(scene);
    const codes: Readonly<Record<number, string>> = { 28: "NO_SPACE", 13: "NO_PERMISSION", 30: "READ_ONLY", 5: "IO" };
    const errnos = Object.keys(codes).map(Number);
    const seen = new Set<string>();
    for (const [index, call] of calls.entries()) {
      const kind = errnos[index % errnos.length] ?? 28;
      const where = `errno ${kind} at call ${index + 1}, ${call}`;
      resetScene(scene);
      const ran = run(scene, faultEnvironment({ shim: scene.shim, root: scene.root, at: index + 1, kind }));
      await expectSound(scene, ran.acknowledged, where);
      if (ran.failure === undefined) {
        expect(ran.acknowledged, where).toBe(5);
        continue;
      }
      seen.add(call);
      expect(ran.failure.code, `${where}: ${ran.failure.message}`).toBe(codes[kind]);
      expect(ran.failure.path, where).toContain(scene.root);
      if (call !== "unlink") expect(temporariesIn(scene.root), where).toEqual([]);
      await expectMendable(scene, where);
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(["create", "write", "fsync", "link", "symlink", "rename", "mkdir"]),
    );
  });

  test("puts by renaming under the lock where no hard link can be made", () => {
    const scene = openScene();
    const calls = measure(scene);
    resetScene(scene);
    const fault: Fault = { shim: scene.shim, root: scene.root, at: calls.indexOf("link") + 1, kind: 1, forever: true };
    const met = recordCalls(scene.shim, scene.root, (env) => {
      expect(run(scene, { ...env, ...faultEnvironment(fault) }).acknowledged).toBe(5);
    });
    const renamed = met.filter(({ name, more }) => name === "rename" && more.endsWith(".tmp")).map(({ path }) => path);
    expect(renamed).toEqual(["first", "pieces", "mended"].map((text) => pathIn(scene.root, hashOf(text))));
    expect(temporariesIn(scene.root)).toEqual([]);
  });
});

describe.skipIf(!canInjectFaults)("openBlobs, after a power cut that loses what was not synced", () => {
  const program = `
    import { openBlobs } from "./index.ts";
    import { mkdirSync } from "node:fs";
    const root = process.argv[2];
    const path = root + "/made/blobs";
    const blobs = openBlobs({ path });
    const unsynced = openBlobs({ path, durability: "os" });
    async function* pieces() { for (const text of ["pie", "ces"]) yield Buffer.from(text); }
    const steps = [
      async () => { await unsynced.put("of another"); await blobs.put("of another"); },
      () => blobs.put("bytes"),
      // Somebody made the folder and did not live to sync it.
      async () => { mkdirSync(path + "/${hashOf("pieces").slice(0, 2)}"); await blobs.put(pieces()); },
      () => blobs.remove("${hashOf("bytes")}"),
    ];
    (async () => {
      for (const [index, step] of steps.entries()) {
        await step();
        mkdirSync(root + "/acknowledged-" + index);
      }
    })();
  `;

  test("has every acknowledged blob, whole, and no other one by its name", { timeout: 300_000 }, async () => {
    const folder = memoryFolder();
    const root = join(folder, "root");
    mkdirSync(root);
    const after = openLostCache(root);
    const built = buildProgram(folder, program);
    const calls = recordCalls(buildFaultShim(folder), root, (env) => {
      expect(runProgram(built, [root], env).stderr).toBe("");
    });
    const isAcknowledgement = ({ path }: Call): boolean => path.includes("/acknowledged-");
    const others = calls.filter((call) => !isAcknowledgement(call));
    const acknowledgedAt = (at: number): number => {
      const next = others[at];
      return calls.slice(0, next === undefined ? calls.length : calls.indexOf(next)).filter(isAcknowledgement).length;
    };
    const blobs = openBlobs({ path: join(root, "made", "blobs") });
    let most = 0;
    for (const state of after(others)) {
      state.restore(root);
      const acknowledged = acknowledgedAt(state.at);
      const texts = [...blobs.hashes()].map((hash) => {
        // Only what was put without a sync and is not yet put again may be half.
        if (hash === hashOf("of another") && acknowledged === 0) return "";
        return blobs.get(hash)?.toString() ?? "";
      });
      // From the third acknowledgement on the bytes are being removed.
      const expected = [["of another"], acknowledged === 2 ? ["bytes"] : [], ["pieces"]].slice(0, acknowledged).flat();
      expect(texts, state.label).toEqual(expect.arrayContaining(expected));
      if (acknowledged > 3) expect(texts, state.label).not.toContain("bytes");
      most = Math.max(most, acknowledged);
    }
    expect(most).toBe(4);
  });
});

describe("openBlobs of several processes", () => {
  test("adds each content once, loses none, and sweeps none that was just put", { timeout: 120_000 }, async () => {
    const folder = memoryFolder();
    const path = join(folder, "blobs");
    const program = buildProgram(
      folder,
      `
        import { openBlobs } from "./index.ts";
        const [path, role] = process.argv.slice(2);
        const blobs = openBlobs({ path });
        const contents = Array.from({ length: 60 }, (_, index) => "content " + index);
        (async () => {
          let added = 0;
          if (role === "sweep") for (let turn = 0; turn < 20; turn += 1) await blobs.sweep(new Set(), { graceMs: 60000 });
          else await Promise.all(contents.map(async (content) => {
            const put = await blobs.put(content);
            if (put.added) added += 1;
            if (blobs.get(put.hash)?.toString() !== content) throw new Error("lost " + content);
          }));
          console.log(added);
        })();
      `,
    );
    const children = ["put", "put", "put", "put", "sweep"].map((role) => startProgram(program, [path, role]));
    const outputs = children.map(async (child) => {
      let text = "";
      child.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      expect(await ended(child)).toEqual({ exit: 0, signal: null });
      return Number(text);
    });
    const added = (await Promise.all(outputs)).reduce((sum, count) => sum + count, 0);
    const blobs = openBlobs({ path });
    expect([added, [...blobs.hashes()].length]).toEqual([60, 60]);
    for await (const problem of blobs.verify()) expect(problem).toBeUndefined();
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(readFileSync(pathIn(path, hashOf("content 0")), "utf8")).toBe("content 0");
  });
});
