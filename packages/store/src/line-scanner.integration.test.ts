import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KeyBytes } from "./key-table.ts";
import { encodeLine } from "./line.ts";
import { LineScanner, type ScannedLine, type ScanOptions } from "./line-scanner.ts";
import { parseLine } from "./lines.ts";
import { memoryFolder } from "./testing/folder.ts";

/** What is said of a line: where it lies, and its key or what is wrong with it. */
type Told = readonly [kind: string, line: string, about: string];

function spell({ number, offset, length, isTail }: Readonly<ScannedLine>): string {
  return `${number} at ${offset}+${length}${isTail ? ", the tail" : ""}`;
}

function nameOf({ bytes, from, to }: KeyBytes): string {
  return Buffer.from(bytes.subarray(from, to)).toString("utf8");
}

/** Scans a file with a scanner that has read it before, and so knows its forms. */
function scanned(path: string, options: Omit<ScanOptions, "path">): Told[] {
  const scanner = new LineScanner({ path, ...options });
  const file = openSync(path, "r");
  try {
    let told: Told[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      told = [];
      const count = scanner.scan(
        file,
        { from: 0, line: 1 },
        {
          entry: (line, key) => told.push(["entry", spell(line), nameOf(key)]),
          removal: (line, key) => told.push(["removal", spell(line), nameOf(key)]),
          damaged: (line, reason) => told.push(["damaged", spell(line), reason]),
          blank: (line) => told.push(["blank", spell(line), ""]),
        },
      );
      expect(count).toBe(told.length);
    }
    return told;
  } finally {
    closeSync(file);
  }
}

/** The same, line by line with the strict parser and nothing clever. */
function reference(path: string, content: Buffer, keyMember: string | undefined): Told[] {
  const told: Told[] = [];
  let offset = 0;
  for (let number = 1; offset < content.length; number += 1) {
    const newline = content.indexOf(0x0a, offset);
    const isTail = newline === -1;
    const bytes = content.subarray(offset, isTail ? content.length : newline);
    const line = spell({ number, offset, length: bytes.length, isTail });
    const parse = (value: unknown): Readonly<Record<string, unknown>> => checked(value, keyMember);
    const found = parseLine(bytes, { line: number, isTail }, { path, parse });
    if (found === undefined) told.push(["blank", line, ""]);
    else if ("reason" in found) told.push(["damaged", line, found.reason]);
    else if (keyMember === undefined) told.push(["entry", line, ""]);
    else told.push(["$deleted" in found.value ? "removal" : "entry", line, String(found.value[keyMember])]);
    offset += bytes.length + 1;
  }
  return told;
}

function checked(value: unknown, keyMember: string | undefined): Readonly<Record<string, unknown>> {
  const members = value as Readonly<Record<string, unknown>>;
  if (keyMember === undefined) return members;
  const said = JSON.stringify(keyMember);
  if (!Object.hasOwn(members, keyMember)) throw new Error(`the key member ${said} is missing`);
  if (typeof members[keyMember] !== "string") throw new Error(`the key member ${said} is not a string`);
  if (members[keyMember] === "") throw new Error(`the key member ${said} is empty`);
  for (const name of Object.keys(members)) {
    if (name.startsWith("$") && name !== "$deleted" && name !== keyMember) {
      throw new Error(`${JSON.stringify(name)} is reserved`);
    }
  }
  if (!Object.hasOwn(members, "$deleted")) return members;
  if (members["$deleted"] !== true) throw new Error('"$deleted" is not true');
  if (Object.keys(members).length !== 2) throw new Error("a removal has other members");
  return members;
}

const id = fc.constantFrom("a", "b", "é😀", "__proto__", "x y", 'q"', "\n", "");
const value = fc.oneof(
  fc.constantFrom(0, -1.5, 1e300, "", "x", "é", "\t", '"', true, null, [], [1, "a"], [[1]], { a: 1 }),
  fc.jsonValue({ maxDepth: 1 }),
);
const entry = fc.record({ id, n: value, s: value }, { requiredKeys: ["id"] });
const goodLine = fc.oneof(
  entry.map((members) => encodeLine(JSON.parse(JSON.stringify(members).replaceAll("\\ud", "\\\\ud")), "id")),
  id.map((name) => encodeLine({ id: name, $deleted: true }, "id")),
);
const oddLine = fc.constantFrom(
  ...["", " ", "\t \r", "\ufeff", "nonsense", "[]", "null", "1", '"x"', "{}", '{"n":1}', '{"id":1}', '{"id":null}'],
  ...['{"id":"a","n":1,"n":1}', '{"id":"a","id":"a"}', '{"id":"a","$x":1}', '{"id":"a","$deleted":false}', "=======x"],
  ...[
    '{"$deleted":true,"id":"a"}',
    '{"id":"a","n":1,"$deleted":true}',
    '{"id":"a"} {"id":"b"}',
    '{"id":"a"}\r',
    "=======",
  ],
  ...['{"id":"a","s":"\\ud800"}', '{"id":"\\ud800"}', '{"id":"a","n":1e999}', ' { "id" : "a" } ', '{"id":"a","n":01}'],
  ...['{"id":"a","s":"\u2028"}', '{"id":"a","s":"\t"}', '{"id":"a","s":"x\0"}', '{"\\u0069d":"a"}', '{"n":1,"id":"a"}'],
  ...['\ufeff{"id":"a","n":1}', '{"id":"a","n":1', '{"id":"a","n":1}}', '{"toString":1,"id":"a"}', "<<<<<<< ours"],
);
const rawBytes = fc.uint8Array({ maxLength: 12 });
const line = fc.oneof(
  { weight: 6, arbitrary: goodLine.map((text) => Buffer.from(text)) },
  { weight: 3, arbitrary: oddLine.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: rawBytes.map((bytes) => Buffer.from(bytes)) },
  {
    weight: 2,
    arbitrary: fc.tuple(goodLine, fc.nat(), rawBytes).map(([text, where, bytes]) => {
      const whole = Buffer.from(text);
      const at = where % (whole.length + 1);
      return Buffer.concat([whole.subarray(0, at), bytes.subarray(0, 2), whole.subarray(at + 1)]);
    }),
  },
);
const content = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.boolean())
  .map(([lines, isEnded]) =>
    Buffer.concat(
      lines.flatMap((bytes, at) => (isEnded || at < lines.length - 1 ? [bytes, Buffer.from("\n")] : [bytes])),
    ),
  );

describe("LineScanner.scan", () => {
  test.each([
    ["a store", "id"],
    ["a store whose lines it cannot take quickly", "$id"],
    ["a log", undefined],
  ])("says of every line of %s what the strict parser says, with and without a decoder", (_case, key) => {
    const path = join(memoryFolder(), "lines");
    let kinds = 0;
    fc.assert(
      fc.property(content, (bytes) => {
        const written =
          key === "$id" ? Buffer.from(bytes.toString("latin1").replaceAll('"id"', '"$id"'), "latin1") : bytes;
        writeFileSync(path, written);
        const expected = reference(path, written, key);
        expect(scanned(path, { key })).toEqual(expected);
        expect(scanned(path, { key, decode: (members) => members })).toEqual(expected);
        kinds += new Set(expected.map(([kind]) => kind)).size;
      }),
      { numRuns: 700 },
    );
    expect(kinds).toBeGreaterThan(1000);
  });

  test("counts lines from the one it is told, within the range", () => {
    const path = join(memoryFolder(), "lines");
    writeFileSync(path, '{"id":"a"}\n{"id":"b"}\n{"id":"c"}\n');
    const file = openSync(path, "r");
    const told: string[] = [];
    const visitor = {
      entry: (found: Readonly<ScannedLine>, key: KeyBytes) => told.push(`${spell(found)}: ${nameOf(key)}`),
      removal: () => 0,
      damaged: () => 0,
    };
    expect(new LineScanner({ path, key: "id" }).scan(file, { from: 11, to: 22, line: 42 }, visitor)).toBe(1);
    closeSync(file);
    expect(told).toEqual(["42 at 11+10: b"]);
  });

  test("asks the decoder for every entry, for no removal, and takes its word for damage", () => {
    const path = join(memoryFolder(), "lines");
    writeFileSync(path, '{"id":"a","n":1}\n{"id":"a","n":"one"}\n{"id":"b","$deleted":true}\n');
    const asked: unknown[] = [];
    const decode = (members: unknown): void => {
      asked.push(members);
      if (typeof (members as { n: unknown }).n !== "number") throw new Error("n is no number");
    };
    expect(scanned(path, { key: "id", decode })).toEqual([
      ["entry", "1 at 0+16", "a"],
      ["damaged", "2 at 17+20", "n is no number"],
      ["removal", "3 at 38+26", "b"],
    ]);
    expect(asked.slice(2)).toEqual([
      { id: "a", n: 1 },
      { id: "a", n: "one" },
    ]);
  });

  test("takes lines beyond a mebibyte, in a known form or not", () => {
    const path = join(memoryFolder(), "lines");
    const long = (name: string, text: string): string => encodeLine({ id: name, s: text.repeat(1_100_000) }, "id");
    const lines = [
      encodeLine({ id: "a", s: "x" }, "id"),
      long("b", "x"),
      long("c", "\n"),
      encodeLine({ id: "d", s: "" }, "id"),
    ];
    writeFileSync(path, `${lines.join("\n")}\n`);
    expect(scanned(path, { key: "id" }).map(([kind, , key]) => [kind, key])).toEqual([
      ["entry", "a"],
      ["entry", "b"],
      ["entry", "c"],
      ["entry", "d"],
    ]);
  });
});
