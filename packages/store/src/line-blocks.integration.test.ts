import { closeSync, ftruncateSync, openSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ByteRange, readBlocks } from "./line-blocks.ts";
import { maxLineBytes } from "./lines.ts";
import { memoryFolder } from "./testing/folder.ts";

interface Block {
  readonly kind: string;
  readonly offset: number;
  readonly skipped: number;
  readonly bytes: Buffer;
}

function openFile(path: string, flags = "r"): number {
  const file = openSync(path, flags);
  onTestFinished(() => closeSync(file));
  return file;
}

/** The blocks of a file with these bytes, each with bytes of its own. */
function blocksOf(path: string, content: Uint8Array, range: ByteRange = { from: 0 }): Block[] {
  writeFileSync(path, content);
  const file = openSync(path, "r");
  try {
    return Array.from(readBlocks(file, path, range), (block) => ({ ...block, bytes: Buffer.from(block.bytes) }));
  } finally {
    closeSync(file);
  }
}

/** They follow each other without a gap, hold whole lines, and only the last may lack its newline. */
function expectWhole(blocks: readonly Block[], content: Buffer, from = 0): void {
  let at = from;
  for (const [index, { kind, offset, skipped, bytes }] of blocks.entries()) {
    expect([offset, skipped, bytes.length > 0]).toEqual([at, 0, true]);
    expect(kind).toBe(bytes.at(-1) === 0x0a ? "lines" : "tail");
    if (kind === "tail") expect([index, bytes.includes(0x0a)]).toEqual([blocks.length - 1, false]);
    at += bytes.length;
  }
  expect(Buffer.concat(blocks.map(({ bytes }) => bytes)).equals(content.subarray(from))).toBe(true);
}

/** A line of so many bytes, its newline counted. */
function lineOf(bytes: number, character = "x"): Buffer {
  const width = Buffer.byteLength(character);
  return Buffer.from(`${"-".repeat((bytes - 1) % width)}${character.repeat(Math.floor((bytes - 1) / width))}\n`);
}

const chunk = 64 * 1024;

describe("readBlocks", () => {
  test.each<[string, string, [string, number][]]>([
    ["an empty file", "", []],
    ["one line", "a\n", [["lines", 2]]],
    ["a line without its newline", "a", [["tail", 1]]],
    [
      "lines and a rest",
      "a\n\nb",
      [
        ["lines", 3],
        ["tail", 1],
      ],
    ],
    ["a newline alone", "\n", [["lines", 1]]],
  ])("gives the blocks of %s", (_case, text, blocks) => {
    const found = blocksOf(join(memoryFolder(), "a"), Buffer.from(text));
    expect(found.map(({ kind, bytes }) => [kind, bytes.length])).toEqual(blocks);
    expectWhole(found, Buffer.from(text));
  });

  test.each([
    ["one byte less than a chunk", [chunk - 1]],
    ["exactly a chunk", [chunk]],
    ["one byte more than a chunk", [chunk + 1]],
    ["a chunk, twice", [chunk, chunk]],
    ["a chunk and one, then a chunk less one", [chunk + 1, chunk - 1]],
    ["a little and then more than is left of the chunk", [10, chunk - 5, 7]],
    ["four chunks", [4 * chunk]],
    ["four chunks and one byte", [4 * chunk + 1, 3]],
    ["more than a mebibyte between small ones", [5, 1_500_000, 5, 5]],
    ["ever longer", [1, 300_000, 2, 1_300_000, 3, 5_000_000, 4]],
  ])("gives whole lines whose lengths are %s, with characters of several bytes across the border", (_case, lengths) => {
    const path = join(memoryFolder(), "a");
    for (const character of ["x", "é", "😀"]) {
      const content = Buffer.concat(lengths.map((length) => lineOf(length, character)));
      for (const ending of [content, content.subarray(0, -1), Buffer.concat([content, Buffer.from("rest é")])]) {
        const found = blocksOf(path, ending);
        expectWhole(found, ending);
      }
    }
  });

  test("reads what lies between two offsets and nothing else", () => {
    const path = join(memoryFolder(), "a");
    const content = Buffer.from("one\ntwo\nthree\nfour");
    expect(blocksOf(path, content, { from: 4 }).map(({ bytes }) => bytes.toString())).toEqual(["two\nthree\n", "four"]);
    expect(blocksOf(path, content, { from: 4, to: 8 }).map(({ bytes, offset }) => [bytes.toString(), offset])).toEqual([
      ["two\n", 4],
    ]);
    expect(blocksOf(path, content, { from: 4, to: 10 }).map(({ bytes, kind }) => [bytes.toString(), kind])).toEqual([
      ["two\n", "lines"],
      ["th", "tail"],
    ]);
    expect(blocksOf(path, content, { from: 18 })).toEqual([]);
    expect(blocksOf(path, content, { from: 8, to: 8 })).toEqual([]);
  });

  test("gives whole lines of any lengths from any line on", () => {
    const path = join(memoryFolder(), "a");
    const border = fc.integer({ min: chunk - 3, max: chunk + 3 });
    const length = fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 99 }) },
      border,
      fc.integer({ min: 1, max: 700_000 }),
    );
    fc.assert(
      fc.property(
        fc.array(length, { maxLength: 8 }),
        fc.boolean(),
        fc.nat(),
        fc.nat(),
        (lengths, isCut, skipped, end) => {
          const whole = Buffer.concat(lengths.map((bytes, index) => lineOf(bytes, index % 2 === 0 ? "é" : "y")));
          const content = isCut ? whole.subarray(0, -1) : whole;
          const lines = skipped % (lengths.length + 1);
          const from = Math.min(
            lengths.slice(0, lines).reduce((sum, bytes) => sum + bytes, 0),
            content.length,
          );
          expectWhole(blocksOf(path, content, { from }), content, from);
          const to = from + (end % (content.length - from + 1));
          expectWhole(blocksOf(path, content, { from, to }), content.subarray(0, to), from);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("is back at blocks of the usual size after a long line", () => {
    const path = join(memoryFolder(), "a");
    const small = Buffer.concat(Array.from({ length: 3000 }, () => lineOf(1000)));
    const content = Buffer.concat([small.subarray(0, 5000), lineOf(3_000_000), small]);
    const found = blocksOf(path, content);
    expectWhole(found, content);
    const longEnd = 5000 + 3_000_000;
    const later = found.filter(({ offset, bytes }) => offset >= longEnd && bytes.length > 0);
    expect(later.length).toBeGreaterThan(5);
    expect(later.filter(({ bytes }) => bytes.length > chunk)).toEqual([]);
  });

  test("does not read what is appended after it began", () => {
    const path = join(memoryFolder(), "a");
    writeFileSync(path, "one\n");
    const blocks = readBlocks(openFile(path), path, { from: 0 });
    expect(blocks.next().value).toMatchObject({ kind: "lines", offset: 0 });
    writeFileSync(path, "two\n", { flag: "a" });
    expect(blocks.next().done).toBe(true);
  });

  test("ends where a file ends that is cut while it is read", () => {
    const path = join(memoryFolder(), "a");
    writeFileSync(path, Buffer.concat([lineOf(chunk), lineOf(chunk), lineOf(chunk)]));
    const file = openFile(path, "r+");
    const blocks = readBlocks(file, path, { from: 0 });
    expect(blocks.next().value).toMatchObject({ offset: 0 });
    ftruncateSync(file, chunk + 3);
    const { value } = blocks.next();
    expect(value).toMatchObject({ kind: "tail", offset: chunk });
    expect(String((value as Block).bytes)).toBe("xxx");
    expect(blocks.next().done).toBe(true);
  });

  test("holds no more of a line than may be read, and tells where the next one begins", { timeout: 120_000 }, () => {
    const path = join(memoryFolder(), "a");
    writeFileSync(path, "one\n");
    const longEnd = 4 + maxLineBytes + 5_000_000;
    truncateSync(path, longEnd);
    writeFileSync(path, "\nlast\n", { flag: "a" });
    const found = Array.from(readBlocks(openFile(path), path, { from: 0 }), ({ kind, offset, skipped, bytes }) => ({
      kind,
      offset,
      skipped,
      held: bytes.length,
    }));
    expect(found).toEqual([
      { kind: "lines", offset: 0, skipped: 0, held: 4 },
      { kind: "cut", offset: 4, skipped: longEnd - 4, held: maxLineBytes + 1 },
      { kind: "lines", offset: longEnd + 1, skipped: 0, held: 5 },
    ]);
  });

  test("says where a file cannot be read", () => {
    const path = join(memoryFolder(), "a");
    writeFileSync(path, "one\n");
    const file = openSync(path, "r");
    closeSync(file);
    const read = (): unknown => readBlocks(file, path, { from: 0 }).next();
    expect(read).toThrow(expect.objectContaining({ code: "IO", path, details: { errno: "EBADF" } }));
  });
});
