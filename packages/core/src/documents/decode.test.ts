import * as fs from "node:fs";
import * as path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeDocument } from "./decode.ts";
import { splitFrontMatter } from "./front-matter.ts";
import type { DocumentKinds, Problem } from "./kinds.ts";

const share = path.resolve(import.meta.dirname, "../../../../share");

function shipped(...parts: string[]): string {
  return fs.readFileSync(path.join(share, ...parts), "utf8");
}

const rule = `id: reeve.a
version: 1
kind: rule
title: A title
description: What it is
statement: What must hold
status: active
class: blocking
depends_on: []
x-reeve:
  validator: a
  enforced_by: [doctor]
`;

const vendor = `vendor: reeve
package: rules
version: 1
format: ai-rules/v1
source_revision: 0.1.0
rules:
  - id: reeve.a
    version: 1
    file: a.md
    sha256: ${"0f".repeat(32)}
`;

const sound: { readonly [K in keyof DocumentKinds]: string } = {
  manifest: shipped("skeleton/ai/manifest.yaml"),
  policy: shipped("skeleton/ai/repo/policy.yaml"),
  profile: shipped("skeleton/ai/repo/profiles/debugging.yaml"),
  rule,
  "vendor-manifest": vendor,
  plain: "anything: [1, {a: b}]\n",
};
const kinds = Object.keys(sound) as (keyof DocumentKinds)[];
const strict = kinds.filter((kind) => kind !== "plain");

function problems(kind: keyof DocumentKinds, text: string): readonly Problem[] {
  const decoded = decodeDocument(kind, text);
  return decoded.ok ? [] : decoded.problems;
}

function lineOf(text: string, row: string): number {
  return text.split("\n").indexOf(row) + 1;
}

describe("decodeDocument", () => {
  test.each(kinds)("decodeDocument accepts a sound %s", (kind) => {
    expect(problems(kind, sound[kind])).toEqual([]);
  });

  test("decodeDocument accepts every profile and rule that is shipped", () => {
    const profiles = fs.readdirSync(path.join(share, "skeleton/ai/repo/profiles"));
    for (const name of profiles)
      expect(problems("profile", shipped("skeleton/ai/repo/profiles", name)), name).toEqual([]);
    const rules = fs.readdirSync(path.join(share, "rules")).filter((name) => name.endsWith(".md"));
    for (const name of rules)
      expect(problems("rule", splitFrontMatter(shipped("rules", name)).yaml ?? ""), name).toEqual([]);
    expect(profiles.length * rules.length).toBeGreaterThan(0);
  });

  test.each(kinds)("decodeDocument reads a %s through carriage returns and a byte order mark", (kind) => {
    const plain = decodeDocument(kind, sound[kind]);
    expect(decodeDocument(kind, `\ufeff${sound[kind].replaceAll("\n", "\r\n")}`)).toEqual(plain);
  });

  test.each(kinds)("decodeDocument refuses a %s with nothing in it", (kind) => {
    for (const text of ["", "\n", "# a comment\n", "---\n", "~\n", "null\n"])
      expect(problems(kind, text), JSON.stringify(text)).toEqual([{ line: 1, key: "", message: "is empty" }]);
  });

  test.each(kinds)("decodeDocument refuses a %s that is a list, a word or two documents", (kind) => {
    for (const text of ["- a\n", "word\n", "5\n", `${sound[kind]}---\na: 1\n`])
      expect(problems(kind, text).length, JSON.stringify(text)).toBeGreaterThan(0);
  });

  test.each(kinds)("decodeDocument names the line of a key a %s has twice", (kind) => {
    const first = sound[kind].split("\n").find((row) => /^[a-z]/.test(row)) ?? "";
    const text = `${sound[kind]}${first.replace(/:.*/, ": again")}\n`;
    expect(problems(kind, text)).toMatchObject([{ line: text.split("\n").length - 1, message: /unique/ }]);
  });

  test.each(kinds)("decodeDocument names the line where a tab indents a %s", (kind) => {
    const text = `${sound[kind]}more:\n\ta: 1\n`;
    const [problem] = problems(kind, text);
    expect(problem?.message).toMatch(/tab/i);
    expect(problem?.line).toBeGreaterThanOrEqual(lineOf(text, "more:"));
  });

  test.each(strict)("decodeDocument names the line of a key a %s does not have", (kind) => {
    const text = `${sound[kind]}zzz_unheard_of: 1\n`;
    expect(problems(kind, text)).toEqual([
      { line: lineOf(text, "zzz_unheard_of: 1"), key: "zzz_unheard_of", message: "unknown key 'zzz_unheard_of'" },
    ]);
  });

  test.each(
    strict.flatMap((kind) =>
      ["constructor", "toString", "__proto__", "hasOwnProperty"].map((key) => [key, kind] as const),
    ),
  )("decodeDocument refuses the key %s in a %s", (key, kind) => {
    const text = `${sound[kind]}${key}: 1\n`;
    expect(problems(kind, text)).toMatchObject([{ line: lineOf(text, `${key}: 1`), key }]);
  });

  test.each([
    ["constructor", "constructor: x\n"],
    ["__proto__", "__proto__: x\n"],
    ["prototype", "prototype: x\n"],
  ])("decodeDocument keeps the key %s of a plain document, so that its reader sees it", (key, text) => {
    const decoded = decodeDocument("plain", text);
    expect(decoded.ok ? Object.entries(decoded.value) : decoded.problems).toEqual([[key, "x"]]);
  });

  test.each<[keyof DocumentKinds, string, string, string, string]>([
    ["policy", "context:", "  recent_desicions: 3", "context.recent_desicions", "recent_decisions"],
    ["policy", "ledger:", "  rotat: auto", "ledger.rotat", "rotate"],
    ["policy", "verification:", "  finish_require: []", "verification.finish_require", "finish_requires"],
    ["profile", "context:", "  decision: true", "context.decision", "decisions"],
    [
      "profile",
      "verification:",
      "  verify_command_require: true",
      "verification.verify_command_require",
      "verify_command_required",
    ],
    ["manifest", "local:", "  traced: false", "local.traced", "tracked"],
    ["manifest", "sections:", "  skils: repo/skills", "sections.skils", "skills"],
    ["manifest", "repo:", "  pth: repo", "repo.pth", "path"],
    ["rule", "x-reeve:", "  enforce_by: [doctor]", "x-reeve.enforce_by", "enforced_by"],
  ])("decodeDocument guesses, in a %s below '%s', what '%s' means", (kind, block, row, key, meant) => {
    const text = sound[kind].replace(`\n${block}\n`, `\n${block}\n${row}\n`);
    expect(problems(kind, text)).toEqual([
      { line: lineOf(text, row), key, message: `unknown key '${key}'`, hint: `did you mean '${meant}'?` },
    ]);
  });

  test("decodeDocument guesses a key of an item of a list, and names the item's line", () => {
    const text = "version: 1\nenforcement:\n  - name: a\n    path: b\n    wired_by: manual\n    requird: true\n";
    expect(problems("policy", text)).toEqual([
      {
        line: 6,
        key: "enforcement.0.requird",
        message: "unknown key 'enforcement.0.requird'",
        hint: "did you mean 'required'?",
      },
    ]);
    expect(problems("vendor-manifest", vendor.replace("    file:", "    fil:"))).toMatchObject([
      { message: "'rules.0.file' is missing", line: 7 },
      { message: "unknown key 'rules.0.fil'", line: 9, hint: "did you mean 'file'?" },
    ]);
  });

  test("decodeDocument names the line of a key that is no word", () => {
    for (const key of ["2", "true", "~", "? [a]\n"])
      expect(problems("policy", `version: 1\n${key}: x\n`), key).toMatchObject([{ line: 2 }]);
  });

  test.each<[keyof DocumentKinds, string, number, string]>([
    ["policy", 'version: "1"\n', 1, "version"],
    ["policy", "version: 0\n", 1, "version"],
    ["policy", "version: 1\ncheckpoint:\n  max_body_lines: forty\n", 3, "checkpoint.max_body_lines"],
    ["policy", "version: 1\ncheckpoint:\n  max_body_lines: 0\n", 3, "checkpoint.max_body_lines"],
    ["policy", "version: 1\ncheckpoint:\n  max_body_lines: 1.5\n", 3, "checkpoint.max_body_lines"],
    ["policy", "version: 1\nledger:\n  rotate: yes\n", 3, "ledger.rotate"],
    ["policy", "version: 1\nverification:\n  finish_requires: [a, 1]\n", 3, "verification.finish_requires.1"],
    ["policy", "version: 1\nverification:\n  time_limit: 30 m\n", 3, "verification.time_limit"],
    ["policy", "version: 1\ncontext:\n", 2, "context"],
    ["policy", "version: 1\ncontext: []\n", 2, "context"],
    [
      "policy",
      "version: 1\nenforcement:\n  - name: a\n    path: b\n    wired_by: somehow\n",
      5,
      "enforcement.0.wired_by",
    ],
    ["manifest", sound.manifest.replace("ai-repository/v1", "ai-repository/v2"), 2, "schema"],
    ["rule", rule.replace("version: 1", "version: one"), 2, "version"],
    ["rule", rule.replace("[doctor]", "[nobody]"), 12, "x-reeve.enforced_by.0"],
    ["vendor-manifest", vendor.replace(/(?:0f){32}/, "xyz"), 10, "rules.0.sha256"],
  ])("decodeDocument refuses a wrong value, %#, in a %s", (kind, text, line, key) => {
    const found = problems(kind, text);
    expect(found).toMatchObject([{ line, key }]);
    expect(found[0]?.message).toMatch(/^'.+' is .+; expected .+/);
  });

  test.each(["/etc", "../outside", "repo/../../outside"])("decodeDocument refuses the section path %s", (where) => {
    const text = sound.manifest.replace("rules: repo/rules", `rules: ${where}`);
    expect(problems("manifest", text)).toMatchObject([
      { line: lineOf(text, `  rules: ${where}`), key: "sections.rules" },
    ]);
  });

  test("decodeDocument says of a document of a later version what to do, and nothing about mending it", () => {
    expect(problems("policy", "version: 2\n")).toEqual([
      {
        line: 1,
        key: "version",
        message: "is of version 2; this Reeve knows version 1",
        hint: expect.stringContaining("newer Reeve"),
      },
    ]);
  });

  test("decodeDocument names what is missing at the line of the block that lacks it", () => {
    expect(problems("policy", "context:\n  recent_decisions: 1\n")).toEqual([
      { line: 1, key: "version", message: "'version' is missing" },
    ]);
    expect(problems("policy", "version: 1\nenforcement:\n  - name: a\n    wired_by: manual\n")).toEqual([
      { line: 3, key: "enforcement.0.path", message: "'enforcement.0.path' is missing" },
    ]);
  });

  test("decodeDocument tells every problem of a document", () => {
    const text = "version: 1\ncheckpoint:\n  max_body_lines: a\nhandover:\n  retention_max_files: b\n";
    expect(problems("policy", text).map((problem) => problem.line)).toEqual([3, 5]);
  });

  test("decodeDocument tells lines after carriage returns and comments", () => {
    expect(problems("policy", "# one\r\nversion: 1\r\n\r\nledger:\r\n  rotate: no\r\n")).toMatchObject([{ line: 5 }]);
  });

  test.each([
    ["an alias of nothing", "version: 1\ncontext: *nobody\n"],
    ["a tag nobody knows", "version: !nobody 1\n"],
    ["an unclosed quote", 'version: "1\n'],
    ["an unclosed list", "version: 1\nprojections: [\n"],
    ["a merge key", "version: 1\nledger: &a {rotate: auto}\nhandover: {<<: *a}\n"],
    ["a plain word with a colon", "version: 1\nprofiles:\n  default: a: b\n"],
    ["a map as a key", "version: 1\n? {a: b}\n: c\n"],
  ])("decodeDocument refuses %s", (_what, text) => {
    expect(problems("policy", text).length).toBeGreaterThan(0);
  });

  test("decodeDocument refuses aliases that multiply", () => {
    const rows = Array.from({ length: 12 }, (_, level) => {
      const items = level === 0 ? "x" : Array.from({ length: 9 }, () => `*a${level - 1}`).join(", ");
      return `a${level}: &a${level} [${items}]\n`;
    });
    for (const kind of kinds) expect(problems(kind, rows.join("")).length, kind).toBeGreaterThan(0);
  });

  test("decodeDocument refuses a document that is nested too deeply", () => {
    for (const depth of [500, 5_000, 50_000]) {
      const text = `version: 1\nprojections: ${"[".repeat(depth)}${"]".repeat(depth)}\n`;
      expect(problems("policy", text).length, String(depth)).toBeGreaterThan(0);
    }
  });

  test("decodeDocument throws at nothing", () => {
    const bytes = fc.string({ unit: fc.constantFrom(..."-:[]{}&*!|>'\"#%@`,? \t\n\rab1~\u0000\u2028".split("")) });
    fc.assert(
      fc.property(bytes, fc.constantFrom(...kinds), (text, kind) => {
        const decoded = decodeDocument(kind, text);
        const lines = text.split("\n").length;
        if (!decoded.ok) for (const { line } of decoded.problems) expect(line >= 1 && line <= lines).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
