import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { decodeDocument } from "./decode.ts";
import { parseFlat, renderFlat, splitFrontMatter } from "./front-matter.ts";

const words = [
  "",
  " ",
  "plain",
  "src/auth/callback.ts",
  "true",
  "False",
  "null",
  "~",
  "yes",
  "No",
  "on",
  "off",
  "0",
  "-1",
  "+1",
  "1.5",
  "1_000",
  "1e3",
  "0x1F",
  "0o17",
  "0b1",
  ".5",
  ".inf",
  "-.INF",
  ".NaN",
  "1:30",
  "a:",
  "a: b",
  "a #b",
  "#a",
  "- a",
  "? a",
  "&a",
  "*a",
  "!a",
  "|",
  ">",
  "%a",
  "@a",
  "`a",
  "{a}",
  "[a]",
  "a, b",
  "'a'",
  '"a"',
  "a\nb",
  "a\tb",
  "a\\b",
  " a ",
  "---",
  "...",
  "=",
  "<<",
  "2026-09-03",
  "2026-09-03T19:30:12Z",
  "läs mig",
  "日本語",
  "🙂",
  "\u0000",
  "\u0085",
  "\u007f",
  "\u2028",
  "\u2029",
  "\ufeff",
  "a\r",
];

const text = fc.oneof(fc.constantFrom(...words), fc.string(), fc.string({ unit: "binary" }));
const key = fc.stringMatching(/^[a-z][a-z_]{0,11}$/);
const value = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.array(text, { maxLength: 4 }),
  fc.dictionary(
    text.filter((name) => name !== "__proto__"),
    text,
    { maxKeys: 3, noNullPrototype: true },
  ),
);
const members = fc.dictionary(key, value, { maxKeys: 6, noNullPrototype: true });

describe("splitFrontMatter", () => {
  test.each([
    ["---\na: 1\n---\nbody\n", "a: 1\n", "body\n"],
    ["---\na: 1\n---\n\nbody\n", "a: 1\n", "body\n"],
    ["---\n---\nbody\n", "", "body\n"],
    ["---\na: 1\n---", "a: 1\n", ""],
    ["---\na: 1\n---\n", "a: 1\n", ""],
    ["---\na: 1\n---\none\n---\ntwo\n", "a: 1\n", "one\n---\ntwo\n"],
    ["---\na: '----'\n---\nx", "a: '----'\n", "x"],
  ])("splitFrontMatter takes %j apart", (whole, yaml, body) => {
    expect(splitFrontMatter(whole)).toEqual({ yaml, body });
  });

  test.each(["", "body\n", "----\na: 1\n---\n", " ---\na: 1\n---\n", "---\na: 1\n", "---", "--- \na: 1\n---\n"])(
    "splitFrontMatter finds none in %j and leaves the text whole",
    (whole) => {
      expect(splitFrontMatter(whole)).toEqual({ yaml: undefined, body: whole });
    },
  );

  test("splitFrontMatter reads through a byte order mark and carriage returns", () => {
    expect(splitFrontMatter("\ufeff---\r\na: 1\r\n---\r\nbody\r\n")).toEqual({ yaml: "a: 1\n", body: "body\n" });
  });
});

describe("renderFlat", () => {
  test("renderFlat writes words that YAML gives a meaning as the text they are", () => {
    for (const word of words) {
      const flat = { key: word, list: [word, word], map: { inner: word } };
      expect(parse(renderFlat(flat), { version: "1.2" }), JSON.stringify(word)).toEqual(flat);
    }
  });

  test("renderFlat writes YAML 1.2 whatever the members are", () => {
    fc.assert(
      fc.property(members, (flat) => {
        expect(parse(renderFlat(flat), { version: "1.2" }) ?? {}).toEqual(flat);
      }),
      { numRuns: 300 },
    );
  });

  test("renderFlat puts one member on one line and leaves out what is undefined", () => {
    expect(renderFlat({ a: "x\ny", b: undefined, c: 1 })).toBe('a: "x\\ny"\nc: 1\n');
  });

  test("renderFlat lets words stand bare that need no quotes", () => {
    expect(renderFlat({ id: "t-20260903193012-a4f1", at: "2026-09-03T19:30:12Z" })).toBe(
      "id: t-20260903193012-a4f1\nat: 2026-09-03T19:30:12Z\n",
    );
  });
});

describe("parseFlat", () => {
  test("parseFlat reads back words that YAML gives a meaning", () => {
    for (const word of words) {
      const flat = { key: word, list: [word], map: { inner: word } };
      expect(parseFlat(renderFlat(flat)), JSON.stringify(word)).toEqual(flat);
    }
  });

  test("parseFlat reads back whatever renderFlat wrote", () => {
    fc.assert(
      fc.property(
        members.filter((flat) => Object.keys(flat).length > 0),
        (flat) => {
          expect(parseFlat(renderFlat(flat))).toEqual(flat);
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    ["no newline at the end", "a: b"],
    ["a key twice", "a: b\na: c\n"],
    ["a comment", "# a\na: b\n"],
    ["an indented line", "a:\n  b: c\n"],
    ["a plain number with a fraction", "a: 1.5\n"],
    ["a leading zero", "a: 012\n"],
    ["null", "a: null\n"],
    ["a trailing comment", "a: b # c\n"],
    ["single quotes", "a: 'b'\n"],
    ["a flow list of plain words", "a: [b, c]\n"],
    ["carriage returns", "a: b\r\n"],
    ["a capital key", "A: b\n"],
    ["no space after the colon", "a:b\n"],
    ["an anchor", "a: &x b\n"],
    ["two keys in one map alike", 'a: {"b":"c","b":"d"}\n'],
  ])("parseFlat leaves %s to the real parser", (_what, yaml) => {
    expect(parseFlat(yaml)).toBeUndefined();
  });

  test("parseFlat never answers otherwise than a YAML parser", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...words.filter((word) => !/[\n\r]/.test(word)),
        '"a"',
        '"\\/"',
        '["a", 1, true]',
        '["a",]',
        '{"a":"b"}',
        '{"a": {"b": [1]}}',
        "true",
        "TRUE",
        "-0",
        "00",
        "9007199254740993",
      ),
      fc.string({ maxLength: 8 }),
    );
    const name = fc.constantFrom("a", "b", "key", "constructor", "to_string");
    const rows = fc.array(fc.tuple(name, piece), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(rows, (given) => {
        const yaml = given.map(([left, right]) => `${left}: ${right}\n`).join("");
        const flat = parseFlat(yaml);
        if (flat === undefined) return;
        const value: unknown = parse(yaml, { version: "1.2", uniqueKeys: true });
        expect(Object.entries(flat)).toEqual(Object.entries(value as object));
      }),
      { numRuns: 300 },
    );
  });

  test("parseFlat gives no member through the prototype", () => {
    const flat = parseFlat('__proto__: {"owner":"someone"}\nid: a\n');
    expect(flat === undefined ? undefined : flat["owner"]).toBeUndefined();
  });

  test("parseFlat and decodeDocument agree on a rendered record", () => {
    const flat = { id: "x", scope: ["src", "läs mig"], exempt: { class: "a", because: "b: c" } };
    expect(decodeDocument("plain", renderFlat(flat))).toEqual({ ok: true, value: parseFlat(renderFlat(flat)) });
  });
});
