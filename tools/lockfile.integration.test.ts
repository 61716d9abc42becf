import { describe, expect, test } from "vitest";
import { check } from "./lockfile.ts";
import { writeFixture } from "./source/fixture.ts";

describe("check", () => {
  test("reads every manifest and lockfile of the tree, the benchmarks' own included", () => {
    const root = writeFixture({
      "package.json": '{ "devDependencies": { "vite": "8.3.8" } }',
      "package-lock.json": '{ "packages": { "": {} } }',
      "bench/package.json": '{ "dependencies": { "lmdb": "^3.0.0" } }',
      "bench/package-lock.json":
        '{ "packages": { "node_modules/lmdb": { "resolved": "https://registry.example/x" } } }',
      "node_modules/vite/package.json": '{ "dependencies": { "rolldown": "*" } }',
      "docs/decisions/dependencies.md": "| `vite` | 8.3.8 | parses |\n",
    });
    expect(check(root)).toEqual([
      "bench/package-lock.json: node_modules/lmdb records a download address; set omit-lockfile-registry-resolved for npm",
      "bench/package.json: lmdb ^3.0.0 is not one exact version",
      "bench/package.json: lmdb ^3.0.0 has no line of reason in docs/decisions/dependencies.md",
    ]);
  });
});
