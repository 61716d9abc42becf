import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HookName, hookNames, insertBlock, isShellHook, renderBlock, splitHook } from "./block.ts";

const block = renderBlock("pre-commit", "/opt/reeve/bin/reeve.cjs");

const row = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "npm test || exit 1",
    "",
    "# a comment",
    "exit 0",
    "\t",
    "# <<< other <<<",
    "echo '# >>> reeve >>>'",
    "ü",
  ),
);
const foreign = fc
  .tuple(fc.constantFrom("", "#!/bin/sh\n", "#!/usr/bin/env bash\n", "#!/bin/sh -e"), fc.array(row), fc.boolean())
  .map(([first, rows, ended]) => `${first}${rows.join("\n")}${ended ? "\n" : ""}`)
  .filter((text) => splitHook(text) === undefined && !text.includes("\r"));

describe("insertBlock", () => {
  test.each([undefined, ""])("insertBlock makes a hook of %j", (text) => {
    expect(insertBlock(text, block)).toBe(`#!/bin/sh\n${block}`);
  });

  test("insertBlock stands right after the first line, and leaves every other byte", () => {
    expect(insertBlock("#!/bin/bash\nnpm test\n", block)).toBe(`#!/bin/bash\n${block}npm test\n`);
    expect(insertBlock("npm test", block)).toBe(`${block}npm test`);
    expect(insertBlock("#!/bin/sh", block)).toBe(`#!/bin/sh\n${block}`);
  });

  test("insertBlock keeps whatever stood in the hook", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        const split = splitHook(insertBlock(text, block));
        if (typeof split !== "object") throw new Error(`the block is ${split}`);
        const kept = split.before + split.after;
        expect(split.block).toBe(block);
        expect([text, `#!/bin/sh\n${text}`, `${text}\n`]).toContain(kept);
        if (text !== "" && !/^#![^\n]*$/.test(text)) expect(kept).toBe(text);
        expect(split.before).toMatch(/^(?:#![^\n]*\n)?$/);
      }),
      { numRuns: 300 },
    );
  });

  test("insertBlock is the same a second time, and replaces an older block in its place", () => {
    fc.assert(
      fc.property(foreign, foreign, (before, after) => {
        const once = insertBlock(before, block);
        expect(insertBlock(once, block)).toBe(once);
        const older = block.replace("pre-commit", "pre-historic");
        const text = `${before}\n${older}${after}`;
        fc.pre(typeof splitHook(text) === "object");
        expect(insertBlock(text, block)).toBe(`${before}\n${block}${after}`);
      }),
      { numRuns: 200 },
    );
  });
});

describe("splitHook", () => {
  test.each([undefined, "broken"])("splitHook tells a hook whose marks are %s", (state) => {
    const texts: Readonly<Record<string, readonly string[]>> = {
      undefined: ["", "#!/bin/sh\n", "npm test\n", "  # >>> reeve >>> indented\n", "echo # >>> reeve >>>\n"],
      broken: [
        block.split("\n").slice(0, -2).join("\n"),
        block.split("\n").slice(1).join("\n"),
        block + block,
        block.split("\n").reverse().join("\n"),
        `${block}# <<< reeve <<<\n`,
        `# >>> reeve >>>\n${block}`,
      ],
    };
    for (const text of texts[String(state)] ?? []) expect(splitHook(text), text).toBe(state);
  });

  test("splitHook finds a block whose last line has no end, and one with carriage returns", () => {
    expect(splitHook(`a\n${block.trimEnd()}`)).toEqual({ before: "a\n", block: block.trimEnd(), after: "" });
    const windows = block.replaceAll("\n", "\r\n");
    expect(splitHook(`a\r\n${windows}b`)).toEqual({ before: "a\r\n", block: windows, after: "b" });
  });
});

describe("isShellHook", () => {
  test.each([
    ["", true],
    ["npm test\n", true],
    ["#!/bin/sh\n", true],
    ["#! /bin/sh\n", true],
    ["#!/bin/sh -e\n", true],
    ["#!/usr/bin/env bash\n", true],
    ["#!/usr/bin/env -S bash -e\n", true],
    ["#!/usr/local/bin/zsh", true],
    ["#!/bin/dash\n", true],
    ["#!/usr/bin/env node\n", false],
    ["#!/usr/bin/python3\n", false],
    ["#!/bin/shell\n", false],
    ["#!/usr/bin/fish\n", false],
    ["#!/bin/bashful\n", false],
    ["#!/usr/bin/env perl # bash\n", false],
  ])("isShellHook answers of %j %s", (text, shell) => {
    expect(isShellHook(text)).toBe(shell);
  });
});

describe("renderBlock", () => {
  test.each(hookNames)("renderBlock of %s is one block, with or without a program", (hook: HookName) => {
    for (const program of [undefined, "/opt/reeve", "/opt/it's $(here)/reeve"]) {
      const split = splitHook(renderBlock(hook, program));
      expect(split).toEqual({ before: "", block: renderBlock(hook, program), after: "" });
    }
  });

  test("renderBlock runs nothing a clone brought with it", () => {
    expect(renderBlock("pre-commit", undefined)).not.toMatch(/node_modules|\.\/|\$PWD/);
  });
});
