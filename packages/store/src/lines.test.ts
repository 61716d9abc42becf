import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeLine } from "./line.ts";
import { parseLines } from "./lines.ts";

function parse(text: string | Uint8Array): { entries: [number, unknown][]; problems: [number, string][] } {
  const { entries, problems } = parseLines(Buffer.from(text), { path: "f" });
  return {
    entries: entries.map(({ line, value }) => [line, value]),
    problems: problems.map(({ path, line, reason }) => {
      expect(path).toBe("f");
      return [line, reason];
    }),
  };
}

const good: [number, unknown][] = [
  [1, { a: 1 }],
  [3, { b: 2 }],
];

describe("parseLines", () => {
  test("numbers lines from 1 and keeps their text", () => {
    const { entries, problems } = parseLines(Buffer.from('{"a":1}\n { "b" : 2 }\r\n'), { path: "f" });
    expect(entries).toEqual([
      { line: 1, value: { a: 1 }, text: '{"a":1}' },
      { line: 2, value: { b: 2 }, text: ' { "b" : 2 }\r' },
    ]);
    expect(problems).toEqual([]);
  });

  test.each<[string, string | Buffer, string]>([
    ["no JSON", "nonsense", 'column 1: unexpected "n"'],
    ["cut off", '{"x":"y', "column 8: unexpected end"],
    ["two objects", '{"x":1}{"y":2}', "column 8: text after the end of the value"],
    ["an array", "[1]", "not an object"],
    ["null", "null", "not an object"],
    ["a string", '"x"', "not an object"],
    ["a duplicate member", '{"x":1,"x":2}', 'column 8: duplicate member "x"'],
    ["a byte order mark", "\ufeff{}", "column 1: byte order mark"],
    ["a lone surrogate", '{"x":"\\ud800"}', "column 6: lone surrogate in a string"],
    ["a raw NUL", '{"x":"\0"}', "NUL byte"],
    ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "invalid UTF-8"],
    ["half a character", Buffer.from([0x7b, 0xc3]), "invalid UTF-8"],
    ["a conflict marker", "<<<<<<< ours", "conflict marker"],
    ["a conflict divider", "=======", "conflict marker"],
    ["a conflict end", ">>>>>>> theirs", "conflict marker"],
  ])("lets a line that is %s cost itself only", (_case, line, reason) => {
    const bytes = Buffer.concat([Buffer.from('{"a":1}\n'), Buffer.from(line), Buffer.from('\n{"b":2}\n')]);
    expect(parse(bytes)).toEqual({ entries: good, problems: [[2, reason]] });
  });

  test.each([
    ["empty", ""],
    ["spaces", "  \t "],
    ["a carriage return", "\r"],
  ])("passes over a blank line: %s", (_case, line) => {
    expect(parse(`{"a":1}\n${line}\n{"b":2}\n`)).toEqual({ entries: good, problems: [] });
  });

  test("counts a whole last line without its newline, and names a torn one", () => {
    expect(parse('{"a":1}').entries).toEqual([[1, { a: 1 }]]);
    for (const tail of ['{"b"', '{"b":2', "x", Buffer.from([0x7b, 0xc3])]) {
      const torn = parse(Buffer.concat([Buffer.from('{"a":1}\n'), Buffer.from(tail)]));
      expect(torn).toEqual({ entries: [[1, { a: 1 }]], problems: [[2, "torn"]] });
    }
    expect(parse('{"only":"to').problems).toEqual([[1, "torn"]]);
  });

  test("names the damage of a last line that is whole and no entry", () => {
    expect(parse('{"a":1}\n[2]').problems).toEqual([[2, "not an object"]]);
  });

  test("has no entries in an empty file", () => {
    expect(parse("")).toEqual({ entries: [], problems: [] });
  });

  test("reports what the caller's parse refuses", () => {
    const options = {
      path: "f",
      parse: (value: unknown): number => {
        if (typeof value === "object" && value !== null && "n" in value && typeof value.n === "number") return value.n;
        throw new Error("no n");
      },
    };
    const { entries, problems } = parseLines(Buffer.from('{"n":1}\n{"m":2}\n{"n":3}'), options);
    expect(entries.map(({ value }) => value)).toEqual([1, 3]);
    expect(problems).toEqual([{ path: "f", line: 2, reason: "no n" }]);
  });

  test("reads back what encodeLine wrote, whatever bytes lie between", () => {
    const entry = fc.dictionary(
      fc.string({ unit: "grapheme" }),
      fc.oneof(fc.string({ unit: "grapheme" }), fc.integer()),
    );
    const noise = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)));
    fc.assert(
      fc.property(fc.array(fc.tuple(entry, fc.option(noise))), (rows) => {
        const parts = rows.flatMap(([value, damage]) => [
          Buffer.from(`${encodeLine(value)}\n`),
          damage === null ? Buffer.alloc(0) : Buffer.concat([Buffer.from("!"), damage, Buffer.from("\n")]),
        ]);
        const { entries, problems } = parse(Buffer.concat(parts));
        expect(entries.map(([, value]) => value)).toEqual(rows.map(([value]) => ({ ...value })));
        expect(problems.length).toBe(rows.filter(([, damage]) => damage !== null).length);
      }),
    );
  });
});
