import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFixture } from "./source/fixture.ts";

const recorder = '#!/bin/bash\necho "$(basename "$0") $*" >> "$RECORD"\n[[ "$*" != "$FAIL" ]]\n';

/** Runs `.ci/run` where every program it may call only writes down that it was called. */
function run(programs: readonly string[], fail = "") {
  const root = writeFixture(Object.fromEntries(programs.map((name) => [`bin/${name}`, recorder])));
  for (const name of programs) chmodSync(join(root, "bin", name), 0o755);
  for (const name of ["bash", "basename", "dirname", "env"]) symlinkSync(findProgram(name), join(root, "bin", name));
  cpSync(join(process.cwd(), ".ci/run"), join(root, ".ci/run"));
  const record = join(root, "record");
  const env = { PATH: join(root, "bin"), HOME: root, RECORD: record, FAIL: fail };
  const { status } = spawnSync(join(root, "bin/bash"), [join(root, ".ci/run")], { cwd: "/", env });
  return { exit: status, called: existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : [] };
}

function findProgram(name: string): string {
  const folder = (process.env["PATH"] ?? "").split(":").find((one) => existsSync(join(one, name)));
  if (folder === undefined) throw new Error(`${name} is not on PATH`);
  return join(folder, name);
}

describe(".ci/run", () => {
  test("installs, checks and tests, and nothing else where the programs are there", () => {
    expect(run(["npm", "git", "gcc", "apt-get", "sudo"])).toEqual({
      exit: 0,
      called: ["npm ci", "npm run check", "npm test"],
    });
  });

  test.each([
    ["ci", ["npm ci"]],
    ["run check", ["npm ci", "npm run check"]],
    ["test", ["npm ci", "npm run check", "npm test"]],
  ])("stops where npm %s fails", (fail, called) => {
    expect(run(["npm", "git", "gcc"], fail)).toEqual({ exit: 1, called });
  });

  test("installs exactly the programs that are missing, as root or through sudo", () => {
    const { exit, called } = run(["npm", "gcc", "apt-get", "sudo"]);
    const asRoot = process.getuid?.() === 0;
    const expected = asRoot ? "apt-get install" : "sudo env DEBIAN_FRONTEND=noninteractive apt-get install";
    expect(exit).toBe(0);
    expect(called).toContain(`${expected} -y --no-install-recommends git`);
    expect(called.at(-1)).toBe("npm test");
  });
});
