import { describe, expect, test } from "vitest";
import { judgeAccess, type MachineRules } from "./machine-access.ts";
import { parseModule } from "./source/module.ts";

const rules: MachineRules = {
  owners: ["packages/store/src/", "packages/core/src/system/", "packages/cli/src/"],
  exitCodeOwner: "packages/cli/src/main.ts",
  pureModules: ["node:path"],
  globals: ["process", "console", "fetch"],
  members: ["Date.now", "Math.random"],
  exceptions: [],
};

function judge(path: string, text: string, changes: Partial<MachineRules> = {}): string[] {
  return judgeAccess([parseModule(path, text)], { ...rules, ...changes });
}

function uses(text: string): string[] {
  return judge("packages/core/src/git/head.ts", text).map((problem) => /uses (.+?): /.exec(problem)?.[1] ?? problem);
}

describe("judgeAccess", () => {
  test.each([
    ['import { readFileSync } from "node:fs";', "node:fs"],
    ['import fs from "fs/promises";', "node:fs/promises"],
    ['export { spawn } from "node:child_process";', "node:child_process"],
    ['const os = await import("node:os");', "node:os"],
    ['const http = require("node:http2");', "node:http2"],
    ["const home = process.env.HOME;", "process.env"],
    ['const home = process["env"]["HOME"];', "process.env"],
    ["const { env } = process;", "process"],
    ["read(process);", "process"],
    ["const where = (process as NodeJS.Process).cwd();", "process"],
    ["const where = globalThis.process.cwd();", "process.cwd"],
    ["const args = { args: process.argv };", "process.argv"],
    ["const held = { process };", "process"],
    ["await fetch(address);", "fetch"],
    ["const now = Date.now();", "Date.now"],
    ["const now = new Date();", "new Date()"],
    ["const id = Math.random();", "Math.random"],
  ])("names what `%s` reaches", (text, name) => {
    expect(uses(text)).toContain(name);
  });

  test.each([
    'import { join } from "node:path";',
    'import type { Stats } from "node:fs";',
    "const day = new Date(seconds * 1000);",
    "const kept = record.process.env;",
    "const named = { process: 1, console: 2, fetch() {} };",
    "interface Named { process: NodeJS.Process }",
    "type Running = typeof process;",
    'const said = "process.env";',
    "const low = Math.min(a, b);",
  ])("finds nothing in `%s`", (text) => {
    expect(uses(text)).toEqual([]);
  });

  test("lets the owners touch the machine, and only them", () => {
    const text = 'import "node:fs";\nexport const home = process.env["HOME"];';
    for (const owner of rules.owners) expect(judge(`${owner}x.ts`, text)).toEqual([]);
    expect(judge("packages/commands/src/work/start.ts", text)).toHaveLength(2);
  });

  test("lets one file alone end the process", () => {
    const text = "process.exitCode = 1;";
    expect(judge("packages/cli/src/main.ts", text)).toEqual([]);
    expect(judge("packages/cli/src/print.ts", text)).toEqual([
      "packages/cli/src/print.ts:1 uses process.exitCode: only packages/cli/src/main.ts ends the process",
    ]);
    expect(judge("packages/store/src/lock.ts", "\nprocess.exit(1);")).toEqual([
      "packages/store/src/lock.ts:2 uses process.exit: only packages/cli/src/main.ts ends the process",
    ]);
  });

  test("lets nobody print to the console", () => {
    expect(judge("packages/cli/src/main.ts", "console.log(1);")).toEqual([
      "packages/cli/src/main.ts:1 uses console.log: a command returns what is to be printed",
    ]);
  });

  test("excuses what an exception names, in that file and for that use alone", () => {
    const exceptions = [{ file: "packages/core/src/a.ts", uses: "node:os", because: "asks for the line end only" }];
    expect(judge("packages/core/src/a.ts", 'import "node:os";', { exceptions })).toEqual([]);
    expect(judge("packages/core/src/a.ts", 'import "node:os";\nimport "node:fs";', { exceptions })).toHaveLength(1);
  });

  test("names an exception that excuses nothing and one without a reason", () => {
    const stale = [{ file: "packages/core/src/a.ts", uses: "node:os", because: "was needed" }];
    expect(judge("packages/core/src/a.ts", "export const a = 1;", { exceptions: stale })).toEqual([
      "tools/machine-access.json: the exception for node:os in packages/core/src/a.ts excuses nothing any more; remove it",
    ]);
    const bare = [{ file: "packages/core/src/a.ts", uses: "node:os", because: " " }];
    expect(judge("packages/core/src/a.ts", 'import "node:os";', { exceptions: bare })).toEqual([
      "tools/machine-access.json: the exception for node:os in packages/core/src/a.ts has no reason",
    ]);
  });
});
