import { describe, expect, test } from "vitest";
import { check } from "./machine-access.ts";
import { writeFixture } from "./source/fixture.ts";

const rules = {
  owners: ["packages/core/src/system/"],
  exitCodeOwner: "packages/cli/src/main.ts",
  pureModules: [],
  globals: ["process"],
  members: [],
  exceptions: [],
};

describe("check", () => {
  test("reads the sources of every package, and leaves tests out", () => {
    const root = writeFixture({
      "tools/machine-access.json": JSON.stringify(rules),
      "packages/core/src/system/node.ts": 'import "node:fs";',
      "packages/core/src/git/head.test.ts": 'import "node:fs";',
      "packages/core/src/git/fixture.ts": 'import "node:fs";',
      "packages/core/src/git/head.ts": "\nprocess.cwd();",
      "packages/core/dist/head.ts": 'import "node:fs";',
    });
    expect(check(root)).toEqual([
      "packages/core/src/git/head.ts:2 uses process.cwd: only packages/core/src/system/ touch the machine",
    ]);
  });
});
