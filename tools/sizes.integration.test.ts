import { describe, expect, test } from "vitest";
import { check } from "./sizes.ts";
import { writeFixture } from "./source/fixture.ts";

describe("check", () => {
  test("reads every TypeScript file but tests, shipped data and what others made", () => {
    const long = "\n\n\n";
    const root = writeFixture({
      "tools/sizes.json": '{ "fileLines": 2, "functionLines": 2, "parameters": 3, "exceptions": [] }',
      "packages/core/src/a.ts": long,
      "packages/core/src/a.test.ts": long,
      "packages/core/dist/a.ts": long,
      "tests/cli/a.ts": long,
      "share/a.ts": long,
      "tools/a.ts": long,
      "node_modules/a/a.ts": long,
    });
    expect(check(root)).toEqual([
      "packages/core/src/a.ts has 3 lines; 2 is the limit",
      "tools/a.ts has 3 lines; 2 is the limit",
    ]);
  });
});
