import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";
import { findDisagreements, readFacts } from "./agreement.ts";
import { placeAt } from "./place.ts";

const timeout = 600_000;

function decide(scene: Scene, title: string): void {
  const { exit, stdout, stderr } = scene.reeve(["decision", "add", title, "--why", "w"]);
  expect(exit, stdout + stderr).toBe(0);
}

function readTitles(scene: Scene, ...flags: readonly string[]): readonly unknown[] {
  const { exit, stdout, stderr } = scene.reeve(["history", "--json", "--event", "decision.recorded", ...flags]);
  expect(exit, stdout + stderr).toBe(0);
  const rows = stdout.split("\n").filter((row) => row !== "");
  return rows.map((row) => (JSON.parse(row) as { decision: unknown }).decision);
}

function makeLinked(scene: Scene, name: string): Scene {
  scene.git(["worktree", "add", "-q", "--force", `../${name}`, "-B", name]);
  return placeAt(scene, name);
}

describe("records", () => {
  test("survive git clean -fdx and the loss of .ai/local", { timeout }, () => {
    const scene = makeScene({ layer: true });
    decide(scene, "one");
    scene.git(["clean", "-fdxq"]);
    expect(scene.exists(".ai/local")).toBe(false);
    expect(readTitles(scene)).toEqual(["one"]);
    decide(scene, "two");
    expect(fs.lstatSync(scene.at(".ai/local")).isSymbolicLink()).toBe(true);
    fs.rmSync(scene.at(".ai/local"));
    decide(scene, "three");
    expect(readTitles(scene)).toEqual(["one", "two", "three"]);
    expect(findDisagreements(readFacts(scene.repo))).toEqual([]);
    expect(scene.reeve(["doctor"]).exit).toBe(0);
  });

  test("of a removed worktree stay readable, apart from those of a new one of the same name", { timeout }, () => {
    const scene = makeScene({ layer: true });
    decide(scene, "in main");
    const first = makeLinked(scene, "topic");
    decide(first, "in the first");
    scene.git(["worktree", "remove", "--force", "../topic"]);
    expect(readTitles(scene)).toEqual(["in main"]);
    expect([...readTitles(scene, "--all-checkouts")].sort()).toEqual(["in main", "in the first"]);
    const second = makeLinked(scene, "topic");
    expect(readTitles(second)).toEqual([]);
    decide(second, "in the second");
    expect(readTitles(second)).toEqual(["in the second"]);
    expect(findDisagreements(readFacts(second.repo))).toEqual([]);
    const all = ["in main", "in the first", "in the second"];
    expect([...readTitles(scene, "--all-checkouts")].sort()).toEqual(all);
    expect([...readTitles(second, "--all-checkouts")].sort()).toEqual(all);
  });

  test("of a worktree survive git clean -fdx there", { timeout }, () => {
    const scene = makeScene({ layer: true });
    const linked = makeLinked(scene, "topic");
    decide(linked, "one");
    linked.git(["clean", "-fdxq"]);
    decide(linked, "two");
    expect(readTitles(linked)).toEqual(["one", "two"]);
    expect(readTitles(scene)).toEqual([]);
  });
});

const asked: readonly (readonly string[])[] = [
  ["doctor", "--json", "--verbose"],
  ["check", "--json", "--verbose"],
  ["status", "--json"],
  ["history", "--all", "--json"],
];

/** What the commands print and answer, once with caches and once without. */
function expectSame(scene: Scene, where: string): void {
  for (const args of asked) {
    const answers = ["on", "on", "off"]
      .map((value) => ({ REEVE_CACHE: value }))
      .map((env) => scene.reeve(args, { env }));
    const [first, again, without] = answers.map(({ exit, stdout, stderr }) => ({
      exit,
      stderr,
      // How long ago something was may move between two runs; and doctor names the variable this test sets.
      stdout: stdout.replaceAll(/\b\d+[smh] ago\b/g, "a moment ago").replace(/is set to (?:on|off)/, "is set"),
    }));
    expect(again, `${where}: ${args.join(" ")}`).toEqual(first);
    expect(without, `${where}: ${args.join(" ")} without caches`).toEqual(first);
  }
}

describe("caches", () => {
  test("change no answer: not when they are off, deleted, or damaged", { timeout }, () => {
    const scene = makeScene({ layer: "hooks" });
    expectSame(scene, "no task");
    expect(scene.reeve(["start", "fix", "--scope", "src/auth"]).exit).toBe(0);
    scene.write("src/auth/callback.ts", "export const callback = 2;\n");
    expectSame(scene, "within the scope");
    scene.write("config/new.json", "{}\n");
    expect(scene.reeve(["question", "add", "why?"]).exit).toBe(0);
    expectSame(scene, "outside the scope");
    const cached = fs.readdirSync(scene.at(".ai/local/cache"));
    expect(cached.length).toBeGreaterThan(0);
    for (const name of cached) scene.write(`.ai/local/cache/${name}`, "{broken");
    expectSame(scene, "a damaged cache");
    scene.sh("rm -rf .ai/local/cache");
    scene.sh(
      "sed -i 's/^schema:.*/schema: nonsense/' .ai/repo/policy.yaml; echo 'unknown_key: 1' >> .ai/repo/policy.yaml",
    );
    expectSame(scene, "a deleted cache and a broken policy");
  });

  test("are not believed when a file changed to another content of the same size and time", { timeout }, () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["doctor"]).exit).toBe(0);
    const file = scene.at(".ai/repo/profiles/routine.yaml");
    const { atime, mtime } = fs.statSync(file);
    const text = fs.readFileSync(file, "utf8");
    fs.writeFileSync(
      file,
      text.replace(/^(\w)(\w*):/m, (_, first: string, rest: string) => `${first}${rest}!`),
    );
    fs.utimesSync(file, atime, mtime);
    const cached = scene.reeve(["doctor"], { env: { REEVE_CACHE: "on" } });
    expect(cached).toEqual(scene.reeve(["doctor"], { env: { REEVE_CACHE: "off" } }));
    expect(cached.exit).not.toBe(0);
  });
});
