import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFixture } from "../source/fixture.ts";
import { readFolders, readTree } from "../source/tree.ts";
import { needsBuild } from "./freshness.ts";

const earlier = 1_700_000_000;
const files = {
  "packages/cli/src/main.ts": "",
  "packages/core/src/git/head.ts": "",
  "packages/core/src/git/head.test.ts": "",
  "packages/core/package.json": "{}",
  "share/rules/a.md": "",
  "tools/build.ts": "",
  "packages/cli/bin/reeve.cjs": "",
};

/** A tree whose build is one second younger than everything it was built from. */
function writeBuilt(): string {
  const root = writeFixture(files);
  for (const path of [...readTree(root, ""), ...readFolders(root, "packages"), ...readFolders(root, "share")]) {
    utimesSync(join(root, path), earlier, earlier);
  }
  mkdirSync(join(root, "packages/cli/dist"));
  writeFileSync(join(root, "packages/cli/dist/main.cjs"), "");
  utimesSync(join(root, "packages/cli/dist/main.cjs"), earlier + 1, earlier + 1);
  return root;
}

describe("needsBuild", () => {
  test("is content with a build younger than its sources", () => {
    expect(needsBuild(writeBuilt())).toBe(false);
  });

  test.each(["packages/core/src/git/head.ts", "packages/core/package.json", "share/rules/a.md", "tools/build.ts"])(
    "asks for one when %s is younger",
    (path) => {
      const root = writeBuilt();
      utimesSync(join(root, path), earlier + 2, earlier + 2);
      expect(needsBuild(root)).toBe(true);
    },
  );

  test("asks for one when a source was removed", () => {
    const root = writeBuilt();
    rmSync(join(root, "packages/core/src/git/head.ts"));
    expect(needsBuild(root)).toBe(true);
  });

  test("asks for none when only a test changed", () => {
    const root = writeBuilt();
    utimesSync(join(root, "packages/core/src/git/head.test.ts"), earlier + 2, earlier + 2);
    expect(needsBuild(root)).toBe(false);
  });

  test.each(["packages/cli/dist", "packages/cli/bin"])("asks for one when %s is missing or empty", (folder) => {
    const root = writeBuilt();
    rmSync(join(root, folder), { recursive: true });
    expect(needsBuild(root)).toBe(true);
    mkdirSync(join(root, folder));
    expect(needsBuild(root)).toBe(true);
  });
});
