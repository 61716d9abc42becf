import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type KeyBytes, type KeyColumns, KeyTable, keyBytes, type Place } from "./key-table.ts";

/** A key's bytes somewhere inside a larger buffer, as the scanner hands them on. */
function bytesOf(key: string): KeyBytes {
  const bytes = Buffer.from(`<<${key}>>`, "utf8");
  return { bytes, from: 2, to: bytes.length - 2 };
}

function placesOf(table: KeyTable): [string, number, number][] {
  const place: Place = { offset: 0, length: 0 };
  return Array.from(table.rows(), (row) => {
    table.readPlace(row, place);
    return [table.keyOf(row), place.offset, place.length];
  });
}

function copyOf(columns: KeyColumns): KeyColumns {
  const { slots, hashes, offsets, lengths, keyOffsets, keyLengths, keys } = columns;
  return {
    slots: slots.slice(),
    hashes: hashes.slice(),
    offsets: offsets.slice(),
    lengths: lengths.slice(),
    keyOffsets: keyOffsets.slice(),
    keyLengths: keyLengths.slice(),
    keys: keys.slice(),
  };
}

const key = fc.oneof(
  fc.constantFrom("", "a", "b", "é", "😀", "__proto__", "constructor", "x".repeat(2000)),
  fc.integer({ min: 0, max: 150 }).map((number) => `key-${number}`),
  fc.string({ unit: "binary", maxLength: 8 }),
);

const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("set" as const), key }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("delete" as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("keep" as const, "look" as const, "pack" as const), key }),
  },
);

describe("KeyTable", () => {
  test("answers as a map does that gives a removed key a new place, kept, packed and grown", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400, size: "max" }), (steps) => {
        let table = new KeyTable();
        let model = new Map<string, [number, number]>();
        for (const [index, { kind, key: name }] of steps.entries()) {
          if (kind === "set") {
            table.set(bytesOf(name), { offset: index * 5_000_000_000, length: index + 1 });
            model.set(name, [index * 5_000_000_000, index + 1]);
          } else if (kind === "delete") {
            expect(table.delete(bytesOf(name))).toBe(model.delete(name));
          } else if (kind === "keep") {
            table = KeyTable.from(copyOf(table.columns()));
          } else if (kind === "look") {
            expect(table.columns().offsets.length).toBe(model.size);
          } else {
            table = table.packed();
            let at = 0;
            const packed = new Map<string, [number, number]>();
            for (const [other, [, length]] of model) {
              packed.set(other, [at, length]);
              at += length + 1;
            }
            model = packed;
          }
          expect(table.size).toBe(model.size);
          expect(table.find(bytesOf(name)) >= 0).toBe(model.has(name));
        }
        expect(placesOf(table)).toEqual([...model].map(([name, [offset, length]]) => [name, offset, length]));
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    ["costarring", "liquid"],
    ["declinate", "macallums"],
    ["altarage", "zinke"],
  ])("tells %s from %s, whose hashes are the same", (left, right) => {
    const table = new KeyTable();
    table.set(bytesOf(left), { offset: 1, length: 1 });
    expect(table.find(bytesOf(right))).toBe(-1);
    table.set(bytesOf(right), { offset: 2, length: 2 });
    const { hashes } = table.columns();
    expect(hashes[0]).toBe(hashes[1]);
    expect(table.delete(bytesOf(left))).toBe(true);
    expect([table.find(bytesOf(left)), placesOf(table)]).toEqual([-1, [[right, 2, 2]]]);
    table.set(bytesOf(left), { offset: 3, length: 3 });
    expect(placesOf(table)).toEqual([
      [right, 2, 2],
      [left, 3, 3],
    ]);
  });

  test("does not take the beginning of a key for the key", () => {
    const table = new KeyTable();
    for (const name of ["a", "ab", "abc", ""]) table.set(bytesOf(name), { offset: name.length, length: 1 });
    table.delete(bytesOf("ab"));
    expect(placesOf(table)).toEqual([
      ["a", 1, 1],
      ["abc", 3, 1],
      ["", 0, 1],
    ]);
  });

  test("finds each of many keys, whatever was removed in between", () => {
    const table = new KeyTable();
    const names = Array.from({ length: 20_000 }, (_, number) => `job-${number}-${"é".repeat(number % 7)}`);
    for (const [index, name] of names.entries()) table.set(bytesOf(name), { offset: index, length: 1 });
    const removed = names.filter((_, index) => index % 3 === 0);
    for (const name of removed) expect(table.delete(bytesOf(name))).toBe(true);
    for (const name of removed.slice(0, 10)) table.set(bytesOf(name), { offset: 7, length: 2 });
    const left = names.filter((_, index) => index % 3 !== 0);
    expect(Array.from(table.rows(), (row) => table.keyOf(row))).toEqual([...left, ...removed.slice(0, 10)]);
    expect(table.size).toBe(left.length + 10);
    for (const name of removed.slice(10)) expect(table.find(bytesOf(name))).toBe(-1);
  });

  test("does not grow with keys that come and go", () => {
    const table = new KeyTable();
    table.set(bytesOf("stays"), { offset: 0, length: 1 });
    for (let number = 0; number < 50_000; number += 1) {
      const passing = bytesOf(`passing-${number}`);
      table.set(passing, { offset: number, length: 1 });
      table.delete(passing);
    }
    table.set(bytesOf("last"), { offset: 1, length: 1 });
    expect(table.find(bytesOf("last"))).toBeLessThan(128);
    table.delete(bytesOf("last"));
    expect(placesOf(table)).toEqual([["stays", 0, 1]]);
  });

  test("holds offsets beyond 32 bits", () => {
    const table = new KeyTable();
    table.set(bytesOf("far"), { offset: 2 ** 45 + 1, length: 2 ** 28 });
    expect(placesOf(KeyTable.from(table.columns()))).toEqual([["far", 2 ** 45 + 1, 2 ** 28]]);
  });
});

describe("keyBytes", () => {
  test("gives the UTF-8 bytes of any text, however long", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 400, size: "max" }),
      fc.constantFrom("a".repeat(255), "a".repeat(256), "a".repeat(257), `${"a".repeat(255)}é`, "é".repeat(200)),
    );
    fc.assert(
      fc.property(text, (name) => {
        const { bytes, from, to } = keyBytes(name);
        expect(Buffer.from(bytes.subarray(from, to)).toString("utf8")).toBe(name);
      }),
    );
  });
});
