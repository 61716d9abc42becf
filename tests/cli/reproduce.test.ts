import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { type FoundLine, foundIn } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const local = ".ai/local/state";
const policy = ".ai/repo/policy.yaml";

function edit(scene: Scene, file: string, replace: readonly [string | RegExp, string]): void {
  const before = scene.read(file);
  const after = before.replace(...replace);
  expect(after).not.toBe(before);
  scene.write(file, after);
}

function begin(scene: Scene, ...more: readonly string[]): void {
  expect(scene.reeve(["start", "work", "--scope", "src", ...more]).exit).toBe(0);
}

const finish = ["finish", "--outcome", "completed"];

/** What goes wrong, the command that says so, and the categories it must be said under. */
const troubles: readonly (readonly [string, (scene: Scene) => void, readonly string[], readonly string[]])[] = [
  [
    "files, commits and names outside the scope",
    (scene) => {
      begin(scene);
      scene.write("it's here/`a` $b.txt", "x");
      for (let index = 0; index < 25; index += 1) scene.write(`many/${index}.txt`, "x");
      scene.write("committed.txt", "x");
      scene.git(["add", "committed.txt"]);
      scene.git(["commit", "-q", "-m", "c"]);
    },
    ["check"],
    ["scope"],
  ],
  [
    "everything a finish asks for is missing",
    (scene) => {
      edit(scene, policy, ["derive_on_finish: true", "derive_on_finish: false"]);
      edit(scene, policy, ["    - note_present", "    - note_present\n    - moon_is_full"]);
      begin(scene, "--profile", "deep-work");
      scene.write("src/a.ts", "x");
      scene.reeve(["question", "add", 'Is "it" $HOME or `id`?']);
      edit(scene, `${local}/current.yaml`, [/^head: .*$/m, `head: ${"abcdef0123".repeat(4)}`]);
    },
    finish,
    ["verification", "note", "blockers", "contract", "regression", "state"],
  ],
  [
    "a verification that fails",
    (scene) => begin(scene),
    [...finish, "--verify-command", "echo 'it is'; exit 4"],
    ["verification"],
  ],
  [
    "a tree that changed while it was verified",
    (scene) => begin(scene),
    [...finish, "--verify-command", "date > src/now"],
    ["verification"],
  ],
  [
    "an old checkpoint and a question nobody can read",
    (scene) => {
      begin(scene);
      edit(scene, `${local}/current.yaml`, [/^started_at: .*$/m, 'started_at: "2020-01-01T00:00:00Z"']);
      fs.appendFileSync(scene.at(`${local}/open-questions.md`), "- [unresolved] broken\n");
    },
    ["check"],
    ["checkpoint", "blockers"],
  ],
  [
    "another worktree in the same files",
    (scene) => {
      scene.git(["worktree", "add", "-q", `${scene.folder}/other`]);
      scene.reeve(["start", "theirs", "--scope", "src"], { cwd: `${scene.folder}/other` });
      begin(scene);
    },
    ["check", "--overlap"],
    ["overlap"],
  ],
  [
    "a policy with an unknown key, a profile and a manifest that do not parse",
    (scene) => {
      fs.appendFileSync(scene.at(policy), "\nsurprise: 1\n");
      scene.write(".ai/repo/profiles/routine.yaml", "name: [\n");
      edit(scene, ".ai/manifest.yaml", ["repo/adrs", "repo/gone"]);
    },
    ["doctor"],
    ["policy", "layout"],
  ],
  ["a policy that lacks a key", (scene) => edit(scene, policy, ["  time_limit: 30m\n", ""]), ["doctor"], ["policy"]],
  ["a policy that is gone", (scene) => fs.rmSync(scene.at(policy)), ["doctor"], ["policy"]],
  [
    "hooks nobody wired, one swallowed, one CI file that does not call it",
    (scene) => {
      edit(scene, policy, ["wired_by: git-hook:pre-push", "wired_by: ci:.ci/run"]);
      scene.write(".git/hooks/pre-commit", "#!/bin/sh\nreeve doctor || true\n", 0o755);
      scene.write(".ci/run", "true\n");
    },
    ["doctor"],
    ["wiring"],
  ],
  [
    "damaged records of every kind",
    (scene) => {
      scene.write(`${local}/ledger.jsonl`, "{}\n");
      scene.write(`${local}/open-questions.md`, "- [ ] x\n");
      scene.write(
        `${local}/decisions.md`,
        '## 2020-01-01 — It\'s "one" of `touch injected` $(touch injected) $HOME\n\nWhy: -\n',
      );
      scene.write(`${local}/handovers/x.md`, "x");
      scene.write(`${local}/checkpoints/x.md`, "x");
    },
    ["doctor"],
    ["records", "resolver"],
  ],
  [
    "more records than the policy keeps",
    (scene) => {
      edit(scene, policy, ["rotate: auto", "rotate: off"]);
      edit(scene, policy, ["retention_max_lines: 5000", "retention_max_lines: 1"]);
      edit(scene, policy, [/retention_max_files: 500/, "retention_max_files: 1"]);
      for (const text of ["a", "b"]) scene.reeve(["checkpoint"], { input: text });
    },
    ["doctor"],
    ["retention"],
  ],
  [
    "a local half git does not ignore, and the layout before",
    (scene) => {
      scene.write(".gitignore", "");
      scene.write(".majordomus/x", "x");
    },
    ["doctor"],
    ["layout"],
  ],
  ["a local half git tracks", (scene) => void scene.git(["add", "-f", ".ai/local"]), ["doctor"], ["layout"]],
  [
    "a rule that does not parse and one twice",
    (scene) => {
      const rule = ".ai/repo/rules/vendor/reeve/scope-integrity.v1.md";
      scene.write(".ai/repo/rules/project/twice.md", scene.read(rule));
      scene.write(".ai/repo/rules/vendor/reeve/note-integrity.v1.md", "x");
    },
    ["doctor"],
    ["rules"],
  ],
];

function judge(scene: Scene, finding: FoundLine, cwd: string): void {
  const { reproduce } = finding;
  expect(reproduce, JSON.stringify(finding)).toBeDefined();
  const said = scene.sh(reproduce ?? "", { cwd });
  expect(said.stderr, reproduce).not.toMatch(/not found|syntax error|usage:/i);
  expect([2, 126, 127, 128, 129], `${reproduce}\n${said.stdout}${said.stderr}`).not.toContain(said.exit);
}

describe("every printed reproduce command runs", () => {
  test.each(troubles)("for %s", (_, make, args, categories) => {
    const scene = makeScene({ layer: true });
    make(scene);
    const said = scene.reeve([...args, "--json"]);
    const found = foundIn(said).filter((finding) => !/^(?:OK|INFO)$/.test(finding.level));
    expect([...new Set(found.map((finding) => finding.category))]).toEqual(expect.arrayContaining([...categories]));
    const commands = new Map(found.map((finding) => [finding.reproduce, finding]));
    expect(commands.size).toBeGreaterThan(0);
    for (const finding of commands.values()) judge(scene, finding, scene.repo);
    expect(scene.exists("injected")).toBe(false);
    const [any] = commands.values();
    if (any !== undefined) judge(scene, any, scene.at("src"));
  });
});

describe("what is printed to be typed next", () => {
  test("quotes a question so that a shell takes it as it is", () => {
    const scene = makeScene({ layer: true });
    begin(scene);
    const question = 'It\'s "one" of `touch injected` $(touch injected)?';
    expect(scene.reeve(["question", "add", question]).exit).toBe(0);
    const found = foundIn(scene.reeve(["check", "--json"])).find((finding) => finding.category === "blockers");
    expect(found?.subject).toBe(question);
    const said = scene.sh((found?.next ?? "").replace("<answer>", "so"));
    expect(said.exit, found?.next).toBe(0);
    expect(scene.exists("injected")).toBe(false);
    expect(scene.reeve(["check"]).exit).toBe(0);
  });
});
