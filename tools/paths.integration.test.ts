import { describe, expect, test } from "vitest";
import { check } from "./paths.ts";
import { writeFixture } from "./source/fixture.ts";

const tree = {
  "packages/commands/src/work/start.ts": "",
  "packages/core/src/git/head.ts": "",
  ".ci/run": "",
  "SECURITY.md": "",
};

describe("check", () => {
  test("accepts files, folders, places with a line and patterns that exist", () => {
    const text = [
      "`packages/core/src/git/head.ts`, `packages/core/src/git/`, `packages/core/src/git/head.ts:12`, `.ci/run`",
      "`packages/commands/src/<noun>/<verb>.ts` `packages/*/src` `packages/**/head.ts` `packages/{core,commands}/src`",
      "`SECURITY.md`, [security](SECURITY.md), [part](#part), [standard](https://spec.commonmark.org)",
      "`lib/auth` `.ai/repo/policy.yaml` `x/y` `and/or`",
    ].join("\n");
    expect(check(writeFixture({ ...tree, "ARCHITECTURE.md": text }))).toEqual([]);
  });

  test.each([
    ["`packages/core/src/git/tail.ts`", "packages/core/src/git/tail.ts"],
    ["`packages/daemon/`", "packages/daemon/"],
    ["run `node tools/gone.mjs now`", "tools/gone.mjs"],
    ["`packages/commands/src/<noun>.ts`", "packages/commands/src/<noun>.ts"],
    ["`packages/{core,web}/src/x.ts`", "packages/{core,web}/src/x.ts"],
    ["`HISTORY.md`", "HISTORY.md"],
    ["[history](docs/HISTORY.md)", "docs/HISTORY.md"],
  ])("names `%s`, which is not there", (text, path) => {
    expect(check(writeFixture({ ...tree, "CONTRIBUTING.md": `\n${text}\n` }))).toEqual([
      `CONTRIBUTING.md:2 names ${path}, which does not exist`,
    ]);
  });

  test("reads guides, decisions and package pages, and resolves their links from where they lie", () => {
    const root = writeFixture({
      ...tree,
      "docs/guide/start.md": "[rules](../../SECURITY.md) [gone](SECURITY.md) and your own `GEMINI.md`",
      "docs/decisions/one.md": "`docs/gone.md`",
      "packages/core/README.md": "`packages/gone`",
      "docs/reference/made.md": "`docs/generated-elsewhere.md`",
    });
    expect(check(root)).toEqual([
      "docs/decisions/one.md:1 names docs/gone.md, which does not exist",
      "docs/guide/start.md:1 names SECURITY.md, which does not exist",
      "packages/core/README.md:1 names packages/gone, which does not exist",
    ]);
  });
});
