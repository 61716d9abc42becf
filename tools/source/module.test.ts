import { describe, expect, test } from "vitest";
import { parseModule } from "./module.ts";

function parse(text: string): string[] {
  return parseModule("packages/core/src/x.ts", text).imports.map(
    ({ specifier, kind, line }) => `${line} ${kind} ${specifier}`,
  );
}

describe("parseModule", () => {
  test("finds statements, re-exports, dynamic imports, require and getBuiltinModule", () => {
    const text = [
      'import { a } from "./a.ts";',
      'export * from "./b.ts";',
      'export { c } from "./c.ts";',
      'const d = () => import("./d.ts");',
      'const e = require("./e.cjs");',
      'const f = process.getBuiltinModule("node:fs");',
      "const g = await import(`./g.ts`);",
    ].join("\n");
    expect(parse(text)).toEqual([
      "1 value ./a.ts",
      "2 value ./b.ts",
      "3 value ./c.ts",
      "4 value ./d.ts",
      "5 value ./e.cjs",
      "6 value node:fs",
      "7 value ./g.ts",
    ]);
  });

  test("tells imports of types, which leave nothing behind, from imports that load the module", () => {
    const text = [
      'import type { A } from "./a.ts";',
      'export type { B } from "./b.ts";',
      'let c: import("./c.ts").C;',
      'import { type D } from "./d.ts";',
    ].join("\n");
    expect(parse(text)).toEqual(["1 type ./a.ts", "2 type ./b.ts", "3 type ./c.ts", "4 value ./d.ts"]);
  });

  test("is not misled by text that only looks like an import", () => {
    expect(parse('const a = `import "./a.ts"`; // import "./b.ts"\nconst r = /import "x"/;')).toEqual([]);
  });

  test("names file and line of what does not parse", () => {
    expect(() => parse("const a = 1;\nconst b = = 2;\n")).toThrow(/^packages\/core\/src\/x\.ts:2 does not parse/);
  });
});
