import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readBlocks, type WantedBlock, writeBlocks } from "./block.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);
const sha = "fc675572711b0a1c9e00000000000000000000aa";
const one: WantedBlock = { key: "@o/rules", sha, lines: ["- a rule (detail: a.md, 1234567)"] };
const two: WantedBlock = { key: "/home/a b/rules", sha, lines: ["- another", "- and one more"] };

function put(text: string | undefined, ...wanted: readonly WantedBlock[]): string {
  const written = writeBlocks(text, wanted, hash);
  if (written?.text === undefined) throw new Error("nothing was written");
  return written.text;
}

const texts: readonly (readonly [string, string])[] = [
  ["nothing", ""],
  ["a line", "# Mine\n"],
  ["no newline at the end", "# Mine"],
  ["blank lines at the end", "# Mine\n\n\n"],
  ["CRLF", "# Mine\r\n\r\ntext  \r\n"],
  ["a byte order mark", "\uFEFF# Mine\n"],
  ["front matter", "---\na: 1\n---\n# Mine\n"],
  ["a fence without an end", "# Mine\n\n~~~~sh\necho\n"],
  ["a fence without an end or newline", "```\necho"],
  ["a comment without an end", "text\n\n<!-- open\n"],
  ["raw HTML without an end", "<script>\nlet a;\n"],
  ["a list", "- a\n  - b"],
  ["a quote", "> a\n> b"],
  [
    "markers in a fence",
    "```\n<!-- reeve:memories:begin @o/rules sha=a block=000000000000 sep= -->\n<!-- reeve:memories:end @o/rules -->\n```\n",
  ],
  [
    "markers in a list",
    "- <!-- reeve:memories:begin @o/rules sha=a block=000000000000 sep= -->\n  <!-- reeve:memories:end @o/rules -->\n",
  ],
  ["a block without an end", "<!-- reeve:memories:begin @o/rules sha=a block=000000000000 sep= -->\n- lost\n"],
];

describe("blocks in a rule file", () => {
  test.each(texts)("come and go without changing a byte of the person's: %s", (_, text) => {
    const written = put(text, one, two);
    expect(readBlocks(written, hash).map(({ key, lines, isEdited }) => ({ key, lines, isEdited }))).toEqual([
      { key: one.key, lines: one.lines, isEdited: false },
      { key: two.key, lines: two.lines, isEdited: false },
    ]);
    expect(written.startsWith(text)).toBe(true);
    expect(put(written, one, two)).toBe(written);
    expect(put(put(written, two), one, two)).toContain(text);
    expect(writeBlocks(written, [], hash)).toEqual({ text, edited: [] });
    expect(writeBlocks(put(written, two), [], hash)?.text).toBe(text);
    expect(writeBlocks(put(written, one), [], hash)?.text).toBe(text);
  });

  test("come and go in any text that has none", () => {
    const word = fc.constantFrom(
      "# a",
      "- b",
      "  ",
      "```",
      "~~~",
      "> ",
      "<!--",
      "-->",
      "<div>",
      "text",
      "1. x",
      "\t",
      "é",
    );
    const end = fc.constantFrom("\n", "\n", "\n\n", "\r\n", "");
    const text = fc.array(fc.tuple(word, end), { maxLength: 12 }).map((rows) => rows.flat().join(""));
    fc.assert(
      fc.property(text, fc.subarray([one, two], { minLength: 1 }), (person, wanted) => {
        const written = put(person, ...wanted);
        expect(written.startsWith(person)).toBe(true);
        expect(put(written, ...wanted)).toBe(written);
        expect(writeBlocks(written, [], hash)).toEqual({ text: person, edited: [] });
      }),
      { numRuns: 500 },
    );
  });

  test("make a file that goes with the last of them, whichever that is", () => {
    const written = put(undefined, one, two);
    expect(written.startsWith("<!-- reeve:memories:begin @o/rules ")).toBe(true);
    for (const left of [one, two]) {
      const rest = put(written, left);
      expect(readBlocks(rest, hash)).toHaveLength(1);
      expect(writeBlocks(rest, [], hash)?.text).toBeUndefined();
    }
    expect(writeBlocks(`${written}mine\n`, [], hash)?.text).toBe("mine\n");
  });

  test("are replaced where they stand, with what a person wrote behind them", () => {
    const text = `${put("above", one)}below\n`;
    const changed = put(text, { ...one, lines: ["- new"] }, two);
    expect(changed).toMatch(/^above\n\n<!-- .*\n- new\n<!-- .*end @o\/rules -->\n\n<!-- .*\n- another\n/);
    expect(changed.endsWith("below\n")).toBe(true);
    expect(writeBlocks(changed, [], hash)?.text).toBe("above\nbelow\n");
  });

  test("tell what was edited by hand before it goes", () => {
    const edited = put("a\n", one).replace("- a rule", "- my rule");
    const written = writeBlocks(edited, [one], hash);
    expect(written?.edited.map(({ lines }) => lines)).toEqual([["- my rule (detail: a.md, 1234567)"]]);
    expect(written?.text).toBe(put("a\n", one));
    expect(writeBlocks(edited, [], hash)).toMatchObject({ text: "a\n", edited: [{ key: one.key }] });
  });

  test("are one for a source: a second goes, a lone marker stays the person's", () => {
    const text = put("a\n", one);
    const block = text.slice(2);
    expect(put(`${text}${block}`, one)).toBe(text);
    const lone = `${text}\n<!-- reeve:memories:end @o/rules -->\n`;
    expect(put(lone, one)).toBe(lone);
    expect(writeBlocks(lone, [], hash)?.text).toBe("a\n\n<!-- reeve:memories:end @o/rules -->\n");
  });

  test("are not taken out where that would make a pair of two lone markers", () => {
    const text = put("<!-- reeve:memories:begin @o/x sha=a block=000000000000 sep= -->\n- lost\n", one);
    expect(writeBlocks(`${text}\n<!-- reeve:memories:end @o/x -->\n`, [], hash)).toBeUndefined();
  });
});
