import { describe, expect, test } from "vitest";
import { sweepPieces } from "./secrets.ts";

/** Secrets in the form of the real ones, put together here so that nobody takes them for some. */
const github = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const key = (lines: number): string =>
  [
    "-----BEGIN RSA",
    `PRIVATE KEY-----\n${`${"MIIEpAIBAAKCAQEA".repeat(4)}\n`.repeat(lines)}-----END RSA PRIVATE KEY-----`,
  ].join(" ");

function pieces(text: string, size: number): readonly Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

describe("sweepPieces", () => {
  test("names line and rule, and never the value", async () => {
    const found = await sweepPieces(pieces(`one\ntwo ${github}\n${key(20)}\nlast`, 64));
    expect(found).toEqual([
      { line: 2, rule: "github" },
      { line: 3, rule: "privatekey" },
    ]);
  });

  test("finds a secret wherever it lies in a text of several windows, once", async () => {
    const filler = `${"x".repeat(99)}\n`;
    for (const before of [0, 2400, 2560, 2600, 2621, 2622, 2800, 7000]) {
      const text = `${filler.repeat(before)}${github}\n${filler.repeat(9000 - before)}`;
      expect(await sweepPieces(pieces(text, 1 << 16)), `after ${before} lines`).toEqual([
        { line: before + 1, rule: "github" },
      ]);
    }
  });

  test("a key whose lines lie in two windows is found", async () => {
    const filler = `${"x".repeat(99)}\n`;
    for (let before = 2590; before < 2625; before += 3) {
      const text = `${filler.repeat(before)}${key(40)}\n${filler.repeat(4000)}`;
      expect(await sweepPieces(pieces(text, 1 << 16)), `after ${before} lines`).toContainEqual({
        line: before + 1,
        rule: "privatekey",
      });
    }
  });

  test("a file with a NUL among its first bytes is binary; an empty one holds nothing", async () => {
    expect(await sweepPieces([Buffer.from(`a\0${github}`)])).toBe("binary");
    expect(await sweepPieces([])).toEqual([]);
  });
});
