import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFixture } from "../source/fixture.ts";
import { readExports } from "./declared.ts";

function exportsOf(files: Readonly<Record<string, string>>, module = "index") {
  return readExports(
    writeFixture(Object.fromEntries(Object.entries(files).map(([name, text]) => [`${name}.d.ts`, text]))),
    module,
  );
}

describe("readExports", () => {
  test("gives each export with its signature and its words, wherever it is declared and whatever it is called there", () => {
    const found = exportsOf({
      index:
        'import { Late } from "./late.js";\nexport { run as start, type Options } from "./run.js";\nexport type { Late };\n',
      late: 'export { Real as Late } from "./real.js";\n',
      real: '/** One\\n * line. */\nexport type Real = "a" | "b";\n',
      run: [
        'import type { Late } from "./late.js";',
        "/**",
        " * Runs it, and",
        " * comes back.",
        " *",
        " * Throws `LATE`.",
        " */",
        "export declare function run<T>(options?: Options<T>, more?: {",
        "    /** Not shown. */",
        "    readonly late?: Late;",
        "}): Promise<void>;",
        "/** How. */",
        "export interface Options<T> {",
        "    /** What, in ms. */",
        "    readonly value?: T | undefined;",
        "    other(): void;",
        "}",
      ].join("\n"),
    });
    expect(found).toEqual([
      {
        name: "start",
        module: "run",
        kind: "function",
        signature: "function run<T>(options?: Options<T>, more?: { readonly late?: Late; }): Promise<void>",
        doc: "Runs it, and\ncomes back.\n\nThrows `LATE`.",
        members: [],
      },
      {
        name: "Options",
        module: "run",
        kind: "interface",
        signature: "interface Options<T>",
        doc: "How.",
        members: [
          { signature: "readonly value?: T | undefined", doc: "What, in ms." },
          { signature: "other(): void", doc: "" },
        ],
      },
      {
        name: "Late",
        module: "real",
        kind: "type",
        signature: 'type Real = "a" | "b"',
        doc: expect.any(String),
        members: [],
      },
    ]);
  });

  test("gives an interface the members of those it extends that are not exported", () => {
    const [change] = exportsOf({
      index: 'export { type Change, type Shown } from "./plan.js";\n',
      plan: [
        'import type { Deep } from "./deep.js";',
        "export interface Shown { }",
        "interface Placed extends Deep { readonly path: string; }",
        'export interface Change extends Shown, Placed { readonly kind: "write"; }',
      ].join("\n"),
      deep: "export interface Deep { /** Deep down. */ readonly root: string; }\n",
    });
    expect(change).toMatchObject({
      signature: "interface Change extends Shown",
      members: [
        { signature: "readonly root: string", doc: "Deep down." },
        { signature: "readonly path: string" },
        { signature: 'readonly kind: "write"' },
      ],
    });
  });

  test("gives a class with its constructor, and a value", () => {
    const found = exportsOf({
      index: [
        "/** Wrong. */",
        "export declare class Wrong extends Error {",
        "    /** Which. */",
        "    readonly code: string;",
        "    constructor(code: string);",
        "}",
        "export declare const most: number;",
      ].join("\n"),
    });
    expect(found.map(({ kind, signature }) => [kind, signature])).toEqual([
      ["class", "class Wrong extends Error"],
      ["value", "const most: number"],
    ]);
    expect(found[0]?.members).toEqual([
      { signature: "readonly code: string", doc: "Which." },
      { signature: "constructor(code: string)", doc: "" },
    ]);
  });

  test("takes no comment for a doc comment that is not right before", () => {
    const [one, two] = exportsOf({
      index: "/** Of one. */\nexport type One = 1;\n// Of nobody.\nexport type Two = 2;\n",
    });
    expect([one?.doc, two?.doc]).toEqual(["Of one.", ""]);
  });

  test.each([
    ['export * from "./other.js";', /index exports something without naming it/],
    ['export { none } from "./other.js";', /other declares no none/],
    ["export default class {}", /index exports something without naming it/],
  ])("does not pass over `%s`", (text, message) => {
    expect(() => exportsOf({ index: text, other: "export type Other = 1;\n" })).toThrow(message);
  });

  test("names the file that does not parse", () => {
    const root = writeFixture({ "index.d.ts": "export type = ;" });
    expect(() => readExports(root, "index")).toThrow(join(root, "index.d.ts"));
  });
});
