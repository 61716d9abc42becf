import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildProgram, runProgram } from "./testing/child.ts";
import { temporaryFolder } from "./testing/folder.ts";

/** Modules of Node that cost a command milliseconds to load. */
const slow = ["crypto", "child_process", "fs/promises", "net", "stream", "http", "worker_threads"];

describe("a command that takes a lock and applies a plan", () => {
  test("loads none of Node's slow modules, unless an expectation needs SHA-256", () => {
    const folder = temporaryFolder();
    const root = join(folder, "root");
    mkdirSync(root);
    const program = buildProgram(
      folder,
      `
        import { applyPlan, describePlan, openDocument, openLog, readPending, recoverPlan, withLock } from "./index.ts";
        const slow = ${JSON.stringify(slow)};
        const before = new Set(process.moduleLoadList);
        const loaded = () =>
          slow.filter((name) => process.moduleLoadList.includes("NativeModule " + name) && !before.has("NativeModule " + name));
        const [root, journal] = process.argv.slice(2);
        const changes = [
          { kind: "write", root, path: "a", bytes: "a", expect: "absent" },
          { kind: "append", root, path: "b", bytes: "b" },
        ];
        (async () => {
          await withLock(root + "/lock", {}, async () => {
            readPending(journal);
            await recoverPlan({ journal });
            describePlan({ changes });
            await applyPlan({ changes }, { journal });
            await applyPlan({ changes: [...changes.slice(1), { kind: "write", root, path: "a", bytes: "c", expect: { bytes: "a" } }] }, { journal });
          });
          [...openLog({ path: root + "/b" }).read()];
          openDocument({ path: root + "/c", steps: [], parse: (members) => members }).read();
          const quick = loaded();
          const sha256 = "0".repeat(64);
          await applyPlan({ changes: [{ ...changes[0], expect: { sha256 } }] }, { journal }).catch(() => {});
          console.log(JSON.stringify({ quick, after: loaded() }));
        })();
      `,
    );
    const { stdout, stderr } = runProgram(program, [root, join(folder, "run", "journal")]);
    expect(stderr).toBe("");
    const { quick, after } = JSON.parse(stdout) as { quick: string[]; after: string[] };
    expect(quick).toEqual([]);
    expect(after).toContain("crypto");
  });
});
