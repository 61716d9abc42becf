import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StoreError } from "./errors.ts";
import { encodeLine } from "./line.ts";
import { parseStrict } from "./strict.ts";

function parse(text: string): unknown {
  return parseStrict(text, { path: "f.json" });
}

describe("encodeLine", () => {
  test("orders members in code units at every depth, the key member first at the top", () => {
    const entry = { b: { z: 1, "10": 2, "9": 3, a: { d: 1, c: 2 } }, id: "k", a: 1, Z: 0, é: 1, 𐀀: 2, "\uffff": 3 };
    const line = encodeLine(entry, "id");
    expect(line).toBe('{"id":"k","Z":0,"a":1,"b":{"10":2,"9":3,"a":{"c":2,"d":1},"z":1},"é":1,"𐀀":2,"\uffff":3}');
    expect(encodeLine(entry)).toMatch(/^\{"Z":0,"a":1,/);
  });

  test("has one spelling for an entry and reads back as it was", () => {
    const object = fc
      .dictionary(fc.string(), fc.jsonValue())
      .filter((value) => !JSON.stringify(value).includes("\\ud"));
    fc.assert(
      fc.property(object, (value) => {
        const line = encodeLine(value);
        expect(line).not.toMatch(/[\n\r\u2028\u2029]/);
        const back = parse(line) as Record<string, unknown>;
        expect(back).toEqual(JSON.parse(JSON.stringify(value)));
        expect(encodeLine(Object.fromEntries(Object.entries(back).reverse()))).toBe(line);
      }),
    );
  });

  test("escapes what ends a line anywhere", () => {
    expect(encodeLine({ a: "x\n\r\u2028\u2029\u0000y" })).toBe('{"a":"x\\n\\r\\u2028\\u2029\\u0000y"}');
  });

  const cycle: Record<string, unknown> = {};
  cycle["self"] = [cycle];
  test.each<[string, unknown, string]>([
    ["undefined", { a: { b: undefined } }, "$.a.b"],
    ["a hole in an array", { a: [1, undefined] }, "$.a[1]"],
    ["a function", { f: () => 1 }, "$.f"],
    ["a symbol", { s: Symbol("s") }, "$.s"],
    ["a big integer", { n: 1n }, "$.n"],
    ["NaN", { n: [Number.NaN] }, "$.n[0]"],
    ["infinity", { n: Number.NEGATIVE_INFINITY }, "$.n"],
    ["a date", { d: new Date(0) }, "$.d"],
    ["a map", { m: new Map() }, "$.m"],
    ["a lone surrogate", { s: "\ud800" }, "$.s"],
    ["a lone surrogate in a name", { "\udc00": 1 }, "$.\udc00"],
    ["a cycle", cycle, "$"],
    ["an array at the top", [], "$"],
    ["null at the top", null, "$"],
    ["a string at the top", "x", "$"],
  ])("refuses %s, naming the member", (_case, value, member) => {
    let error: unknown;
    try {
      encodeLine(value);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).code).toBe("BAD_VALUE");
    expect((error as StoreError).details["member"]).toBe(member);
  });

  test("refuses an entry without its key member", () => {
    expect(() => encodeLine({ a: 1 }, "id")).toThrow('"id"');
    expect(() => encodeLine({}, "toString")).toThrow('"toString"');
  });

  test("writes an own __proto__ and objects without a prototype", () => {
    const bare = Object.assign(Object.create(null), { b: 1 });
    expect(encodeLine({ x: bare })).toBe('{"x":{"b":1}}');
    expect(encodeLine(parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });
});
