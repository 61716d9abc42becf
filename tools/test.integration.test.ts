import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFixture } from "./source/fixture.ts";

const here = process.cwd();
const build = `
import { mkdirSync, writeFileSync } from "node:fs";
export function main(): number {
  mkdirSync("packages/cli/dist", { recursive: true });
  mkdirSync("packages/cli/bin", { recursive: true });
  writeFileSync("packages/cli/dist/main.cjs", "");
  writeFileSync("packages/cli/bin/reeve.cjs", "");
  console.log("built");
  return 0;
}
`;

function run(tests: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const root = writeFixture({
    ...tests,
    "package.json": '{ "type": "module" }',
    "vitest.config.ts": 'export default { test: { include: ["cases/*.test.ts"] } };',
    "packages/cli/src/main.ts": "",
  });
  for (const part of ["run.mjs", "test.ts", "verdict", "source"]) {
    cpSync(join(here, "tools", part), join(root, "tools", part), { recursive: true });
  }
  cpSync(writeFixture({ "build.ts": build }), join(root, "tools"), { recursive: true });
  symlinkSync(join(here, "node_modules"), join(root, "node_modules"));
  return { root, start: () => start(root, args) };
}

function start(root: string, args: readonly string[]) {
  const outer = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|NODE_ENV)/.test(name));
  const ran = spawnSync(process.execPath, ["tools/run.mjs", "test", ...args], {
    cwd: root,
    encoding: "utf8",
    env: { ...Object.fromEntries(outer), HOME: root, NODE_EXTRA_CA_CERTS: "/nowhere.pem", GIT_DIR: "/nowhere" },
  });
  const lines = ran.stdout.trimEnd().split("\n");
  return { exit: ran.status, out: ran.stdout, last: lines.at(-1), lines };
}

const passing = 'import { test } from "vitest";\ntest("holds", () => {});\n';

describe("npm test", () => {
  test("builds once, runs every file and ends with the counts", () => {
    const { start } = run({ "cases/a.test.ts": passing, "cases/b.test.ts": passing });
    const first = start();
    expect(first).toMatchObject({ exit: 0, last: "2 passed, 0 failed, 0 skipped" });
    expect(first.lines[0]).toBe("built");
    expect(start().out).not.toContain("built");
  });

  test("fails for a failing test, a file that does not load, a broken setup and a stray rejection, and lists what was skipped", () => {
    const cases = `
      import { beforeAll, describe, test } from "vitest";
      test("fails", () => { throw new Error("no"); });
      test("needs a browser", ({ skip }) => skip("no Chromium here"));
      test.skip("is left out", () => {});
      describe("group", () => {
        beforeAll(() => { throw new Error("no"); });
        test("waits for its setup", () => {});
      });
      test("leaves a rejection", () => { void Promise.reject(new Error("stray")); });
    `;
    const { start } = run({ "cases/a.test.ts": cases, "cases/b.test.ts": 'import "./gone.ts";\n' });
    const ran = start();
    expect(ran).toMatchObject({ exit: 1, last: "1 passed, 4 failed, 3 skipped" });
    expect(ran.out).toContain("FAILED cases/b.test.ts failed outside its tests\n");
    expect(ran.out).toContain('FAILED cases/a.test.ts: the setup of "group" failed\n');
    expect(ran.out).toContain("SKIPPED cases/a.test.ts: group > waits for its setup (its setup failed)\n");
    expect(ran.out).toContain("FAILED errors that no test caught: 1\n");
    expect(ran.out).toContain("SKIPPED cases/a.test.ts: needs a browser (no Chromium here)\n");
    expect(ran.out).toContain("SKIPPED cases/a.test.ts: is left out (marked as skipped, without a reason)\n");
  });

  test("fails when no test ran, and when a focused test hides the others", () => {
    expect(run({ "cases/a.test.ts": passing }, ["nowhere"]).start()).toMatchObject({
      exit: 1,
      last: "0 passed, 0 failed, 0 skipped",
    });
    const focused = `${passing}test.only("alone", () => {});\n`;
    expect(run({ "cases/a.test.ts": focused }).start().exit).toBe(1);
  });

  test("hands its arguments to vitest", () => {
    const two = `${passing}test("also holds", () => {});\n`;
    const named = run({ "cases/a.test.ts": two, "cases/b.test.ts": passing }, ["cases/a", "-t", "also"]).start();
    expect(named).toMatchObject({ exit: 0, last: "1 passed, 0 failed, 0 skipped" });
  });

  test("gives tests a home of their own, a neutral git and no certificates, and removes the home", () => {
    const prints = `
      import { writeFileSync } from "node:fs";
      import { tmpdir } from "node:os";
      import { test } from "vitest";
      test("tells", () => writeFileSync("seen.json", JSON.stringify({ ...process.env, tmp: tmpdir() })));
    `;
    const { root, start } = run({ "cases/a.test.ts": prints });
    expect(start().exit).toBe(0);
    const seen: Record<string, string> = JSON.parse(readFileSync(join(root, "seen.json"), "utf8"));
    const home = seen["HOME"] ?? "";
    expect(home).not.toBe(root);
    expect(seen["XDG_STATE_HOME"]).toBe(join(home, ".local/state"));
    expect(seen["tmp"]).toBe(join(home, "../tmp"));
    expect(seen["GIT_CONFIG_GLOBAL"]).toBe("/dev/null");
    expect(seen["GIT_DIR"]).toBeUndefined();
    expect(seen["NODE_EXTRA_CA_CERTS"]).toBeUndefined();
    expect(existsSync(home)).toBe(false);
  });
});
