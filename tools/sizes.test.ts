import { describe, expect, test } from "vitest";
import { judgeSizes, type SizeRules } from "./sizes.ts";
import { parseModule } from "./source/module.ts";

const rules: SizeRules = { fileLines: 6, functionLines: 3, parameters: 2, exceptions: [] };

function judge(text: string, exceptions: SizeRules["exceptions"] = []): string[] {
  return judgeSizes([parseModule("packages/core/src/a.ts", text)], { ...rules, exceptions });
}

describe("judgeSizes", () => {
  test("accepts a file and a function exactly at their limits", () => {
    expect(judge("function a(b: 1, c: 2) {\n  b + c;\n}\n\n\n\n")).toEqual([]);
  });

  test("names a file one line over its limit", () => {
    expect(judge("\n\n\n\n\n\n1;\n")).toEqual(["packages/core/src/a.ts has 7 lines; 6 is the limit"]);
    expect(judge("\n\n\n\n\n\n1;")).toEqual(["packages/core/src/a.ts has 7 lines; 6 is the limit"]);
  });

  test.each([
    ["function long() {\n\n\n}", "1 long"],
    ["\nconst long = () => {\n\n\n};", "2 long"],
    ["class A {\n  long() {\n\n\n  }\n}", "2 long"],
    ["class A {\n  #long() {\n\n\n  }\n}", "2 #long"],
    ["const a = { long: function () {\n\n\n} };", "1 long"],
    ["run(() => {\n\n\n});", "1 a function"],
  ])("names the function in %j that is one line over its limit", (text, name) => {
    expect(judge(text)).toEqual([`packages/core/src/a.ts:${name} has 4 lines; 3 is the limit`]);
  });

  test("names a function with too many parameters, a `this` type not counted", () => {
    expect(judge("function f(this: A, a: 1, b: 2) {}\nconst g = (a, { b }, ...c) => a;")).toEqual([
      "packages/core/src/a.ts:2 g has 3 parameters; take one object instead",
    ]);
  });

  test("excuses what an exception names, and names an exception that excuses nothing or says nothing", () => {
    const long = "function long() {\n\n\n}";
    const file = "packages/core/src/a.ts";
    expect(judge(long, [{ file, what: "long", because: "one table" }])).toEqual([]);
    expect(judge("1;", [{ file, what: "long", because: "one table" }])).toEqual([
      `tools/sizes.json: the exception for long in ${file} excuses nothing any more; remove it`,
    ]);
    expect(judge(long, [{ file, what: "long", because: "" }])).toEqual([
      `tools/sizes.json: the exception for long in ${file} has no reason`,
    ]);
  });
});
