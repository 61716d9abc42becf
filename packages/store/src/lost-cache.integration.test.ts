import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recoverPlan } from "./apply.ts";
import { type Document, openDocument } from "./document.ts";
import { openLog } from "./log.ts";
import { buildProgram, runProgram } from "./testing/child.ts";
import { buildFaultShim, type Call, canInjectFaults, recordCalls } from "./testing/fault.ts";
import { memoryFolder, treeOf } from "./testing/folder.ts";
import { type LostState, openLostCache } from "./testing/lost-cache.ts";

interface Rehearsal {
  readonly root: string;
  readonly calls: readonly Call[];
  states(): Generator<LostState>;
}

/** Runs a program once on a real disk and then knows what a power cut at any point of the run could have left. */
function rehearse(source: string, args: readonly string[], prepare: (root: string) => void): Rehearsal {
  const folder = memoryFolder();
  const root = join(folder, "root");
  mkdirSync(root);
  prepare(root);
  const after = openLostCache(root);
  const program = buildProgram(folder, source);
  const calls = recordCalls(buildFaultShim(folder), root, (env) => {
    expect(runProgram(program, [root, ...args], env).stderr).toBe("");
  });
  return { root, calls, states: () => after(calls.filter(({ path }) => !isAcknowledgement(path))) };
}

/** The program makes a folder of this name when something was acknowledged; it is no part of what is tested. */
function isAcknowledgement(path: string): boolean {
  return path.includes("/acknowledged-");
}

/** How many acknowledgements came before that many of the other calls. */
function acknowledgedAt(calls: readonly Call[], at: number): number {
  let others = 0;
  let count = 0;
  for (const { path } of calls) {
    if (isAcknowledgement(path)) count += 1;
    else if (others === at) return count;
    else others += 1;
  }
  return count;
}

describe.skipIf(!canInjectFaults)("after a power cut that loses what was not synced", () => {
  test("applyPlan has done all of a plan or nothing, and all of it once it has returned", {
    timeout: 300_000,
  }, async () => {
    const source = `
      import { applyPlan } from "./index.ts";
      import { mkdirSync } from "node:fs";
      const root = process.argv[2];
      const changes = [
        { kind: "write", root, path: "kept", bytes: "new" },
        { kind: "write", root, path: "made/deep/file", bytes: "made" },
        { kind: "rename", root, from: "log", path: "archive/log-1" },
        { kind: "append", root, path: "log", bytes: "9\\n" },
        { kind: "append", root, path: "grown", bytes: "2\\n" },
        { kind: "remove", root, path: "gone" },
        { kind: "symlink", root, path: "link", target: "made" },
        { kind: "mkdir", root, path: "empty" },
        { kind: "write", root, path: "large", bytes: "x".repeat(262145) },
      ];
      applyPlan({ changes }, { journal: root + "/run/journal" }).then(() => mkdirSync(root + "/acknowledged-1"));
    `;
    const { root, calls, states } = rehearse(source, [], (folder) => {
      for (const [name, text] of Object.entries({ kept: "old", log: "1\n", grown: "1\n", gone: "g" })) {
        writeFileSync(join(folder, name), text);
      }
      symlinkSync("elsewhere", join(folder, "link"));
    });
    const contents = (): Record<string, string> => {
      const entries = Object.entries(treeOf(root)).filter(([path]) => !/^run(?:\/|$)|^acknowledged|\.tmp$/.test(path));
      return Object.fromEntries(entries.map(([path, text]) => [path, text.length > 99 ? `${text.length}` : text]));
    };
    const after = contents();
    let count = 0;
    const ends = { before: 0, after: 0 };
    for (const state of states()) {
      state.restore(root);
      const report = await recoverPlan({ journal: join(root, "run", "journal") });
      expect(report?.left ?? [], state.label).toEqual([]);
      const now = contents();
      const isAfter = now["kept"] === "new";
      if (isAfter) expect(now, state.label).toEqual(after);
      else expect(now, state.label).toEqual({ kept: "old", log: "1\n", grown: "1\n", gone: "g", link: "-> elsewhere" });
      if (acknowledgedAt(calls, state.at) > 0) expect(isAfter, state.label).toBe(true);
      ends[isAfter ? "after" : "before"] += 1;
      count += 1;
    }
    expect(count).toBeGreaterThan(300);
    expect(Math.min(ends.before, ends.after)).toBeGreaterThan(20);
  });

  test("a single change is whole or absent, and there once it was acknowledged", { timeout: 300_000 }, () => {
    const source = `
      import { applyPlan, writeFileAtomic, ensureDir, removeFile } from "./index.ts";
      import { mkdirSync } from "node:fs";
      const root = process.argv[2];
      const journal = root + "/journal";
      const work = [
        () => writeFileAtomic(root + "/a", "new"),
        () => ensureDir(root + "/d/e"),
        () => writeFileAtomic(root + "/d/e/f", "new"),
        () => removeFile(root + "/gone"),
        () => applyPlan({ changes: [{ kind: "append", root, path: "x/log", bytes: "1\\n" }] }, { journal }),
        () => applyPlan({ changes: [{ kind: "append", root, path: "x/log", bytes: "2\\n" }] }, { journal }),
        () => applyPlan({ changes: [{ kind: "rename", root, from: "b", path: "y/b" }] }, { journal }),
      ];
      (async () => {
        for (const [index, run] of work.entries()) {
          await run();
          mkdirSync(root + "/acknowledged-" + index);
        }
      })();
    `;
    const { root, calls, states } = rehearse(source, [], (folder) => {
      for (const name of ["a", "b", "gone"]) writeFileSync(join(folder, name), "old");
    });
    const seen = new Set<string>();
    for (const state of states()) {
      state.restore(root);
      const tree = treeOf(root);
      const done = [
        tree["a"] === "new",
        tree["d/e"] === "/",
        tree["d/e/f"] === "new",
        tree["gone"] === undefined,
        tree["x/log"]?.startsWith("1\n") === true,
        tree["x/log"] === "1\n2\n",
        tree["y/b"] === "old" && tree["b"] === undefined,
      ];
      const acknowledged = acknowledgedAt(calls, state.at);
      expect(done.slice(0, acknowledged), state.label).toEqual(done.slice(0, acknowledged).map(() => true));
      expect(["old", "new"], state.label).toContain(tree["a"]);
      expect([undefined, "new"], state.label).toContain(tree["d/e/f"]);
      expect([undefined, "old"], state.label).toContain(tree["gone"]);
      expect("1\n2\n", state.label).toContain(tree["x/log"] ?? "");
      expect(
        [tree["b"], tree["y/b"]].filter((text) => text === "old"),
        state.label,
      ).toHaveLength(1);
      seen.add(done.join());
    }
    expect(seen.size).toBeGreaterThan(6);
  });

  test("openLog has every acknowledged entry and no half one", { timeout: 300_000 }, async () => {
    const source = `
      import { openLog } from "./index.ts";
      import { mkdirSync } from "node:fs";
      const root = process.argv[2];
      const log = openLog({ path: root + "/logs/log" });
      (async () => {
        for (const n of [1, 2, 3]) {
          await log.append({ n });
          mkdirSync(root + "/acknowledged-" + n);
        }
        await log.close();
      })();
    `;
    const { root, calls, states } = rehearse(source, [], () => {});
    let most = 0;
    for (const state of states()) {
      state.restore(root);
      const log = openLog<{ n: number }>({ path: join(root, "logs", "log") });
      const found = [...log.read()].map(({ value }) => value.n);
      expect(found, state.label).toEqual([1, 2, 3].slice(0, found.length));
      const acknowledged = acknowledgedAt(calls, state.at);
      expect(found.length, state.label).toBeGreaterThanOrEqual(acknowledged);
      most = Math.max(most, acknowledged);
    }
    expect(most).toBe(3);
  });

  test("openDocument holds what was acknowledged, and is never damaged", { timeout: 300_000 }, () => {
    const source = `
      import { openDocument } from "./index.ts";
      import { mkdirSync } from "node:fs";
      const root = process.argv[2];
      const document = openDocument({ path: root + "/made/a.json", steps: [], parse: (members) => members, lastGood: true });
      (async () => {
        for (const n of [1, 2, 3]) {
          await document.update(() => ({ n }));
          mkdirSync(root + "/acknowledged-" + n);
        }
      })();
    `;
    const { root, calls, states } = rehearse(source, [], () => {});
    const document: Document<Readonly<Record<string, unknown>>> = openDocument({
      path: join(root, "made", "a.json"),
      steps: [],
      parse: (members) => members,
    });
    const seen = new Set<number>();
    for (const state of states()) {
      state.restore(root);
      const found = document.read();
      expect(["absent", "loaded"], state.label).toContain(found.kind);
      const n = found.kind === "loaded" ? Number(found.value["n"]) : 0;
      expect(n, state.label).toBeGreaterThanOrEqual(acknowledgedAt(calls, state.at));
      seen.add(n);
    }
    expect([...seen].sort()).toEqual([0, 1, 2, 3]);
  });
});
