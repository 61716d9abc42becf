import { describe, expect, test } from "vitest";
import { check } from "./boundaries.ts";
import { writeFixture } from "./source/fixture.ts";

const files = {
  "tools/boundaries.json": '{ "packages": { "store": [], "core": ["store"] }, "features": { "git": [] } }',
  "packages/store/package.json": '{ "name": "@reeve/store" }',
  "packages/store/src/index.ts": "export const store = 1;",
  "packages/core/package.json": '{ "name": "@reeve/core" }',
  "packages/core/src/git/head.ts": 'import { store } from "@reeve/store";\nexport { store };',
};

describe("check", () => {
  test("reads sources, package names and the data file of a tree", () => {
    expect(check(writeFixture(files))).toEqual([]);
    expect(check(writeFixture({ ...files, "packages/core/src/git/head.ts": "export const a = 1;" }))).toEqual([
      "tools/boundaries.json: no import goes from package core to store any more; remove the edge",
    ]);
  });

  test("lets tests import anything", () => {
    const reaching = 'import { store } from "@reeve/core/git/head.ts";\nimport "../../../tools/check.ts";\nstore;';
    expect(check(writeFixture({ ...files, "packages/store/src/index.test.ts": reaching }))).toEqual([]);
  });
});
