import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertBlock, renderBlock } from "./block.ts";

let folder: string;
let layer: string;
let bare: string;

/** A program that says how it was called, and ends as it is told. */
const stub = `#!/bin/sh
echo "called $* hook=$REEVE_HOOK stdin=$(cat)"
exit "\${STUB_EXIT-0}"
`;

function install(name: string, text: string, mode = 0o755): string {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode });
  return file;
}

beforeAll(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve block ")));
  layer = path.dirname(path.dirname(install("with layer/.ai/manifest.yaml", "")));
  bare = path.dirname(install("without/readme", ""));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(hook: string, cwd: string, env: Readonly<Record<string, string>> = {}): Run {
  const file = install("hooks/pre-commit", hook);
  const bin = path.join(folder, "bin");
  const done = spawnSync(file, ["an argument"], {
    cwd,
    env: { HOME: folder, PATH: `${bin}:/usr/bin:/bin`, ...env },
    input: "what git said",
    encoding: "utf8",
  });
  return { exit: done.status, stdout: done.stdout, stderr: done.stderr };
}

const own = "echo own; exit 7\n";

function hookWith(program: string | undefined): string {
  return insertBlock(`#!/bin/sh\n${own}`, renderBlock("pre-commit", program));
}

describe("renderBlock", () => {
  test("renderBlock calls the program that wired it, and goes on to what stands below", () => {
    const program = install("it's $(touch made) here/reeve", stub);
    expect(run(hookWith(program), layer)).toEqual({
      exit: 7,
      stdout: "called doctor hook=pre-commit stdin=\nown\n",
      stderr: "",
    });
    expect(fs.existsSync(path.join(layer, "made"))).toBe(false);
  });

  test.each(["1", "10", "13", "15"])("renderBlock passes the exit code %s on, and stops there", (code) => {
    const program = install("some/reeve", stub);
    const done = run(hookWith(program), layer, { STUB_EXIT: code });
    expect([done.exit, done.stdout.includes("own")]).toEqual([Number(code), false]);
  });

  test("renderBlock asks PATH once the program is gone, or is not executable", () => {
    install("bin/reeve", stub);
    for (const program of [undefined, path.join(folder, "gone"), install("plain/reeve", stub, 0o644)])
      expect(run(hookWith(program), layer).stdout).toContain("called doctor");
    fs.rmSync(path.join(folder, "bin"), { recursive: true });
  });

  test("renderBlock warns and passes where no reeve is installed", () => {
    const done = run(hookWith(undefined), layer);
    expect([done.exit, done.stdout]).toEqual([7, "own\n"]);
    expect(done.stderr).toMatch(/^reeve: not installed here, so pre-commit was not checked/);
  });

  test("renderBlock does nothing on a branch without a layer, and nothing when it is switched off", () => {
    const program = install("some/reeve", stub);
    const silent = { exit: 7, stdout: "own\n", stderr: "" };
    expect(run(hookWith(program), bare)).toEqual(silent);
    expect(run(hookWith(program), layer, { REEVE_DISABLE: "1" })).toEqual(silent);
  });

  test("renderBlock answers a canary at once and runs nothing", () => {
    const program = install("some/reeve", stub);
    for (const cwd of [layer, bare]) {
      const done = run(hookWith(program), cwd, { REEVE_CANARY: "1" });
      expect(done).toEqual({ exit: 0, stdout: `reeve canary pre-commit ${folder}/hooks/pre-commit\n`, stderr: "" });
    }
  });

  test("renderBlock is sound under a shell that stops at errors and unset variables", () => {
    const program = install("some/reeve", stub);
    for (const known of [program, undefined]) {
      const hook = insertBlock("#!/bin/sh -eu\necho own\n", renderBlock("pre-commit", known));
      const done = run(hook, layer);
      expect([done.exit, done.stdout.endsWith("own\n")], String(known)).toEqual([0, true]);
    }
  });
});
