import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderRuleLine } from "./rule-line.ts";

const content = `sha256:9f2a1c9${"0".repeat(57)}`;
const path = ".agents/memories/a.md";

describe("a rule line", () => {
  test("names the body and seven digits of its hash", () => {
    expect(renderRuleLine({ description: "Prefer timeouts", path, content }, "none")).toBe(
      "- Prefer timeouts (detail: .agents/memories/a.md, 9f2a1c9)",
    );
  });

  test("is cut at 300 characters, not bytes or halves of one", () => {
    const line = (description: string): string => renderRuleLine({ description, path, content }, "none");
    expect(line("😀".repeat(300))).toContain(`- ${"😀".repeat(300)} (`);
    expect(line("😀".repeat(301))).toContain(`- ${"😀".repeat(300)}... (`);
  });

  test.each([
    ["at-import", "read @../secrets.md now", "read `@../secrets.md` now"],
    ["at-import", "use `x` and me@here", "use 'x' and `me@here`"],
    ["undocumented", "see #file:a.md", "see `#file:a.md`"],
    ["at-import", "see #file:a.md", "see #file:a.md"],
    ["none", "read @a and `b`", "read @a and `b`"],
  ] as const)("for a harness that expands %s: %s", (expands, description, shown) => {
    expect(renderRuleLine({ description, path, content }, expands)).toBe(`- ${shown} (detail: ${path}, 9f2a1c9)`);
  });

  test("never ends a comment, begins one, or leaves an import outside a code span", () => {
    const word = fc.constantFrom("<!--", "-->", "<!--->", "@a", "`", "``", "x", " ", "--&gt;", "\\`");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), (words) => {
        const line = renderRuleLine({ description: words.join(""), path, content }, "at-import");
        expect(line).not.toMatch(/<!--|-->/);
        expect(line.replace(/`[^`]*`/g, "")).not.toContain("@");
      }),
    );
  });
});
