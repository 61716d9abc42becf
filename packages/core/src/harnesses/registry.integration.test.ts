import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodeSystem } from "../system/node.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import type { Harness, HarnessScope } from "./harness.ts";
import { anchorOf, frontMatterOf, harnessFolder, isDetected, ruleFileOf } from "./places.ts";
import { findHarness, harnesses } from "./registry.ts";

function makeHome(): { readonly home: AbsPath; readonly system: (env?: Readonly<Record<string, string>>) => System } {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve harness "))) as AbsPath;
  onTestFinished(() => fs.rmSync(home, { recursive: true, force: true }));
  return { home, system: (env = {}) => nodeSystem({ cwd: home, env: { HOME: home, ...env } }) };
}

function named(id: string): Harness {
  const harness = findHarness(id);
  if (harness === undefined) throw new Error(`${id} is unknown`);
  return harness;
}

const scopes: readonly HarnessScope[] = ["global", "project"];

describe("the registry of harnesses", () => {
  test("has a folder for each, and each folder in it", () => {
    const folders = fs
      .readdirSync("packages/core/src/harnesses", { withFileTypes: true })
      .filter((entry) => entry.isDirectory());
    expect(harnesses.map(({ id }) => id).sort()).toEqual(folders.map(({ name }) => name).sort());
  });

  test("gives each name to one harness", () => {
    const names = harnesses.flatMap(({ id, aliases }) => [id, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const { id, aliases } of harnesses)
      expect(aliases.map((name) => findHarness(name)?.id)).toEqual(aliases.map(() => id));
    expect(findHarness("nobody")).toBeUndefined();
  });

  test.each(harnesses.map((harness) => [harness.id, harness] as const))(
    "%s has plain paths, sources and one owner of each file",
    (_, harness) => {
      expect(harness.verified.date).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(harness.verified.sources.length).toBeGreaterThan(0);
      const files = [
        ...scopes.flatMap((scope) => namesOf(harness, scope)),
        ...Object.values(harness.hook?.files ?? {}),
        harness.folder.path,
      ];
      for (const file of files) expect(file).toMatch(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[^\\]+$/);
      expect(harness.hook?.entry("a command")).toEqual(harness.hook?.entry("a command"));
      if (harness.hook !== undefined) expect(JSON.stringify(harness.hook.entry("a command"))).toContain("a command");
    },
  );
});

function namesOf({ rules }: Harness, scope: HarnessScope): readonly string[] {
  const target = rules[scope];
  if (target === undefined) return [];
  return target.kind === "folder" ? [target.folder, target.fileName] : [...target.names, target.makes];
}

describe("where a harness keeps its files", () => {
  test("is its folder below HOME, or the one its variable names", () => {
    const { home, system } = makeHome();
    expect(harnessFolder(system(), named("codex"))).toBe(path.join(home, ".codex"));
    expect(harnessFolder(system({ CODEX_HOME: "/elsewhere" }), named("codex"))).toBe("/elsewhere");
    expect(harnessFolder(system({ CODEX_HOME: "not/absolute" }), named("codex"))).toBe(path.join(home, ".codex"));
    expect(harnessFolder(system({ HOME: "" }), named("codex"))).toBeUndefined();
    expect(anchorOf(system(), named("codex"), { scope: "project", root: home })).toBe(home);
  });

  test("tells that it is used by its folder, or by running the program", () => {
    const { home, system } = makeHome();
    expect(harnesses.filter((harness) => isDetected(system(), harness))).toEqual([]);
    fs.writeFileSync(path.join(home, ".codex"), "a file");
    expect(isDetected(system(), named("codex"))).toBe(false);
    fs.mkdirSync(path.join(home, ".claude"));
    expect(isDetected(system(), named("claude-code"))).toBe(true);
    expect(isDetected(makeHome().system({ CLAUDECODE: "1" }), named("claude-code"))).toBe(true);
  });

  test("is the first file of its names that is read, folders and links into nothing passed over", () => {
    const { home, system } = makeHome();
    const { project, global } = named("codex").rules;
    if (project === undefined || global === undefined) throw new Error("codex has no targets");
    const chosen = (target = project): string => ruleFileOf(system(), home, { target, slug: "s" });
    expect(chosen()).toBe("AGENTS.md");
    fs.mkdirSync(path.join(home, "AGENTS.override.md"));
    expect(chosen()).toBe("AGENTS.md");
    fs.rmdirSync(path.join(home, "AGENTS.override.md"));
    fs.symlinkSync("nowhere", path.join(home, "AGENTS.override.md"));
    expect(chosen()).toBe("AGENTS.md");
    fs.rmSync(path.join(home, "AGENTS.override.md"));
    fs.writeFileSync(path.join(home, "AGENTS.override.md"), " \n");
    expect([chosen(), chosen(global)]).toEqual(["AGENTS.override.md", "AGENTS.md"]);
    fs.writeFileSync(path.join(home, "rules.md"), "mine");
    fs.rmSync(path.join(home, "AGENTS.override.md"));
    fs.symlinkSync("rules.md", path.join(home, "AGENTS.override.md"));
    expect([chosen(), chosen(global)]).toEqual(["AGENTS.override.md", "AGENTS.override.md"]);
  });

  test("is a file of the source's own in a folder, with the front matter for some paths", () => {
    const { home, system } = makeHome();
    const target = named("claude-code").rules.project;
    if (target?.kind !== "folder") throw new Error("no folder");
    expect(ruleFileOf(system(), home, { target, slug: "o-rules" })).toBe(".claude/rules/reeve-o-rules.md");
    expect(frontMatterOf(target, [])).toEqual([]);
    expect(frontMatterOf(target, ["src/**", 'a"b'])).toEqual(["---", "paths:", '  - "src/**"', '  - "a\\"b"', "---"]);
    const global = named("claude-code").rules.global;
    if (global?.kind !== "folder") throw new Error("no folder");
    expect([frontMatterOf(global, []), frontMatterOf(global, ["src/**"])]).toEqual([[], undefined]);
    const comma = {
      ...target,
      scoped: { fields: { alwaysApply: false }, pathsKey: "globs", pathsAs: "comma-list" as const },
    };
    expect(frontMatterOf(comma, ["a", "b"])).toEqual(["---", "alwaysApply: false", 'globs: "a,b"', "---"]);
  });
});
