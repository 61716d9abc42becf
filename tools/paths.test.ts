import { describe, expect, test } from "vitest";
import { parseMentions } from "./paths.ts";

describe("parseMentions", () => {
  test("gives the words of inline code and the targets of links, with their lines", () => {
    const text = "See `tools/check.ts`.\nRun `node tools/run.mjs check`, or read [this](docs/guide/a.md#top).\n";
    expect(parseMentions(text)).toEqual([
      { text: "tools/check.ts", line: 1, kind: "code" },
      { text: "node", line: 2, kind: "code" },
      { text: "tools/run.mjs", line: 2, kind: "code" },
      { text: "check", line: 2, kind: "code" },
      { text: "docs/guide/a.md#top", line: 2, kind: "link" },
    ]);
  });

  test("leaves fenced blocks out, a shorter fence inside one included", () => {
    expect(parseMentions("````\n`a/b`\n```\n`c/d`\n````\n~~~sh\n`e/f`\n~~~\n`g/h`\n")).toEqual([
      { text: "g/h", line: 9, kind: "code" },
    ]);
  });
});
