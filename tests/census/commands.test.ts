import * as fs from "node:fs";
import * as path from "node:path";
import type { Command } from "@reeve/commands/command.ts";
import { globalFlags } from "@reeve/commands/flags.ts";
import { frontVerbs, registry } from "@reeve/commands/registry.ts";
import { table } from "@reeve/core/state/table.ts";
import { describe, expect, test } from "vitest";
import { parseArguments } from "../../packages/cli/src/arguments.ts";
import { matchCommand } from "../../packages/cli/src/match.ts";

const folder = "packages/commands/src";
const commands: readonly Command[] = await Promise.all(registry.map((entry) => entry.load()));
const names = registry.map((entry) => entry.name);

/** The words of a command line as a shell would pass them: quotes taken off, redirections and pipes cut. */
function wordsOf(line: string): readonly string[] {
  const alone = line.includes("| reeve") ? (line.split("| ").at(-1) ?? "") : line;
  const cut = alone.replace(/\s+(?:#|<|>|&&|\|).*$/, "");
  return [...cut.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

function parse(line: string): string {
  const [program, ...argv] = wordsOf(line);
  expect(program, line).toBe("reeve");
  const { name, rest } = matchCommand(names, argv);
  const command = commands.find((one) => one.name === name);
  if (command === undefined) throw new Error(`'${line}' names no command`);
  parseArguments(command, rest);
  return command.name;
}

function commandFiles(): readonly string[] {
  return (fs.readdirSync(folder, { recursive: true, encoding: "utf8" }) as readonly string[])
    .filter((file) => file.includes(path.sep) && file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => fs.readFileSync(path.join(folder, file), "utf8").includes("= defineCommand("))
    .sort();
}

describe("the command registry", () => {
  test("lists every command file once, in the folder it is grouped under", () => {
    const source = fs.readFileSync(`${folder}/registry.ts`, "utf8");
    const lines = [...source.matchAll(/lazy\("([^"]*)", "(\w+)", async \(\) => \(await import\("\.\/([^"]+)"\)\)/g)];
    expect(lines).toHaveLength(registry.length);
    expect(lines.map((line) => line[3] ?? "").sort()).toEqual(commandFiles());
    for (const [, name, group, file] of lines) expect(file?.split("/")[0], name).toBe(group);
  });

  test("a command is named as it is registered, each name once", () => {
    expect(commands.map((command) => command.name)).toEqual(names);
    expect(new Set(names).size).toBe(names.length);
  });

  test("has the verbs help begins with, eight of them", () => {
    expect(frontVerbs).toHaveLength(8);
    for (const verb of frontVerbs) expect(names).toContain(verb);
  });
});

describe.each(commands.map((command) => [command.name === "" ? "reeve" : command.name, command] as const))(
  "%s",
  (_, command) => {
    test("has a summary, examples its own parser takes, and surfaces", () => {
      expect(command.summary).toMatch(/^[a-z].*[^.]$/);
      expect(command.examples.length).toBeGreaterThan(0);
      for (const example of command.examples) {
        expect(parse(example.command)).toBe(command.name);
        expect(example.shows).not.toBe("");
      }
      expect(command.surfaces).toContain("cli");
    });

    test("names flags that exist, shadows no flag of every command, and reads and writes declared files", () => {
      const flags = Object.keys(command.args.flags ?? {});
      for (const name of [...(command.writesWith ?? []), ...(command.readsWith ?? [])]) expect(flags).toContain(name);
      expect(flags.filter((name) => Object.hasOwn(globalFlags, name))).toEqual([]);
      const declared = table.entries.map((entry): string => entry.path);
      const known = (file: string): boolean =>
        [".gitignore", ".gitattributes"].includes(file) ||
        declared.some(
          (entry) => entry === file || entry.startsWith(file) || (entry.endsWith("/") && file.startsWith(entry)),
        );
      expect([...command.reads, ...command.writes].filter((file) => !known(file))).toEqual([]);
    });

    test("a command that only reads writes nothing, and one that writes says what", () => {
      if (command.class === "read-only" && command.writesWith === undefined) expect(command.writes).toEqual([]);
      else expect(command.writes.length).toBeGreaterThan(0);
    });
  },
);

describe("a mutation", () => {
  test("an example with a flag the command does not have is caught", () => {
    expect(() => parse("reeve start x --scope src --scop y")).toThrow();
    expect(() => parse("reeve strat x")).toThrow();
  });
});

function documents(): readonly string[] {
  const found = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md"];
  const guides = fs.existsSync("docs/guide") ? fs.readdirSync("docs/guide").map((name) => `docs/guide/${name}`) : [];
  return [...found, ...guides].filter((file) => file.endsWith(".md") && fs.existsSync(file));
}

describe("commands shown in documents", () => {
  test.each(documents())("%s", (file) => {
    const blocks = fs.readFileSync(file, "utf8").match(/^```(?:sh|bash|console|shell)\n[\s\S]*?^```/gm) ?? [];
    const lines = blocks
      .flatMap((block) => block.split("\n").slice(1, -1))
      .map((line) => line.replace(/^\$ /, "").trim());
    for (const line of lines.filter((one) => /^reeve(?:\s|$)/.test(one))) expect(() => parse(line), line).not.toThrow();
  });
});
