import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeLine } from "./line.ts";
import { LineShapes } from "./line-shapes.ts";
import { parseStrict } from "./strict.ts";

type Members = Readonly<Record<string, unknown>>;

interface Quick {
  readonly key: string;
  readonly isRemoval: boolean;
  readonly end: number;
}

/** What the shapes say of a line in the middle of a block; `undefined` when it is left to the strict parser. */
function takeQuickly(shapes: LineShapes, line: string, newline = "\n"): Quick | undefined {
  const before = "{}\n";
  const text = Buffer.from(`${before}${line}${newline}{"id":"next"}\n`, "utf8").toString("latin1");
  if (!shapes.match(text, before.length)) return undefined;
  const { keyFrom, keyTo, end, isRemoval } = shapes.found;
  const key = Buffer.from(text.slice(keyFrom, keyTo), "latin1").toString("utf8");
  return { key, isRemoval, end: end - before.length };
}

/** Has seen the lines of these entries. */
function shapesOf(keyMember: string | undefined, ...entries: readonly Members[]): LineShapes {
  const shapes = new LineShapes(keyMember);
  for (const entry of entries) shapes.learn(entry);
  return shapes;
}

function parse(line: string): Members {
  return parseStrict(line, { path: "f" }) as Members;
}

const name = fc.oneof(
  fc.constantFrom(
    "n",
    "state",
    "a.b",
    "a*",
    "(x)",
    "[y]",
    "^z",
    "a|b",
    "a-b",
    "a/b",
    "a b",
    "__proto__",
    "toString",
    "7",
  ),
  fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 4 }),
);
/** Texts that a line holds as they are. */
const plainText = fc.string({
  unit: fc.constantFrom(..."abZ09 .,:;{}[]'/-+_$\x7f\u00a0é\uffff😀"),
  maxLength: 6,
});
const plainNumber = fc.oneof(
  fc.integer({ min: -99_999_999, max: 99_999_999 }),
  fc.integer({ min: -9999, max: 9999 }).map((number) => number / 1000),
);
const plainScalar = fc.oneof(plainText, plainNumber, fc.boolean(), fc.constant(null));
const plainValue = fc.oneof(plainScalar, fc.array(plainScalar, { maxLength: 4 }));
const plainKey = plainText.filter((text) => text !== "");
const plainMembers = fc.dictionary(
  name.filter((text) => /^[\x20-\x7e]+$/.test(text) && !/^\$|["\\]/.test(text) && text !== "id" && !/^\d+$/.test(text)),
  plainValue,
  { maxKeys: 4 },
);

/** Pieces that turn a good line into a bad one, or another good one. */
const piece = fc.constantFrom(
  ...['"', "\\", "{", "}", "[", "]", ",", ":", " ", "\t", "\r", "\n", "\0", "\x1f", "\x7f", "0", "1", "-", ".", "e9"],
  ...[
    "1e999",
    "0123456789012345678901234567890",
    "true",
    "nul",
    "\\ud800",
    "\\u0061",
    '"id":"z",',
    ',"n":1',
    "{}",
    "[]",
  ],
  ...['"$deleted":true', '"__proto__":1', "\ufeff", "\u2028", "é", "😀", "NaN", "//", "'"],
);

interface Edit {
  readonly at: number;
  readonly drop: number;
  readonly add: string;
}

const edit = fc.record({
  at: fc.nat({ max: 400 }),
  drop: fc.nat({ max: 3 }),
  add: fc.oneof(piece, fc.constant("")),
});

function edited(line: string, edits: readonly Edit[]): string {
  return edits.reduce((text, { at, drop, add }) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + add + text.slice(from + drop);
  }, line);
}

/** A store's line never holds one that is cut in half: its bytes are valid UTF-8. */
function isWhole(text: string): boolean {
  return !/\p{Cs}/u.test(text) && !text.includes("\n");
}

describe("LineShapes.match", () => {
  test("takes every line of a form it has learnt, with its key, from its first byte to its newline", () => {
    fc.assert(
      fc.property(plainKey, plainMembers, plainKey, (key, members, otherKey) => {
        const entry = { id: key, ...members };
        const shapes = shapesOf("id", parse(encodeLine(entry, "id")));
        for (const id of [key, otherKey]) {
          const line = encodeLine({ ...entry, id }, "id");
          expect(takeQuickly(shapes, line)).toEqual({
            key: id,
            isRemoval: false,
            end: Buffer.byteLength(line) + 1,
          });
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("takes nothing that the strict parser would refuse, nor with another key", () => {
    let taken = 0;
    const entries = fc.array(fc.tuple(plainKey, plainMembers), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(entries, fc.array(edit, { minLength: 1, maxLength: 3 }), fc.nat(), (rows, edits, which) => {
        const lines = rows.map(([id, members]) => encodeLine({ id, ...members }, "id"));
        const shapes = shapesOf("id", ...lines.map(parse));
        const line = edited(lines[which % lines.length] ?? "", edits);
        if (!isWhole(line)) return;
        const quick = takeQuickly(shapes, line);
        if (quick === undefined) return;
        taken += 1;
        const value = parse(line);
        expect(value["id"]).toBe(quick.key);
        expect(quick.key).not.toBe("");
        expect(Object.hasOwn(value, "$deleted")).toBe(quick.isRemoval);
        if (quick.isRemoval) expect(value).toEqual({ id: quick.key, $deleted: true });
        expect(quick.end).toBe(Buffer.byteLength(line) + 1);
      }),
      { numRuns: 6000 },
    );
    expect(taken).toBeGreaterThan(300);
  });

  test.each<[string, string]>([
    ["a member twice", '{"id":"a","n":1,"n":2,"s":"x","v":[1]}'],
    ["the key member twice", '{"id":"a","id":"b","n":1,"s":"x","v":[1]}'],
    ["a member twice by an escape", '{"id":"a","n":1,"s":"x","\\u0073":"x","v":[1]}'],
    ["an escaped lone surrogate", '{"id":"a","n":1,"s":"\\ud800","v":[1]}'],
    ["an escaped lone surrogate in the key", '{"id":"\\udc00","n":1,"s":"x","v":[1]}'],
    ["an escaped lone surrogate in an array", '{"id":"a","n":1,"s":"x","v":["\\ud800"]}'],
    ["a number beyond a double", '{"id":"a","n":1e999,"s":"x","v":[1]}'],
    ["a negative number beyond a double", '{"id":"a","n":-1e999,"s":"x","v":[1]}'],
    ["a number beyond a double in an array", '{"id":"a","n":1,"s":"x","v":[1e400]}'],
  ])("leaves to the strict parser what JSON.parse alone would let pass: %s", (_case, line) => {
    const shapes = shapesOf("id", { id: "a", n: 1, s: "x", v: [1] });
    expect(() => JSON.parse(line)).not.toThrow();
    expect(() => parse(line)).toThrow();
    expect(takeQuickly(shapes, line)).toBeUndefined();
  });

  test.each<[string, string]>([
    ["a raw tab", '{"id":"a","n":1,"s":"\t","v":[1]}'],
    ["a raw NUL", '{"id":"a","n":1,"s":"\0","v":[1]}'],
    ["a control character in the key", '{"id":"\x1f","n":1,"s":"x","v":[1]}'],
    ["an escape", '{"id":"a","n":1,"s":"\\n","v":[1]}'],
    ["an escape in the key", '{"id":"\\u0061","n":1,"s":"x","v":[1]}'],
    ["an exponent", '{"id":"a","n":1e5,"s":"x","v":[1]}'],
    ["sixteen digits", '{"id":"a","n":1234567890123456,"s":"x","v":[1]}'],
    ["sixteen digits after the point", '{"id":"a","n":0.1234567890123456,"s":"x","v":[1]}'],
    ["a leading zero", '{"id":"a","n":01,"s":"x","v":[1]}'],
    ["a plus", '{"id":"a","n":+1,"s":"x","v":[1]}'],
    ["a point without digits", '{"id":"a","n":1.,"s":"x","v":[1]}'],
    ["digits after a point only", '{"id":"a","n":.5,"s":"x","v":[1]}'],
    ["a minus alone", '{"id":"a","n":-,"s":"x","v":[1]}'],
    ["NaN", '{"id":"a","n":NaN,"s":"x","v":[1]}'],
    ["no value", '{"id":"a","n":,"s":"x","v":[1]}'],
    ["a nested object", '{"id":"a","n":{},"s":"x","v":[1]}'],
    ["a nested array", '{"id":"a","n":1,"s":"x","v":[[1]]}'],
    ["a comma at an array's end", '{"id":"a","n":1,"s":"x","v":[1,]}'],
    ["a comma at an array's start", '{"id":"a","n":1,"s":"x","v":[,1]}'],
    ["a comma at the end", '{"id":"a","n":1,"s":"x","v":[1],}'],
    ["an array that does not end", '{"id":"a","n":1,"s":"x","v":[1}'],
    ["a text that does not end", '{"id":"a","n":1,"s":"x,"v":[1]}'],
    ["single quotes", "{'id':'a','n':1,'s':'x','v':[1]}"],
    ["another member", '{"id":"a","m":1,"s":"x","v":[1]}'],
    ["one member more", '{"id":"a","n":1,"s":"x","v":[1],"w":1}'],
    ["one member less", '{"id":"a","n":1,"s":"x"}'],
    ["another order", '{"id":"a","s":"x","n":1,"v":[1]}'],
    ["the key member later", '{"n":1,"id":"a","s":"x","v":[1]}'],
    ["an empty key", '{"id":"","n":1,"s":"x","v":[1]}'],
    ["a key that is a number", '{"id":1,"n":1,"s":"x","v":[1]}'],
    ["a key that is null", '{"id":null,"n":1,"s":"x","v":[1]}'],
    ["no key", '{"n":1,"s":"x","v":[1]}'],
    ["a byte order mark", '\ufeff{"id":"a","n":1,"s":"x","v":[1]}'],
    ["a carriage return", '{"id":"a","n":1,"s":"x","v":[1]}\r'],
    ["a space before", ' {"id":"a","n":1,"s":"x","v":[1]}'],
    ["a space after", '{"id":"a","n":1,"s":"x","v":[1]} '],
    ["a space inside", '{"id":"a", "n":1,"s":"x","v":[1]}'],
    ["two objects", '{"id":"a","n":1,"s":"x","v":[1]}{"id":"b","n":1,"s":"x","v":[1]}'],
    ["nothing", ""],
    ["a removal with another member", '{"id":"a","$deleted":true,"n":1}'],
    ["a removal that is none", '{"id":"a","$deleted":false}'],
    ["a removal of nothing", '{"id":"","$deleted":true}'],
    ["a removal that begins with it", '{"$deleted":true,"id":"a"}'],
  ])("leaves a line with %s to the strict parser", (_case, line) => {
    const shapes = shapesOf("id", { id: "a", n: 1, s: "x", v: [1] });
    expect(takeQuickly(shapes, '{"id":"a","n":1,"s":"x","v":[1]}')).toBeDefined();
    expect(takeQuickly(shapes, line)).toBeUndefined();
  });

  test("takes no line without its newline", () => {
    const shapes = shapesOf("id", { id: "a", n: 1 });
    for (const line of ['{"id":"a","n":1}', '{"id":"a","$deleted":true}']) {
      expect(takeQuickly(shapes, line)).toBeDefined();
      expect(takeQuickly(shapes, line, "")).toBeUndefined();
    }
  });

  test("takes every plain value in the place of another, and a removal unlearnt", () => {
    const shapes = shapesOf("id", { id: "a", n: 1 });
    for (const value of ["0", "-0", "-1.5", "999999999999999", "true", "false", "null", '""', '"é\u2028😀"', "[]"]) {
      expect(takeQuickly(shapes, `{"id":"é😀","n":${value}}`), value).toMatchObject({ key: "é😀", isRemoval: false });
    }
    expect(takeQuickly(new LineShapes("id"), '{"id":"é😀","$deleted":true}')).toMatchObject({
      key: "é😀",
      isRemoval: true,
    });
  });

  test("takes names with the signs of regular expressions for nothing else", () => {
    const names = ["a.b", "a*", "a+", "a?", "(a)", "[ab]", "{2}", "a|b", "^a", "a/b", "a-b", " "].sort();
    const entry: Members = { id: "k", ...Object.fromEntries(names.map((member) => [member, 1])) };
    const line = encodeLine(entry, "id");
    const shapes = shapesOf("id", entry);
    expect(takeQuickly(shapes, line)).toMatchObject({ key: "k" });
    for (const member of names) {
      expect(takeQuickly(shapes, line.replace(JSON.stringify(member), '"aXb"')), member).toBeUndefined();
    }
    const dotted = shapesOf("a.b", { "a.b": "k", n: 1 });
    expect(takeQuickly(dotted, '{"a.b":"k","n":2}')).toMatchObject({ key: "k" });
    for (const line of ['{"aXb":"k","n":2}', '{"aXb":"k","$deleted":true}']) {
      expect(takeQuickly(dotted, line)).toBeUndefined();
    }
  });

  test("knows several forms at once, in any order", () => {
    const entries = Array.from({ length: 12 }, (_, index) => ({ id: `k${index}`, [`m${index}`]: index }));
    const shapes = shapesOf("id", ...entries);
    for (const entry of [...entries, ...entries.toReversed()]) {
      expect(takeQuickly(shapes, encodeLine(entry, "id"))).toMatchObject({ key: entry.id });
    }
  });

  test("takes lines of a log, which has no key member, by their members alone", () => {
    const shapes = shapesOf(undefined, { a: 1, b: "x" });
    expect(takeQuickly(shapes, '{"a":2,"b":"y"}')).toMatchObject({ isRemoval: false });
    for (const line of ['{"b":"y","a":2}', '{"a":1,"a":2}', '{"id":"a","$deleted":true}', "{}"]) {
      expect(takeQuickly(shapes, line)).toBeUndefined();
    }
  });

  test("ends within a mebibyte of small values, whole and broken", () => {
    for (const [value, text] of [
      [1, "1"],
      ["", '""'],
      [-0.5, "-0.123456789012345"],
    ] as const) {
      const shapes = shapesOf("id", { id: "a", v: [value] });
      const items = Array(Math.floor(2 ** 20 / (text.length + 1)))
        .fill(text)
        .join(",");
      expect(takeQuickly(shapes, `{"id":"b","v":[${items}]}`)).toMatchObject({ key: "b" });
      expect(takeQuickly(shapes, `{"id":"b","v":[${items},]}`)).toBeUndefined();
    }
  });
});

describe("LineShapes.learn", () => {
  test.each<[string, string, string]>([
    ["members out of order", "id", '{"id":"a","z":1,"b":1}'],
    ["the key member later", "id", '{"b":1,"id":"a"}'],
    ["a name with an escape", "id", '{"id":"a","\\u0062":1,"\\"":1}'],
    ["a name beyond ASCII", "id", '{"id":"a","é":1}'],
    ["a name of the store's own", "id", '{"id":"a","$deleted":true,"n":1}'],
    ["an object inside", "id", '{"id":"a","n":{"x":1}}'],
    ["an array inside an array", "id", '{"id":"a","n":[[1]]}'],
    ["an object inside an array", "id", '{"id":"a","n":[{"x":1}]}'],
    ["numbers for names", "id", '{"id":"a","10":1,"9":1}'],
    [
      "65 members",
      "id",
      encodeLine({ id: "a", ...Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`m${n}`, n])) }, "id"),
    ],
    ["a key member of the store's own", "$id", '{"$id":"a","n":1}'],
    ["a key member with a quote", 'i"d', '{"i\\"d":"a","n":1}'],
    ["a key member beyond ASCII", "é", '{"é":"a","n":1}'],
    ["a key member without letters", "", '{"":"a","n":1}'],
  ])("learns nothing from a line with %s", (_case, keyMember, line) => {
    expect(takeQuickly(shapesOf(keyMember, parse(line)), line)).toBeUndefined();
  });

  test("never learns a form in which a member could come twice", () => {
    const anyName = fc.oneof(name, fc.constantFrom("id", "$x", "é", "10", "9"));
    const entry = fc.uniqueArray(anyName, { maxLength: 5 }).chain((names) =>
      fc.record({
        id: plainKey,
        members: fc.constant(names.filter((member) => member !== "id").map((member) => [member, 1] as const)),
      }),
    );
    fc.assert(
      fc.property(entry, fc.boolean(), ({ id, members }, isKeyFirst) => {
        const pairs = isKeyFirst ? [["id", id] as const, ...members] : [...members, ["id", id] as const];
        const spelled = (rows: typeof pairs): string =>
          `{${rows.map(([member, value]) => `${JSON.stringify(member)}:${JSON.stringify(value)}`).join(",")}}`;
        const shapes = shapesOf("id", parse(spelled(pairs)));
        for (const [index, pair] of pairs.entries()) {
          const doubled = spelled(pairs.toSpliced(index, 0, pair));
          expect(takeQuickly(shapes, doubled), doubled).toBeUndefined();
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("stops at twelve forms", () => {
    const entries = Array.from({ length: 13 }, (_, index) => ({ id: "k", [`m${index}`]: 1 }));
    const shapes = shapesOf("id", ...entries);
    const known = entries.filter((entry) => takeQuickly(shapes, encodeLine(entry, "id")) !== undefined);
    expect(known).toEqual(entries.slice(0, 12));
  });
});
