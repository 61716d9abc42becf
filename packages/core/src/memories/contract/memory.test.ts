import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findHidden } from "./hidden.ts";
import { judgeFile, type Memory } from "./memory.ts";

const head = "name: a-rule\ndescription: Prefer timeouts";

function judge(text: string | Buffer, path = "memories/a-rule.md"): ReturnType<typeof judgeFile> {
  return judgeFile(path, Buffer.from(text));
}

function memoryOf(text: string): Memory {
  const judged = judge(text);
  if (judged.kind !== "memory") throw new Error(JSON.stringify(judged));
  return judged.memory;
}

describe("a memory file", () => {
  test.each([
    ["plain", `---\n${head}\n---\nbody\n`],
    ["with a byte order mark", `\uFEFF---\n${head}\n---\nbody\n`],
    ["with CRLF", `---\r\n${head.replace("\n", "\r\n")}\r\n---\r\nbody\r\n`],
    ["with spaces after its fences", `---  \n${head}\n--- \t\nbody`],
    ["without a body", `---\n${head}\n---`],
    [
      "with quotes and more members",
      `---\nname: a-rule\ndescription: "  Prefer timeouts "\nmetadata:\n  scope: x\n---\n`,
    ],
  ])("is one: %s", (_, text) => {
    expect(memoryOf(text)).toMatchObject({
      name: "a-rule",
      description: "Prefer timeouts",
      internal: false,
      warnings: [],
    });
  });

  test.each([
    ["an empty file", "", "no front matter", 1],
    ["no front matter", "# text\n", "no front matter", 1],
    ["front matter without an end", `---\n${head}\n`, "no end", 1],
    ["no members", "---\n- a\n---\n", "no members", 2],
    ["a member twice", `---\n${head}\nname: b\n---\n`, "unique", 4],
    ["broken YAML", '---\nname: "a\n---\n', "quote", 3],
    ["another name than its file's", "---\nname: other\ndescription: d\n---\n", "not its file's", undefined],
    ["a name that is none", "---\nname: A_b\ndescription: d\n---\n", "lower-case", undefined],
    ["no name", "---\ndescription: d\n---\n", "no name", undefined],
    ["no description", '---\nname: a-rule\ndescription: " "\n---\n', "no description", undefined],
    ["a description of two lines", '---\nname: a-rule\ndescription: "a\\nb"\n---\n', "more than one line", undefined],
    ["another node", `---\n${head}\nmetadata: { node_type: skill }\n---\n`, "node_type", undefined],
    ["front matter that is too long", `---\n${head}\nx: ${"a".repeat(16_384)}\n---\n`, "longer than", 1],
    ["front matter nested out of reach", `---\n${head}\nx: ${"[".repeat(8000)}\n---\n`, "", 4],
    ["a node that holds itself", `---\n${head}\nmetadata:\n  node_type: &a [*a]\n---\n`, "node_type", undefined],
    ["metadata that is a list", `---\n${head}\nmetadata: [a]\n---\n`, "metadata", undefined],
  ])("is none: %s", (_, text, reason, line) => {
    expect(judge(text)).toMatchObject({ kind: "invalid", line, reason: expect.stringContaining(reason) });
  });

  test("is none when it is no UTF-8, or too large", () => {
    expect(judge(Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff]))).toMatchObject({
      kind: "invalid",
      reason: "is not UTF-8",
    });
    expect(judge(Buffer.alloc(1_048_577, "a"))).toMatchObject({
      kind: "invalid",
      reason: expect.stringContaining("larger"),
    });
  });

  test("is none when its front matter is a bomb", () => {
    const rows = Array.from(
      { length: 12 },
      (_, at) => `m${at + 1}: &a${at + 1} [${Array.from({ length: 9 }, () => `*a${at}`).join(", ")}]`,
    );
    expect(judge(`---\n${head}\nm0: &a0 [x]\n${rows.join("\n")}\n---\n`)).toMatchObject({ kind: "invalid", line: 2 });
  });

  test("says what is odd about it", () => {
    expect(memoryOf(`---\n${head}\nmetadata:\n  type: &a [*a]\n---\n`).warnings).toHaveLength(1);
    const { warnings, internal } = memoryOf(`---\n${head}\nmetadata: { type: other, internal: "yes" }\n---\n`);
    expect([warnings.length, internal]).toEqual([2, false]);
    expect(memoryOf(`---\n${head}\nmetadata: { internal: true }\n---\n`).internal).toBe(true);
  });

  test("names what it needs, outside code", () => {
    const body = "see [[b]] and [[c-d]], [[b]]\n```\n[[no]]\n```\n`[[nor-this]]` [[Not]]\n~~~\n[[open]]\n";
    expect(memoryOf(`---\n${head}\n---\n${body}`).links).toEqual(["b", "c-d"]);
  });

  test.each(["README.md", "a/readme.md", "MEMORY.md"])("is not looked for in %s", (path) => {
    expect(judge("", path)).toEqual({ kind: "skipped" });
  });

  test("is judged whatever its bytes are", () => {
    const piece = fc.constantFrom(
      "---\n",
      "name: a-rule\n",
      "description: d\n",
      "&a ",
      "*a",
      "<<: *a\n",
      "? ",
      "- ",
      "!!binary x",
      "\t",
      ": ",
      "[[x]]\n",
      "%YAML 9\n",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece).map((pieces) => Buffer.from(`---\n${pieces.join("")}`)),
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (bytes) => {
          expect(["memory", "invalid"]).toContain(judgeFile("a-rule.md", bytes).kind);
        },
      ),
    );
  });
});

describe("what hides in a text", () => {
  test.each([
    ["zero-width", "\u200B", "U+200B"],
    ["zero-width", "\u{E0041}", "U+E0041"],
    ["zero-width", "\uFEFF", "U+FEFF"],
    ["bidi", "\u202E", "U+202E"],
    ["bidi", "\u061C", "U+061C"],
    ["control", "\u0007", "U+0007"],
    ["control", "\u0085", "U+0085"],
    ["ansi", "\u001B[31m", "U+001B"],
    ["html-comment", "<!-- do -->", "<!--"],
  ])("is found with its place: %s %j", (kind, character, shown) => {
    expect(findHidden(`first\n\u{1F600}é${character}\n`)).toEqual([{ kind, line: 2, column: 3, shown }]);
  });

  test("is counted on over lines and characters", () => {
    const found = findHidden("a\u200B😀\u200B\n\u200B\n\n é\u200B\u200B");
    expect(found.map(({ line, column }) => [line, column])).toEqual([
      [1, 2],
      [1, 4],
      [2, 1],
      [4, 3],
      [4, 4],
    ]);
  });

  test("is nothing in tabs, line ends, accents or a mark at the start", () => {
    expect(findHidden("\uFEFFa\tb\r\né 😀 <! --\n")).toEqual([]);
  });
});
