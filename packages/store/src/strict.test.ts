import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StoreError } from "./errors.ts";
import { maxDepth, parseStrict } from "./strict.ts";

function parse(text: string, line?: number): unknown {
  return parseStrict(text, { path: "f.json", line });
}

function attempt<Value>(run: () => Value): { value: Value } | { error: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

function refusal(text: string, line?: number): StoreError {
  try {
    parse(text, line);
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error(`accepted ${JSON.stringify(text)}`);
}

describe("parseStrict", () => {
  test("reads what JSON.parse reads, with the same result", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, 2), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("accepts exactly the texts JSON.parse accepts, but for duplicate members and numbers beyond a double", () => {
    const pieces = [
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"a"',
      '"b"',
      "1",
      "-0.5e3",
      "01",
      "true",
      "nul",
      " ",
      "\n",
      '"\\t"',
      "\\",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 9 }), (parts) => {
        const text = parts.join("");
        const outcome = attempt(() => parse(text));
        if ("error" in outcome && /duplicate member|number out of range/.test(String(outcome.error))) return;
        const expected = attempt<unknown>(() => JSON.parse(text));
        if ("value" in expected) expect(outcome).toEqual(expected);
        else expect(outcome).toHaveProperty("error.code", "DAMAGED");
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ["duplicate member", '{"a":1,"a":2}', '1:8: duplicate member "a"'],
    ["duplicate member by an escape", '{"a":1,"\\u0061":2}', '1:8: duplicate member "a"'],
    ["duplicate member deep inside", '{"x":[{"a":{"b":1,"b":2}}]}', '1:19: duplicate member "b"'],
    ["duplicate __proto__", '{"__proto__":1,"__proto__":2}', '1:16: duplicate member "__proto__"'],
    ["trailing data", "{} {}", "1:4: text after the end of the value"],
    ["byte order mark", "\ufeff{}", "1:1: byte order mark"],
    ["raw lone surrogate", '{"a":"\ud800"}', "1:7: lone surrogate"],
    ["escaped lone surrogate", '{"a":"\\ud800"}', "1:6: lone surrogate in a string"],
    ["escaped low before high", '["\\udc00\\ud800"]', "1:2: lone surrogate in a string"],
    ["raw newline in a string", '["a\nb"]', "1:4: control character in a string"],
    ["escaped newline character", '["a\\\nb"]', "1:4: unknown escape in a string"],
    ["broken escape", '["\\u12g4"]', "1:3: broken escape in a string"],
    ["end in a string", '["abc', "1:6: unexpected end"],
    ["end after an escape", '["abc\\', "1:7: unexpected end"],
    ["comma at the end of an object", '{"a":1,}', '1:8: unexpected "}"'],
    ["comma at the end of an array", "[1,]", '1:4: unexpected "]"'],
    ["number out of range", "[1e999]", "1:2: number out of range"],
    ["leading zero", "[01]", '1:3: unexpected "1"'],
    ["hexadecimal", "[0x1]", '1:3: unexpected "x"'],
    ["lone minus", "[-]", '1:2: unexpected "-"'],
    ["NaN", "NaN", '1:1: unexpected "N"'],
    ["no text", "", "1:1: unexpected end"],
    ["only space", " \n ", "2:2: unexpected end"],
    ["no-break space", "\u00a0{}", '1:1: unexpected "\u00a0"'],
    ["second line", '{\n  "a": 1,\n  "a": 2\n}', '3:3: duplicate member "a"'],
  ])("refuses %s, naming the place", (_case, text, where) => {
    const error = refusal(text);
    expect(error.code).toBe("DAMAGED");
    expect(error.message).toBe(`f.json:${where}`);
    expect(error.path).toBe("f.json");
  });

  test("counts lines from the one it is given", () => {
    const error = refusal('{"a":1,\n"a":2}', 41);
    expect(error.line).toBe(42);
    expect(error.message).toContain("f.json:42:1:");
  });

  test("keeps __proto__ as a member and the prototype as it was", () => {
    const value = parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
    expect(Object.hasOwn(value, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("accepts paired surrogates, raw and escaped", () => {
    expect(parse('["😀","\\ud83d\\ude00"]')).toEqual(["😀", "😀"]);
  });

  test("refuses deep nesting without overflowing, and accepts the depth it names", () => {
    expect(refusal("[".repeat(1_000_000)).message).toContain("nested too deeply");
    expect(refusal('{"a":'.repeat(100_000)).message).toContain("nested too deeply");
    expect(() => parse("[".repeat(maxDepth) + "]".repeat(maxDepth))).not.toThrow();
  });
});
