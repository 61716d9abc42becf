import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyPlan, recoverPlan } from "./apply.ts";
import { checksum } from "./checksum.ts";
import { readPending } from "./pending.ts";
import type { Change } from "./plan.ts";
import { buildProgram, type Program, runProgram } from "./testing/child.ts";
import { buildFaultShim, canInjectFaults, type Fault, faultEnvironment, recordCalls } from "./testing/fault.ts";
import { memoryFolder, modeOf, treeOf } from "./testing/folder.ts";

const large = "0123456789abcdef".repeat(20_000);

/** A plan with every kind of change, more than one of some. */
function changesIn(root: string): readonly Change[] {
  return [
    { kind: "write", root, path: "kept.txt", bytes: "new\n" },
    { kind: "write", root, path: "made/deep/new.txt", bytes: "made\n", dirMode: 0o700 },
    { kind: "append", root, path: "torn.jsonl", bytes: '{"n":2}\n' },
    { kind: "rename", root, from: "ledger.jsonl", path: "archive/ledger-1.jsonl" },
    { kind: "append", root, path: "ledger.jsonl", bytes: '{"n":9}\n' },
    { kind: "remove", root, path: "gone.txt" },
    { kind: "symlink", root, path: "link", target: "made" },
    { kind: "mkdir", root, path: "empty", mode: 0o700 },
    { kind: "chmod", root, path: "script", mode: 0o755 },
    { kind: "write", root, path: "large.txt", bytes: large },
  ];
}

interface Scene {
  /** Holds only what the plan touches. */
  readonly root: string;
  /** The file that holds the plan. */
  readonly plan: string;
  readonly journal: string;
  readonly program: Program;
  readonly shim: string;
}

const source = `
  import { applyPlan, recoverPlan } from "./index.ts";
  import { readFileSync } from "node:fs";
  const [verb, journal, plan] = process.argv.slice(2);
  const work = verb === "recover" ? recoverPlan({ journal }) : applyPlan(JSON.parse(readFileSync(plan, "utf8")), { journal });
  work.then(
    () => console.log(JSON.stringify({ done: true })),
    (error) => console.log(JSON.stringify({ code: error.code, path: error.path, pending: error.details?.pending === true })),
  );
`;

function openScene(): Scene {
  const folder = memoryFolder();
  const root = join(folder, "root");
  const plan = join(folder, "plan.json");
  writeFileSync(plan, JSON.stringify({ changes: changesIn(root) }));
  return {
    root,
    plan,
    journal: join(root, "run", "journal"),
    program: buildProgram(folder, source),
    shim: buildFaultShim(folder),
  };
}

function resetScene({ root }: Scene): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "kept.txt"), "old\n");
  writeFileSync(join(root, "torn.jsonl"), '{"n":1}\n{"n"');
  writeFileSync(join(root, "ledger.jsonl"), '{"n":8}\n');
  writeFileSync(join(root, "gone.txt"), "going\n");
  symlinkSync("elsewhere", join(root, "link"));
  writeFileSync(join(root, "script"), "#!/bin/sh\n");
  chmodSync(join(root, "script"), 0o644);
}

interface Answer {
  readonly done?: boolean;
  readonly code?: string;
  readonly path?: string;
  readonly pending?: boolean;
}

function run(scene: Scene, verb: "apply" | "recover", env: Record<string, string>): Answer | "killed" {
  const args = [verb, scene.journal, scene.plan];
  const { signal, stdout, stderr } = runProgram(scene.program, args, env);
  if (signal === "SIGKILL") return "killed";
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Answer;
}

/** Everything but the journal's folder, and but for folders that hold nothing yet. */
function contentsOf({ root }: Scene): Record<string, string> {
  const entries = Object.entries(treeOf(root)).filter(([path]) => path !== "run" && !path.startsWith("run/"));
  for (const entry of entries)
    if (entry[1].length > 1000) entry[1] = `${entry[1].length} characters, ${checksum(Buffer.from(entry[1]))}`;
  const used = entries.filter(([path, holds]) => holds !== "/" || path === "empty");
  return { ...Object.fromEntries(used), "mode of script": modeOf(join(root, "script")).toString(8) };
}

function leftoversOf({ root }: Scene): string[] {
  return Object.keys(treeOf(root)).filter((path) => path.endsWith(".tmp") || path.startsWith("run/"));
}

interface Measured {
  readonly before: Record<string, string>;
  readonly after: Record<string, string>;
  readonly calls: readonly string[];
}

function measure(scene: Scene): Measured {
  resetScene(scene);
  const before = contentsOf(scene);
  const made = recordCalls(scene.shim, scene.root, (env) => expect(run(scene, "apply", env)).toEqual({ done: true }));
  const calls = made.map(({ name }) => name);
  return { before, after: contentsOf(scene), calls };
}

function faultsOf(
  scene: Scene,
  calls: readonly string[],
  kinds: (call: string, at: number) => readonly Fault["kind"][],
): Fault[] {
  const { shim, root } = scene;
  return calls.flatMap((call, index) => kinds(call, index + 1).map((kind) => ({ shim, root, at: index + 1, kind })));
}

/** A process that dies before a call that changes nothing leaves what it leaves before the next one. */
function deaths(call: string): readonly Fault["kind"][] {
  if (call === "open" || call === "fsync") return [];
  return call === "write" ? ["kill", "torn"] : ["kill"];
}

describe.skipIf(!canInjectFaults)("applyPlan, interrupted", () => {
  test("is done or not begun after a kill before any of its system calls and within any write", {
    timeout: 300_000,
  }, async () => {
    const scene = openScene();
    const { before, after, calls } = measure(scene);
    const ends = { before: 0, after: 0 };
    for (const fault of faultsOf(scene, calls, deaths)) {
      const where = `${fault.kind} at call ${fault.at}, ${calls[fault.at - 1]}`;
      resetScene(scene);
      expect(run(scene, "apply", faultEnvironment(fault)), where).toBe("killed");
      const pending = readPending(scene.journal);
      const seen = readThrough(scene, (path) => pending?.read(path));
      const report = await recoverPlan({ journal: scene.journal });
      expect(report?.left ?? [], where).toEqual([]);
      const now = contentsOf(scene);
      expect(
        readThrough(scene, () => undefined),
        where,
      ).toEqual(seen);
      if (pending !== undefined) expect(now, where).toEqual(after);
      const isAfter = now["large.txt"] !== undefined;
      expect(now, where).toEqual(isAfter ? after : before);
      ends[isAfter ? "after" : "before"] += 1;
      await applyPlan({ changes: changesIn(scene.root).slice(0, 2) }, { journal: scene.journal });
      expect(leftoversOf(scene), where).toEqual([]);
    }
    expect(Math.min(ends.before, ends.after)).toBeGreaterThan(5);
  });

  test("is finished by the recovery after the one that was killed", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { after, calls } = measure(scene);
    const { shim, root } = scene;
    const half = calls.lastIndexOf("symlink") + 1;
    const interrupt = (): void => {
      resetScene(scene);
      expect(run(scene, "apply", faultEnvironment({ shim, root, at: half, kind: "kill" }))).toBe("killed");
    };
    interrupt();
    const recovery = recordCalls(shim, root, (env) => expect(run(scene, "recover", env)).toEqual({ done: true }));
    const again = recovery.map(({ name }) => name);
    expect(again.length).toBeGreaterThan(10);
    for (const fault of faultsOf(scene, again, deaths)) {
      interrupt();
      expect(run(scene, "recover", faultEnvironment(fault))).toBe("killed");
      await recoverPlan({ journal: scene.journal });
      expect(contentsOf(scene), `${fault.kind} at call ${fault.at}`).toEqual(after);
      expect(leftoversOf(scene)).toEqual([]);
    }
  });
});

describe.skipIf(!canInjectFaults)("applyPlan, refused by the disk", () => {
  const codes: Readonly<Record<number, string>> = {
    28: "NO_SPACE",
    13: "NO_PERMISSION",
    30: "READ_ONLY",
    5: "IO",
    24: "IO",
  };

  test("names the path and either changes nothing or is finished later", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { before, after, calls } = measure(scene);
    const errnos = Object.keys(codes).map(Number);
    const kinds = (_call: string, at: number): readonly number[] => [errnos[at % errnos.length] ?? 28];
    const seen = { unchanged: 0, pending: 0 };
    for (const fault of faultsOf(scene, calls, kinds)) {
      const where = `errno ${fault.kind} at call ${fault.at}, ${calls[fault.at - 1]}`;
      resetScene(scene);
      const answer = run(scene, "apply", faultEnvironment(fault));
      if (answer === "killed") throw new Error(where);
      if (answer.done === true) {
        expect(contentsOf(scene), where).toEqual(after);
        continue;
      }
      expect(answer.code, where).toBe(codes[Number(fault.kind)]);
      expect(answer.path, where).toContain(scene.root);
      if (answer.pending !== true) expect(contentsOf(scene), where).toEqual(before);
      expect((await recoverPlan({ journal: scene.journal })) !== undefined, where).toBe(answer.pending);
      expect(contentsOf(scene), where).toEqual(answer.pending === true ? after : before);
      expect(leftoversOf(scene), where).toEqual([]);
      seen[answer.pending === true ? "pending" : "unchanged"] += 1;
    }
    expect(Math.min(seen.unchanged, seen.pending)).toBeGreaterThan(5);
  });
});

/** What a reader sees who asks the pending plan first. */
function readThrough(
  { root }: Scene,
  read: (path: string) => Uint8Array | "absent" | undefined,
): Record<string, string> {
  const names = [
    "kept.txt",
    "made/deep/new.txt",
    "torn.jsonl",
    "archive/ledger-1.jsonl",
    "ledger.jsonl",
    "gone.txt",
    "large.txt",
  ];
  return Object.fromEntries(
    names.map((name) => {
      const path = join(root, name);
      const bytes = read(path) ?? (existsSync(path) ? readFileSync(path) : "absent");
      return [name, bytes === "absent" ? bytes : `${bytes.length} ${checksum(bytes)}`];
    }),
  );
}
