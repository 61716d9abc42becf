import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFixture } from "./source/fixture.ts";

const here = process.cwd();

function writeTools(files: Readonly<Record<string, string>>): string {
  const root = writeFixture({ ...files, "package.json": '{ "type": "module" }' });
  cpSync(join(here, "tools/run.mjs"), join(root, "tools/run.mjs"));
  symlinkSync(join(here, "node_modules"), join(root, "node_modules"));
  return root;
}

function run(root: string, args: readonly string[], cwd = root) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "tools/run.mjs"), ...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, HOME: root },
  });
  return { exit: status, stdout, stderr };
}

const echo = `
import { join } from "./parts/join.ts";
export async function main(args: readonly string[]): Promise<number> {
  console.log(join(args), process.cwd());
  return args.length;
}
`;

describe("tools/run.mjs", () => {
  test("runs the tool at the root with its arguments, and exits with its number", () => {
    const root = writeTools({
      "tools/echo.ts": echo,
      "tools/parts/join.ts": 'export const join = (parts: readonly string[]): string => parts.join("+");',
    });
    expect(run(root, ["echo", "a", "--b", "c"], join(root, "tools"))).toEqual({
      exit: 3,
      stdout: `a+--b+c ${root}\n`,
      stderr: "",
    });
  });

  test("lists the tools when it is given none or one that does not exist", () => {
    const root = writeTools({ "tools/echo.ts": echo, "tools/echo.test.ts": "", "tools/data.json": "{}" });
    expect(run(root, ["shout"])).toEqual({
      exit: 2,
      stdout: "",
      stderr: 'There is no tool "shout". The tools: echo.\n',
    });
    expect(run(root, [])).toMatchObject({ exit: 2, stderr: "Name a tool. The tools: echo.\n" });
  });

  test("fails where the tool throws, naming the line of the source, and leaves nothing behind", () => {
    const root = writeTools({
      "tools/break.ts": 'type A = string;\nexport function main(): number {\n  throw new Error("broken");\n}\n',
    });
    const ran = run(root, ["break"]);
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toContain("tools/break.ts:3");
    const cache = join(root, "node_modules/.cache/reeve-tools");
    expect(existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith("break.")) : []).toEqual([]);
  });
});
