import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { globalFlags } from "../flags.ts";
import { registry } from "../registry.ts";
import { type CompletionTable, renderCompletion, shells } from "./shells.ts";

let folder: string;
let table: CompletionTable;

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "reeve shells "));
  const commands = await Promise.all(registry.map((entry) => entry.load()));
  table = commands
    .filter((command) => command.name !== "")
    .map((command) => ({
      name: command.name,
      summary: command.summary,
      flags: { ...command.args.flags, ...globalFlags },
      words: (command.args.positionals ?? []).flatMap((positional) => positional.choices ?? []),
    }));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** What bash offers for words typed so far, the last of them under way. */
function complete(...words: readonly string[]): string[] {
  const file = path.join(folder, "reeve.bash");
  fs.writeFileSync(file, renderCompletion("bash", table));
  const script =
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reeve; printf "%s\\n" "${COMPREPLY[@]}"';
  const done = spawnSync("bash", ["--norc", "-c", script, "bash", file, "reeve", ...words], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
    encoding: "utf8",
  });
  expect([done.stderr, done.status]).toEqual(["", 0]);
  return done.stdout.split("\n").filter((row) => row !== "");
}

describe("renderCompletion for bash", () => {
  test("renderCompletion offers the first words, by what is typed of them", () => {
    expect(complete("").sort()).toEqual([...new Set(table.map((command) => command.name.split(" ")[0]))].sort());
    expect(complete("che").sort()).toEqual(["check", "checkpoint"]);
    expect(complete("zzz")).toEqual([]);
  });

  test("renderCompletion offers the verbs of a family, and then the flags of one", () => {
    expect(complete("question", "").sort()).toEqual(["add", "list", "resolve"]);
    expect(complete("decision", "a")).toEqual(["add"]);
    expect(complete("decision", "add", "--w")).toEqual(["--why"]);
  });

  test("renderCompletion offers a command's own flags and those of every command, and no other's", () => {
    const offered = complete("start", "--");
    expect(offered).toContain("--scope");
    expect(offered).not.toContain("--verify-command");
    for (const name of Object.keys(globalFlags)) expect(offered).toContain(`--${name}`);
  });

  test("renderCompletion offers the choices of a flag after it, and of a word", () => {
    expect(complete("init", "--home", "").sort()).toEqual(["checkout", "git"]);
    expect(complete("finish", "--outcome", "par")).toEqual(["partial"]);
    expect(
      complete("completion", "")
        .filter((word) => !word.startsWith("-"))
        .sort(),
    ).toEqual([...shells].sort());
  });
});

describe("renderCompletion", () => {
  test.each(["bash", "zsh", "fish"])("renderCompletion for %s names every command and every flag", (shell) => {
    const script = renderCompletion(shell, table);
    for (const command of table) {
      for (const word of command.name.split(" ")) expect(script, command.name).toContain(word);
      for (const flag of Object.keys(command.flags))
        expect(script, flag).toContain(shell === "fish" ? `-l ${flag}` : `--${flag}`);
    }
    expect(script.endsWith("\n")).toBe(true);
    expect(script).not.toContain("undefined");
  });

  test("renderCompletion quotes a summary that holds quotes, in every shell", () => {
    const hostile: CompletionTable = [
      {
        name: "a",
        summary: 'it\'s $(touch made) `touch made` "x"',
        flags: { f: { type: "boolean", summary: "don't: [x]" } },
        words: [],
      },
    ];
    for (const shell of shells) {
      const script = renderCompletion(shell, hostile);
      const bare = script.replaceAll(/'(?:[^']|'\\'')*'/g, "''");
      expect(bare, shell).not.toContain("touch made");
    }
  });

  test("renderCompletion refuses a shell it has nothing for", () => {
    for (const shell of ["tcsh", "", "toString"])
      expect(() => renderCompletion(shell, table)).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});
