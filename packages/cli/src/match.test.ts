import { describe, expect, test } from "vitest";
import { matchCommand } from "./match.ts";

const names = ["", "start", "status", "help", "version", "decision add", "decision list", "history"];

function match(...argv: readonly string[]): unknown[] {
  const { name, word, rest } = matchCommand(names, argv);
  return [name, word, rest];
}

describe("matchCommand", () => {
  test.each<[readonly string[], string | undefined, string | undefined, readonly string[]]>([
    [[], "", undefined, []],
    [["start", "a task"], "start", "start", ["a task"]],
    [["decision", "add", "x"], "decision add", "decision", ["x"]],
    [["decision"], undefined, "decision", []],
    [["decision", "remove", "x"], undefined, "decision", ["remove", "x"]],
    [["decision", "--json", "add"], undefined, "decision", ["--json", "add"]],
    [["strat"], undefined, "strat", []],
    [["start", "status"], "start", "start", ["status"]],
    [["--json", "start", "x"], "start", "start", ["--json", "x"]],
    [["-v", "--json", "decision", "list", "-n"], "decision list", "decision", ["-v", "--json", "-n"]],
    [["--repo", "status", "start"], "start", "start", ["--repo", "status"]],
    [["--repo=status", "start"], "start", "start", ["--repo=status"]],
    [["--json"], "", undefined, ["--json"]],
    [["--help"], "help", undefined, []],
    [["-h", "--json"], "help", undefined, ["--json"]],
    [["--version"], "version", undefined, []],
    [["start", "--help"], "start", "start", ["--help"]],
    [["start", "--version"], "start", "start", ["--version"]],
    [["--help", "start"], "start", "start", ["--help"]],
    [["--", "start"], "", undefined, ["--", "start"]],
    [["start", "--", "--help"], "start", "start", ["--", "--help"]],
    [["--repo"], "", undefined, ["--repo"]],
    [["toString"], undefined, "toString", []],
    [["__proto__"], undefined, "__proto__", []],
    [["decision add"], "decision add", "decision add", []],
  ])("matchCommand reads %j", (argv, name, word, rest) => {
    expect(match(...argv)).toEqual([name, word, rest]);
  });

  test("matchCommand loses no word: what is not the name is handed on", () => {
    const argv = ["--repo", "x", "--json", "decision", "add", "--", "-h", ""];
    expect(match(...argv)).toEqual(["decision add", "decision", ["--repo", "x", "--json", "--", "-h", ""]]);
  });
});
