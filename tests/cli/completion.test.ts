import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { failureOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function has(shell: string): boolean {
  return spawnSync(shell, ["-c", "exit 0"]).status === 0;
}

function offer(scene: Scene, words: readonly string[]): readonly string[] {
  const list = words.map((word) => `'${word}'`).join(" ");
  const script = `source <(reeve completion bash); COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _reeve; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const result = spawnSync("bash", ["--norc", "-c", script], {
    cwd: scene.repo,
    env: { ...scene.env },
    encoding: "utf8",
  });
  expect(result.stderr).toBe("");
  return rowsOf(result.stdout);
}

describe("reeve completion bash", () => {
  const scene = makeScene({ commits: false });

  test.each([
    [
      ["reeve", ""],
      ["init", "status", "start", "decision", "history", "completion"],
    ],
    [
      ["reeve", "st"],
      ["status", "start"],
    ],
    [
      ["reeve", "decision", ""],
      ["add", "list", "show"],
    ],
    [["reeve", "decision", "ad"], ["add"]],
    [["reeve", "start", "--sc"], ["--scope"]],
    [["reeve", "decision", "add", "--w"], ["--why"]],
    [
      ["reeve", "finish", "--outcome", ""],
      ["completed", "partial", "blocked", "no_match", "failed"],
    ],
    [["reeve", "init", "--home", "c"], ["checkout"]],
    [
      ["reeve", "completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["reeve", "check", "--js"], ["--json"]],
  ])("%j offers %j", (words, wanted) => {
    const offered = offer(scene, words);
    expect(offered).toEqual(expect.arrayContaining(wanted));
    const last = words.at(-1) ?? "";
    expect(offered.every((word) => word.startsWith(last))).toBe(true);
  });

  test("registers itself for reeve", () => {
    const script = "source <(reeve completion bash); complete -p reeve";
    const result = spawnSync("bash", ["--norc", "-c", script], { env: { ...scene.env }, encoding: "utf8" });
    expect(result.stdout).toContain("-F _reeve reeve");
  });
});

describe("reeve completion of other shells", () => {
  const scene = makeScene({ commits: false });

  test.skipIf(!has("zsh"))("zsh reads the script without an error (skipped where zsh is not installed)", () => {
    const result = spawnSync(
      "zsh",
      ["-f", "-c", 'autoload -U compinit; compinit -u; eval "$(reeve completion zsh)"; echo $_comps[reeve]'],
      {
        env: { ...scene.env },
        encoding: "utf8",
      },
    );
    expect(result).toMatchObject({ stdout: "_reeve\n", stderr: "" });
  });

  test.skipIf(!has("fish"))("fish offers the verbs (skipped where fish is not installed)", () => {
    const script = "reeve completion fish | source; complete -C 'reeve decision '";
    const result = spawnSync("fish", ["--no-config", "-c", script], { env: { ...scene.env }, encoding: "utf8" });
    expect(result.stderr).toBe("");
    expect(rowsOf(result.stdout).map((row) => row.split("\t")[0])).toEqual(["add", "list", "show"]);
  });

  test("zsh and fish scripts name every flag of a command, with its quotes balanced", () => {
    for (const shell of ["zsh", "fish"]) {
      const script = scene.reeve(["completion", shell]).stdout;
      for (const word of ["verify-command", "all-checkouts", "supersedes"]) expect(script).toContain(word);
      expect((script.replaceAll("'\\''", "").match(/'/g) ?? []).length % 2).toBe(0);
    }
  });

  test("an unknown shell is a usage error, and so is none", () => {
    expect(failureOf(scene.reeve(["completion", "tcsh", "--json"]))).toMatchObject({ exit: 2 });
    expect(failureOf(scene.reeve(["completion", "--json"]))).toMatchObject({ exit: 2 });
  });
});
