import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

let scene: Scene;
beforeAll(() => {
  scene = makeScene({ commits: false });
});

function said(...args: readonly string[]): string {
  const answer = scene.reeve(args, { cwd: scene.folder });
  expect(answer, answer.stderr).toMatchObject({ exit: 0, stderr: "" });
  return answer.stdout;
}

describe("reeve help", () => {
  test("shows eight verbs, in the order one meets them", () => {
    const verbs = [...said("help").matchAll(/^ {2}(\w+) {2,}\S/gm)].map((match) => match[1]);
    expect(verbs).toHaveLength(8);
    expect(verbs.slice(0, 7)).toEqual(["init", "status", "start", "check", "finish", "handover", "doctor"]);
  });

  test("--all lists every command below its group", () => {
    const text = said("help", "--all");
    for (const name of ["decision add", "question resolve", "history", "completion", "version"])
      expect(text).toMatch(new RegExp(`^ {2}${name} {2,}\\S`, "m"));
  });

  test("of a command is the same by three spellings, and has usage, flags and examples", () => {
    const text = said("help", "start");
    expect(said("start", "--help")).toBe(text);
    expect(said("start", "-h", "x")).toBe(text);
    for (const part of [
      "usage: reeve start <task> --scope <path>",
      "--profile",
      "--json",
      "examples:",
      "$ reeve start",
    ])
      expect(text).toContain(part);
    expect(said("help", "decision", "add")).toBe(said("decision", "add", "--help"));
  });

  test("answers --help and -h alone", () => {
    expect(said("--help")).toBe(said("help"));
    expect(said("-h")).toBe(said("help"));
  });

  test("prints JSON", () => {
    const result = resultOf(scene.reeve(["help", "--json"]));
    expect(result["verbs"]).toContainEqual(expect.objectContaining({ name: "start", group: "Work" }));
    expect(resultOf(scene.reeve(["help", "start", "--json"]))["text"]).toContain("usage:");
  });
});

describe("a mistyped word", () => {
  test.each([
    [["strat", "x"], "did you mean: reeve start?"],
    [["decison", "add"], "did you mean: reeve decision?"],
    [["decision", "ad", "x"], "did you mean: reeve decision add?"],
    [["help", "doctr"], "did you mean: reeve doctor?"],
    [["start", "x", "--scop", "src"], "did you mean --scope?"],
    [["start", "x", "--scope", "src", "--profle=x"], "did you mean --profile?"],
    [["version", "--jsno"], "did you mean --json?"],
    [["finish", "--outcome", "complted"], "did you mean 'completed'?"],
    [["init", "--home", "chekout"], "did you mean 'checkout'?"],
  ])("%j: %s", (args, guess) => {
    const answer = scene.reeve(args);
    expect(answer).toMatchObject({ exit: 2, stdout: "" });
    expect(answer.stderr).toContain(guess);
    const failure = failureOf(scene.reeve([...args, "--json"]));
    expect(failure).toMatchObject({ exit: 2, hint: guess });
  });

  test("far from every command is answered with where the list is", () => {
    const failure = failureOf(scene.reeve(["xyzzyplugh", "--json"]));
    expect(failure).toMatchObject({ code: "UNKNOWN_COMMAND", exit: 2 });
    expect(failure.hint).toContain("reeve help --all");
    expect(rowsOf(scene.reeve(["decision"]).stderr)[0]).toContain("add, list, show");
  });
});

describe("flags", () => {
  test("a flag without its value, a value for a switch, one word too many", () => {
    for (const args of [
      ["start", "x", "--scope"],
      ["check", "--explain=yes"],
      ["version", "now"],
      ["status", "x"],
    ])
      expect(failureOf(scene.reeve(["--json", ...args])), args.join(" ")).toMatchObject({ code: "USAGE", exit: 2 });
  });

  test("stand before or after the command, with = or a space", () => {
    expect(said("--json", "version")).toBe(said("version", "--json"));
    const own = makeScene({ layer: true });
    expect(own.reeve([`--repo=${own.repo}`, "start", "--scope=src", "x"], { cwd: own.folder }).exit).toBe(0);
    expect(own.reeve(["--repo", own.repo, "status"], { cwd: own.folder }).exit).toBe(0);
  });

  test("after -- nothing is a flag", () => {
    const own = makeScene({ layer: true });
    expect(own.reeve(["start", "--scope", "src", "--", "--scope"]).exit).toBe(0);
    expect(own.read(".ai/local/state/current.yaml")).toMatch(/^task: "?--scope"?$/m);
  });
});
