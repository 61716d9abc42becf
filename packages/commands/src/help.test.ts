import { describe, expect, test } from "vitest";
import { type Command, defineCommand } from "./command.ts";
import { globalFlags } from "./flags.ts";
import { describeUnknown, renderHelp, renderUsage, renderVerbs, type Verb } from "./help.ts";
import { type Entry, frontVerbs, groups, registry } from "./registry.ts";

const command: Command = defineCommand({
  name: "question add",
  summary: "open a question",
  about: "It blocks the task.\n",
  examples: [{ command: 'reeve question add "why"', shows: "opens it" }],
  args: {
    positionals: [
      { name: "question", summary: "the question", required: true },
      { name: "more", summary: "more of it" },
    ],
    flags: {
      scope: { type: "list", value: "path", required: true, summary: "where" },
      kind: { type: "string", choices: ["a", "b"], summary: "which" },
      count: { type: "number", short: "c", summary: "how many" },
      quiet: { type: "boolean", summary: "say nothing" },
    },
  },
  class: "read-only",
  needs: "nothing",
  surfaces: ["cli"],
  output: "value",
  reads: [],
  writes: [],
  result: {},
  run: () => ({ result: {} }),
  text: () => "",
});

const verbs: readonly Verb[] = registry.map((entry) => ({
  name: entry.name,
  group: groups[entry.group],
  summary: `what ${entry.name} does`,
}));

describe("renderUsage", () => {
  test("renderUsage names words, what is required, and that there is more", () => {
    expect(renderUsage("question add", command.args)).toBe(
      "reeve question add <question> [more] --scope <path> [flags]",
    );
    expect(renderUsage("", {})).toBe("reeve");
    expect(renderUsage("x", { flags: { scope: { type: "list", required: true, summary: "" } } })).toBe(
      "reeve x --scope <scope>",
    );
  });
});

describe("renderHelp", () => {
  const text = renderHelp(command);

  test("renderHelp begins with what the command does and how it is typed", () => {
    expect(text).toMatch(/^Open a question\.\n\nusage: reeve question add <question> /);
  });

  test("renderHelp tells of every flag its value, its choices and whether it is required", () => {
    const rows = text.split("\n").map((row) => row.trim().replaceAll(/ {2,}/g, " | "));
    expect(rows).toContain("--scope <path> | where (required)");
    expect(rows).toContain("--kind <kind> | which (a, b)");
    expect(rows).toContain("-c, --count <n> | how many");
    expect(rows).toContain("--quiet | say nothing");
    for (const name of Object.keys(globalFlags)) expect(text).toContain(`--${name}`);
  });

  test("renderHelp ends with the examples, after what else is to be said", () => {
    expect(text).toMatch(/It blocks the task\.\n\nexamples:\n {2}\$ reeve question add "why"\n {6}opens it\n$/);
  });

  test.each(registry.map((entry) => [entry.name, entry] as const))(
    "renderHelp of 'reeve %s' names its usage, its flags and an example",
    async (name, entry) => {
      const loaded = await entry.load();
      const help = renderHelp(loaded);
      expect(loaded.name).toBe(name);
      expect(loaded.summary).toMatch(/^[a-z][^\n]*[^.\n]$/);
      expect(help).toContain(`usage: ${renderUsage(name, loaded.args)}`);
      for (const flag of Object.keys(loaded.args.flags ?? {})) expect(help).toContain(`--${flag}`);
      expect(loaded.examples.length).toBeGreaterThan(0);
      expect(help).not.toMatch(/undefined|--force|[ \t]\n/);
    },
  );
});

describe("renderVerbs", () => {
  test("renderVerbs shows first the verbs to begin with, in their order, and how to see the rest", () => {
    const rows = renderVerbs(verbs, false)
      .split("\n")
      .filter((row) => row.startsWith("  "));
    expect(rows.map((row) => row.trim().split(" ")[0])).toEqual([...frontVerbs]);
    expect(renderVerbs(verbs, false)).toContain("reeve help --all");
  });

  test("renderVerbs shows with all of them every command, each once, below a group", () => {
    const text = renderVerbs(verbs, true);
    for (const { name, summary } of verbs.filter((verb) => verb.name !== "")) {
      expect(
        text.split("\n").filter((row) => row.startsWith(`  ${name} `) && row.endsWith(summary)),
        name,
      ).toHaveLength(1);
    }
    for (const title of Object.values(groups)) expect(text.split("\n").filter((row) => row === title)).toHaveLength(1);
  });
});

describe("describeUnknown", () => {
  const entries = ["", "start", "status", "question add", "question list"].map(
    (name): Entry => ({ name, group: "meta", load: () => Promise.resolve(command) }),
  );

  test.each<[string, readonly string[], RegExp, RegExp]>([
    ["strat", [], /no command 'strat'/, /did you mean: reeve start\?/],
    ["zzzzzz", [], /no command 'zzzzzz'/, /reeve help --all/],
    ["question", [], /wants one of: add, list/, /reeve question add · reeve question list/],
    ["question", ["ad"], /there is no 'reeve question ad'/, /did you mean: reeve question add\?/],
    ["question", ["--json", "remove"], /there is no 'reeve question remove'/, /reeve question list/],
    ["questoin", ["add"], /no command 'questoin'/, /reeve question/],
    ["", [], /no command ''/, /./],
  ])("describeUnknown says of %j %j what is wrong and what to type", (word, rest, message, hint) => {
    const error = describeUnknown(entries, word, rest);
    expect([error.code, error.exit]).toEqual(["UNKNOWN_COMMAND", 2]);
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
  });
});
