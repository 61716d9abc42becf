import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Checksum, checksum, shortHash } from "./checksum.ts";

describe("checksum", () => {
  test("tells every change of a byte, of the order and of the length apart", () => {
    const seen = new Map<string, string>();
    const base = Buffer.from("the quick brown fox jumps over it");
    const variants: Buffer[] = [base, Buffer.alloc(0)];
    for (let at = 0; at < base.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const flipped = Buffer.from(base);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        variants.push(flipped);
      }
      variants.push(base.subarray(0, at + 1), base.subarray(at + 1), Buffer.alloc(at + 1));
      variants.push(Buffer.concat([base.subarray(at), base.subarray(0, at), Buffer.from("!")]));
    }
    for (const bytes of variants) {
      const digits = checksum(bytes);
      expect(digits).toMatch(/^[0-9a-f]{16}$/);
      const other = seen.get(digits);
      if (other !== undefined) expect(bytes.toString("hex")).toBe(other);
      seen.set(digits, bytes.toString("hex"));
    }
    expect(seen.size).toBeGreaterThan(300);
  });

  test("is the same however the bytes come", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 70 }), fc.nat({ max: 7 }), (bytes, words, shift) => {
        const cut = Math.min(words * 4, bytes.length - (bytes.length % 4));
        const moved = Buffer.concat([Buffer.alloc(shift), bytes]).subarray(shift);
        const parts = new Checksum().update(moved.subarray(0, cut)).update(moved.subarray(cut));
        expect(parts.digits()).toBe(checksum(bytes));
      }),
    );
  });

  test("has its bits spread over similar contents", () => {
    const digits = new Set<string>();
    const halves = new Set<string>();
    for (let n = 0; n < 20_000; n += 1) {
      const sum = checksum(Buffer.from(`{"n":${n}}\n`));
      digits.add(sum);
      halves.add(sum.slice(0, 8));
    }
    expect(digits.size).toBe(20_000);
    expect(halves.size).toBeGreaterThan(19_990);
  });
});

describe("shortHash", () => {
  test("has eight digits and is never all zero", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(shortHash(text)).toMatch(/^(?!0{8})[0-9a-f]{8}$/);
      }),
    );
    expect(shortHash("a")).not.toBe(shortHash("b"));
  });
});
