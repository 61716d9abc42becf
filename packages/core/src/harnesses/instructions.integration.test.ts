import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeSystem } from "../system/node.ts";
import type { AbsPath } from "../system/paths.ts";
import { type Instructions, readInstructions } from "./instructions.ts";

let root: string;
let count = 0;

beforeAll(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve agents ")));
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

function make(files: Readonly<Record<string, string>>): AbsPath {
  count += 1;
  const top = path.join(root, String(count));
  fs.mkdirSync(top);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    fs.writeFileSync(path.join(top, name), text);
  }
  return top as AbsPath;
}

function read(top: AbsPath): Readonly<Record<string, Instructions>> {
  const found = readInstructions(nodeSystem({ cwd: top, env: { HOME: root } }), top);
  return Object.fromEntries(found.map((one) => [one.agent, one]));
}

describe("readInstructions", () => {
  test("readInstructions finds nobody in an empty tree", () => {
    expect(read(make({ "README.md": "a" }))).toEqual({});
  });

  test("readInstructions takes for Claude Code the first file there is", () => {
    const files = (top: AbsPath): unknown => read(top)["Claude Code"]?.files;
    expect(files(make({ "CLAUDE.md": "12345", "AGENTS.md": "1" }))).toEqual([{ path: "CLAUDE.md", bytes: 5 }]);
    expect(files(make({ ".claude/settings.json": "{}", "AGENTS.md": "12" }))).toEqual([
      { path: "AGENTS.md", bytes: 2 },
    ]);
    expect(files(make({ ".claude/settings.json": "{}" }))).toEqual([]);
  });

  test("readInstructions takes for Cursor all of them, folders with everything below", () => {
    const top = make({
      "AGENTS.md": "1",
      ".cursor/rules/a.mdc": "22",
      ".cursor/rules/deep/b.mdc": "333",
      ".cursorrules": "4444",
    });
    expect(read(top)["Cursor"]?.files).toEqual([
      { path: "AGENTS.md", bytes: 1 },
      { path: ".cursor/rules/a.mdc", bytes: 2 },
      { path: ".cursor/rules/deep/b.mdc", bytes: 3 },
      { path: ".cursorrules", bytes: 4 },
    ]);
  });

  test("readInstructions counts the bytes over a cap, not the characters", () => {
    expect(read(make({ "AGENTS.md": "x".repeat(32_768) }))["Codex"]?.cut).toBe(0);
    expect(read(make({ "AGENTS.md": "ü".repeat(16_385) }))["Codex"]?.cut).toBe(2);
  });

  test("readInstructions follows a link to a file, and passes over one that leads nowhere", () => {
    const top = make({ "AGENTS.md": "12345" });
    fs.symlinkSync("AGENTS.md", path.join(top, "CLAUDE.md"));
    fs.symlinkSync("nowhere", path.join(top, "GEMINI.md"));
    const found = read(top);
    expect(found["Claude Code"]?.files).toEqual([{ path: "CLAUDE.md", bytes: 5 }]);
    expect(found["Gemini CLI"]?.files).toEqual([]);
  });
});
