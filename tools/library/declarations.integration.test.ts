import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeFixture } from "../source/fixture.ts";
import { readTree } from "../source/tree.ts";
import { writeDeclarations } from "./declarations.ts";

test("writeDeclarations writes what the entries lead to, for readers that know only the endings of JavaScript", async () => {
  const compilerOptions = {
    module: "nodenext",
    rootDir: "src",
    declaration: true,
    emitDeclarationOnly: true,
    isolatedDeclarations: true,
    allowImportingTsExtensions: true,
    noCheck: true,
    types: [],
  };
  const root = writeFixture({
    "package.json": '{"type":"module"}',
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["src/index.ts", "src/pure.ts"] }),
    "src/index.ts": 'export { type Deep, run } from "./deep.ts";\n',
    "src/deep.ts": [
      'import { hidden } from "./hidden.ts";',
      "/** What it is. */",
      'export interface Deep { readonly other: import("./other.ts").Other }',
      "export function run(deep: Deep): Buffer { return hidden(deep); }",
    ].join("\n"),
    "src/other.ts": "export interface Other { readonly name: string }\n",
    "src/hidden.ts": "export function hidden(value: unknown): Buffer { return value as Buffer; }\n",
    "src/pure.ts": 'export type { Other } from "./other.ts";\n',
  });
  const outdir = join(root, "out");
  await writeDeclarations({
    project: join(root, "tsconfig.json"),
    entries: ["index", "pure"],
    nodeEntries: ["index"],
    outdir,
  });
  expect(readTree(root, "out")).toEqual(["deep", "index", "other", "pure"].map((name) => `out/${name}.d.ts`));
  const written = (name: string): string => readFileSync(join(outdir, `${name}.d.ts`), "utf8");
  expect(written("index")).toBe('/// <reference types="node" />\nexport { type Deep, run } from "./deep.js";\n');
  expect(written("pure")).toBe('export type { Other } from "./other.js";\n');
  expect(written("deep")).toContain("/** What it is. */");
  expect(written("deep")).toContain('import("./other.js").Other');
  expect(written("deep")).not.toContain("hidden");
});

test("writeDeclarations fails with what the compiler says", async () => {
  const root = writeFixture({ "tsconfig.json": '{"files":["none.ts"]}' });
  const writing = writeDeclarations({
    project: join(root, "tsconfig.json"),
    entries: [],
    nodeEntries: [],
    outdir: join(root, "out"),
  });
  await expect(writing).rejects.toThrow("none.ts");
});
