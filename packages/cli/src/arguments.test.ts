import { type ArgumentSpec, type Command, defineCommand } from "@reeve/commands/command.ts";
import { globalFlags } from "@reeve/commands/flags.ts";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Parsed, parseArguments } from "./arguments.ts";

function commandOf(args: ArgumentSpec, name = "start"): Command {
  return defineCommand({
    name,
    summary: "",
    examples: [],
    args,
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
}

const command = commandOf({
  positionals: [
    { name: "task", summary: "what is to be done", required: true },
    { name: "kind", summary: "which", choices: ["one", "two"] },
  ],
  flags: {
    scope: { type: "list", value: "path", summary: "where" },
    because: { type: "string", value: "reason", summary: "why" },
    outcome: { type: "string", choices: ["completed", "partial"], summary: "how" },
    limit: { type: "number", short: "l", summary: "how many" },
    check: { type: "boolean", short: "c", summary: "only look" },
  },
});

const nothing = { scope: [], because: undefined, outcome: undefined, limit: undefined, check: false };

function parse(...tokens: readonly string[]): Parsed {
  return parseArguments(command, tokens);
}

function refusal(tokens: readonly string[], of: Command = command): ReeveError {
  try {
    parseArguments(of, tokens);
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error(`accepted ${JSON.stringify(tokens)}`);
}

describe("parseArguments", () => {
  test("parseArguments gives every flag and word a value", () => {
    const { args, globals } = parse("a task");
    expect(args).toEqual({ ...nothing, task: "a task", kind: undefined });
    expect(globals).toEqual({ help: false, json: false, "dry-run": false, verbose: false, repo: undefined });
  });

  test.each<[readonly string[], Readonly<Record<string, unknown>>]>([
    [["--because", "it is so"], { because: "it is so" }],
    [["--because=it=so"], { because: "it=so" }],
    [["--because", "--check"], { because: "--check" }],
    [["--because", "-1"], { because: "-1" }],
    [["--because", "a", "--because", "b"], { because: "b" }],
    [["--outcome", "partial"], { outcome: "partial" }],
    [["--limit", "12"], { limit: 12 }],
    [["--limit=0"], { limit: 0 }],
    [["-l", "007"], { limit: 7 }],
    [["--check"], { check: true }],
    [["-c", "-c"], { check: true }],
    [["--scope", "a,b", "--scope", " c , d"], { scope: ["a", "b", "c", "d"] }],
    [["--scope=läs mig"], { scope: ["läs mig"] }],
  ])("parseArguments reads %j", (tokens, values) => {
    expect(parse("a task", ...tokens).args).toEqual({ ...nothing, task: "a task", kind: undefined, ...values });
    expect(parse(...tokens, "a task").args).toEqual({ ...nothing, task: "a task", kind: undefined, ...values });
  });

  test("parseArguments takes words after -- as they are, and a lone dash for a word", () => {
    expect(parse("--", "--check").args).toMatchObject({ task: "--check", check: false });
    expect(parse("--check", "--", "--", "one").args).toMatchObject({ task: "--", kind: "one", check: true });
    expect(parse("-").args).toMatchObject({ task: "-" });
  });

  test("parseArguments reads the flags of every command into a place of their own", () => {
    const { args, globals } = parse("a", "--json", "-n", "-v", "--repo", "../x");
    expect(globals).toEqual({ help: false, json: true, "dry-run": true, verbose: true, repo: "../x" });
    expect(Object.keys(args).filter((name) => Object.hasOwn(globalFlags, name))).toEqual([]);
  });

  test("parseArguments asks for nothing more where help is asked for", () => {
    expect(parse("--help")).toMatchObject({ args: {}, globals: { help: true } });
    expect(parse("-h", "a", "b", "c", "d").globals["help"]).toBe(true);
  });

  test.each<[readonly string[], RegExp]>([
    [[], /<task> is missing: what is to be done/],
    [[""], /<task> is empty/],
    [["  "], /<task> is empty/],
    [["a", "three"], /<kind> is 'three'; it takes one, two/],
    [["a", "one", "b"], /'b' is one argument too many/],
    [["a", "--nothing"], /reeve start has no flag --nothing/],
    [["a", "-z"], /has no flag -z/],
    [["a", "-cl"], /has no flag -cl/],
    [["a", "-l5"], /has no flag -l5/],
    [["a", "--because"], /--because wants a value: <reason>/],
    [["a", "--limit"], /--limit wants a value/],
    [["a", "--limit", "ten"], /--limit is 'ten'; it takes a whole number/],
    [["a", "--limit", "-1"], /--limit is '-1'/],
    [["a", "--limit=1.5"], /--limit is '1\.5'/],
    [["a", "--limit="], /--limit is empty: how many/],
    [["a", "--because="], /--because is empty: why/],
    [["a", "--limit", "1e3"], /--limit is '1e3'/],
    [["a", "--limit", "0x10"], /--limit is '0x10'/],
    [["a", "--outcome", "Completed"], /--outcome is 'Completed'; it takes completed, partial/],
    [["a", "--outcome", ""], /--outcome is empty: how/],
    [["a", "--scope", "a,,b"], /--scope has an empty item in 'a,,b'/],
    [["a", "--scope", ""], /--scope is empty: where/],
    [["a", "--check=true"], /--check takes no value/],
    [["a", "--json=1"], /--json takes no value/],
    [["a", "--toString"], /no flag --toString/],
    [["a", "--__proto__", "x"], /no flag --__proto__/],
    [["a", "--constructor=x"], /no flag --constructor/],
    [["a", "-undefined"], /no flag -undefined/],
  ])("parseArguments refuses %j", (tokens, says) => {
    const error = refusal(tokens);
    expect([error.code, error.exit]).toEqual(["USAGE", 2]);
    expect(error.message).toMatch(says);
    expect(error.hint).toMatch(/\S/);
  });

  test.each([
    ["--scop", "did you mean --scope?"],
    ["--jsn", "did you mean --json?"],
    ["--dry", "did you mean --dry-run?"],
    ["--becuase=x", "did you mean --because?"],
  ])("parseArguments guesses what %s means", (flag, hint) => {
    expect(refusal(["a", flag]).hint).toBe(hint);
  });

  test("parseArguments guesses a choice that is nearly right", () => {
    expect(refusal(["a", "--outcome", "complete"]).hint).toBe("did you mean 'completed'?");
    expect(refusal(["a", "--outcome", "zzz"]).hint).toBe("one of: completed, partial");
  });

  test("parseArguments refuses a command without a flag it requires, and tells what that flag is", () => {
    const strict = commandOf({
      flags: {
        scope: { type: "list", required: true, summary: "where" },
        why: { type: "string", required: true, summary: "the reason" },
      },
    });
    expect(refusal([], strict).message).toBe("--scope is missing: where");
    expect(refusal(["--scope", "a"], strict).message).toBe("--why is missing: the reason");
    expect(parseArguments(strict, ["--scope", "a", "--why", "b"]).args).toEqual({ scope: ["a"], why: "b" });
  });

  test("parseArguments says how to ask for help on the command", () => {
    expect(refusal(["a", "one", "b"], commandOf({}, "")).hint).toBe("reeve --help");
    expect(refusal(["a"], commandOf({}, "decision list")).hint).toBe("reeve decision list --help");
    expect(refusal(["fix", "the", "bug"]).message).toMatch(/'the'|'bug'/);
  });

  test("parseArguments answers or refuses whatever is typed, and never for another reason", () => {
    const token = fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom("--scope", "--because", "--limit=3", "-c", "--", "-", "--json", "a,b", "--help", "one"),
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 6 }), (tokens) => {
        try {
          const { args, globals } = parse(...tokens);
          if (globals["help"] !== true)
            expect(Object.keys(args).sort()).toEqual([...Object.keys(nothing), "kind", "task"].sort());
        } catch (error) {
          expect(error).toMatchObject({ code: "USAGE" });
        }
      }),
      { numRuns: 300 },
    );
  });
});
