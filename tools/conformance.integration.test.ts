import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StateEntry } from "@reeve/store/table";
import { describe, expect, test } from "vitest";
import { check } from "./conformance.ts";
import { writeFixture } from "./source/fixture.ts";

const entry: StateEntry = {
  path: "state/notes/",
  purpose: "Notes.",
  because: "Texts.",
  owner: "records",
  writer: "reeve",
  holds: "directory",
  portability: "carry",
  scope: "checkout",
  invalidates: ["records"],
};

const files = {
  "packages/store/src/atomic.ts": 'import { renameSync } from "node:fs";\n',
  "packages/core/src/git/head.ts": 'import { readFileSync } from "node:fs";\n',
  "packages/core/src/git/head.test.ts": 'import { writeFileSync } from "node:fs";\n',
  "packages/core/src/git/fixture.ts": 'import { writeFileSync } from "node:fs";\n',
  "packages/core/dist/head.ts": 'import { writeFileSync } from "node:fs";\n',
  "packages/core/src/state/table.ts": 'const entries = [\n  { path: "state/notes/" },\n];\n',
  "packages/cli/src/cache.ts": '\nimport { renameSync, rmSync } from "node:fs";\nrmSync("a");\nrmSync("b");\n',
};

const listed = [
  '{"key":"writes-files packages/cli/src/cache.ts rmSync","because":"A cache."}',
  '{"key":"writes-files packages/cli/src/cache.ts renameSync","because":"A cache."}',
  '{"key":"file-per-entry packages/core/src/state/table.ts state/notes/","because":"Texts."}',
];

function checkWith(exceptions: readonly string[], changes: Readonly<Record<string, string>> = {}): string[] {
  const data = exceptions.map((line) => `${line}\n`).join("");
  const root = writeFixture({ ...files, ...changes, "tools/conformance.jsonl": data });
  return check(root, [entry]);
}

describe("check", () => {
  test("is content when every break is listed; tests, builds and the store are left out", () => {
    expect(checkWith(listed)).toEqual([]);
  });

  test("names a break that is not listed, its place, and the line to type", () => {
    expect(checkWith(listed.slice(0, 1))).toEqual([
      'packages/cli/src/cache.ts:2: writes files with renameSync; only @reeve/store writes files. Where that must be so, add to tools/conformance.jsonl: {"key":"writes-files packages/cli/src/cache.ts renameSync","because":"<why>"}',
      'packages/core/src/state/table.ts:2: state/notes/: entries are lines of a store or log, not a file each. Where that must be so, add to tools/conformance.jsonl: {"key":"file-per-entry packages/core/src/state/table.ts state/notes/","because":"<why>"}',
    ]);
  });

  test("does not excuse another symbol or another file by what is listed", () => {
    const changes = {
      "packages/cli/src/cache.ts": `${files["packages/cli/src/cache.ts"]}import { mkdirSync } from "node:fs";\n`,
      "packages/commands/src/a.ts": 'import * as disk from "fs";\ndisk.rmSync("a");\nuse(disk);\n',
    };
    const found = checkWith(listed, changes).map((problem) => problem.split(";")[0]);
    expect(found).toEqual([
      "packages/cli/src/cache.ts:5: writes files with mkdirSync",
      "packages/commands/src/a.ts:2: writes files with rmSync",
      "packages/commands/src/a.ts:3: hands node:fs on, so that nobody can tell who writes",
    ]);
  });

  test("names a listed exception that excuses nothing any more, and its line", () => {
    const root = writeFixture({ ...files, "tools/conformance.jsonl": `${listed.join("\n")}\n` });
    writeFileSync(join(root, "packages/cli/src/cache.ts"), 'import { rmSync } from "node:fs";\n');
    expect(check(root, [])).toEqual([
      'tools/conformance.jsonl:2: "writes-files packages/cli/src/cache.ts renameSync" excuses nothing any more; remove the line',
      'tools/conformance.jsonl:3: "file-per-entry packages/core/src/state/table.ts state/notes/" excuses nothing any more; remove the line',
    ]);
  });

  test("excuses nothing without the file, and reads nothing past a bad line of it", () => {
    const root = writeFixture(files);
    expect(check(root, [entry])).toHaveLength(3);
    expect(() => checkWith([...listed, '{"key":"writes-files"}'])).toThrow(/tools\/conformance\.jsonl:4:/);
    rmSync(join(root, "packages/cli"), { recursive: true });
    expect(check(root, [])).toEqual([]);
  });
});
