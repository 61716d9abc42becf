import * as fs from "node:fs";
import * as path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { failureOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";
import { withoutPrivileges } from "../unprivileged.ts";

const commands: readonly (readonly string[])[] = [
  ["status"],
  ["doctor"],
  ["check"],
  ["start", "x", "--scope", "src"],
  ["finish", "--outcome", "failed"],
  ["checkpoint", "--derive"],
  ["handover", "--list"],
  ["decision", "list"],
  ["question", "add", "q?"],
  ["history"],
];

/** A PATH with what a shell and Node need, and no git. */
function pathWithoutGit(scene: Scene): string {
  const bin = path.join(scene.folder, "no-git");
  fs.mkdirSync(bin);
  for (const name of ["sh", "env", "printf", "cat"]) {
    const found = scene.sh(`command -v ${name}`).stdout.trim();
    if (found.startsWith("/")) fs.symlinkSync(found, path.join(bin, name));
  }
  fs.symlinkSync(process.execPath, path.join(bin, "node"));
  fs.symlinkSync(path.join(scene.folder, "bin/reeve"), path.join(bin, "reeve"));
  return bin;
}

describe("every command", () => {
  test("outside a repository exits 2 and names the folder", () => {
    const scene = makeScene({ commits: false });
    const cwd = `${scene.folder}/home`;
    for (const args of [[], ["init"], ...commands]) {
      const failure = failureOf(scene.reeve([...args, "--json"], { cwd }));
      expect(failure, args.join(" ")).toMatchObject({ code: "NOT_A_REPOSITORY", exit: 2 });
      expect(failure.message).toContain(cwd);
      expect(failure.hint).toBeDefined();
    }
  });

  test("without a layer exits 12 and says reeve init, writing nothing", () => {
    const scene = makeScene();
    for (const args of commands) {
      const failure = failureOf(scene.reeve([...args, "--json"]));
      expect(failure, args.join(" ")).toMatchObject({ code: "NO_LAYER", exit: 12, hint: "reeve init" });
    }
    expect(scene.git(["status", "--porcelain", "--ignored"])).toBe("");
    expect(scene.exists(".git/reeve")).toBe(false);
  });

  test("where .ai is a file exits 12, says what it is and how to move it", () => {
    const scene = makeScene();
    scene.write(".ai", "mine\n");
    for (const args of commands) {
      const failure = failureOf(scene.reeve([...args, "--json"]));
      expect(failure, args.join(" ")).toMatchObject({ code: "NO_LAYER", exit: 12 });
      expect(failure.message).toContain(".ai is a file");
      expect(failure.hint).toContain("mv .ai");
    }
    expect(scene.read(".ai")).toBe("mine\n");
  });

  test("without git exits 12 and says that git is missing", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    const env = { PATH: pathWithoutGit(scene) };
    for (const args of [["check"], ["doctor"], ["status"], ["finish", "--check"], ["finish", "--outcome", "failed"]]) {
      const failure = failureOf(scene.reeve([...args, "--json"], { env }));
      expect(failure, args.join(" ")).toMatchObject({ code: "NO_GIT", exit: 12 });
      expect(failure.hint).toContain("git");
    }
    expect(scene.reeve(["version"], { env }).exit).toBe(0);
    expect(scene.reeve(["help"], { env }).exit).toBe(0);
  });

  test("where the layer cannot be read exits 12 and names the file", () => {
    const scene = makeScene({ layer: true });
    const reeve = withoutPrivileges(scene);
    fs.chmodSync(scene.at(".ai/repo/policy.yaml"), 0o000);
    for (const args of [["start", "x", "--scope", "src"], ["doctor"]]) {
      const failure = failureOf(reeve([...args, "--json"]));
      expect(failure, args.join(" ")).toMatchObject({ code: "UNREADABLE", exit: 12 });
      expect(failure.message).toContain("policy.yaml");
    }
  });

  test("where the repository cannot be written init refuses with 15 and leaves nothing", () => {
    const scene = makeScene();
    const reeve = withoutPrivileges(scene);
    fs.chmodSync(scene.repo, 0o555);
    fs.chmodSync(scene.at(".git"), 0o555);
    const failure = failureOf(reeve(["init", "--json"]));
    expect(failure).toMatchObject({ code: "UNWRITABLE", exit: 15 });
    expect(failure.message).toContain(scene.repo);
    fs.chmodSync(scene.repo, 0o755);
    fs.chmodSync(scene.at(".git"), 0o755);
    expect(fs.readdirSync(scene.repo).sort()).toEqual([".git", "README.md", "src"]);
  });
});

describe("a task record that is not sound", () => {
  const record = ".ai/local/state/current.yaml";
  const cases: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    ["no YAML", () => "id: [\n", /current\.yaml:\d+/],
    ["empty", () => "", /current\.yaml/],
    ["an unknown key", (text) => `${text}colour: red\n`, /unknown key 'colour'/],
    ["a key it lacks", (text) => text.replace(/^scope: .*\n/m, ""), /'scope' is missing/],
    ["an unknown outcome", (text) => text.replace("outcome: active", "outcome: done"), /'outcome'/],
    ["a scope of the wrong kind", (text) => text.replace(/^scope: .*$/m, "scope: src"), /'scope'/],
    ["a key twice", (text) => `${text}task: other\n`, /current\.yaml/],
    ["a merge conflict", (text) => `<<<<<<< ours\n${text}=======\n>>>>>>> theirs\n`, /current\.yaml/],
  ];

  let scene: Scene;
  let good: string;
  beforeAll(() => {
    scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    good = scene.read(record);
  });

  test.each(cases)("%s: exits 10 with what is wrong and where, and is never taken for no task", (_, change, says) => {
    const broken = change(good);
    expect(broken).not.toBe(good);
    scene.write(record, broken);
    for (const args of [
      ["check"],
      ["start", "y", "--scope", "src"],
      ["finish", "--check"],
      ["checkpoint", "--derive"],
    ]) {
      const failure = failureOf(scene.reeve([...args, "--json"]));
      expect(failure, args.join(" ")).toMatchObject({ code: "RECORD_DAMAGED", exit: 10 });
      expect(failure.message).toMatch(says);
      expect(failure.hint).toBeDefined();
    }
    expect(scene.read(record)).toBe(broken);
  });

  test("line ends of another system are none of these", () => {
    scene.write(record, good.replaceAll("\n", "\r\n"));
    expect(scene.reeve(["check"]).exit).toBe(0);
  });
});

describe("words nobody meant", () => {
  test("control characters and very long texts are refused or kept, never half done", () => {
    const scene = makeScene({ layer: true });
    const long = "x".repeat(100_000);
    expect(scene.reeve(["start", `a ${long}`, "--scope", "src"]).exit).toBe(0);
    expect(scene.reeve(["check"]).exit).toBe(0);
    for (const title of ["tab\there", "esc\u001b[31m", "line\u2028separator", "carriage\rreturn"])
      expect(failureOf(scene.reeve(["decision", "add", title, "--why", "w", "--json"])), title).toMatchObject({
        exit: 2,
      });
    expect(scene.reeve(["decision", "add", "plain", "--why", "bell\u0007 and \u2028"]).exit).toBeLessThan(3);
    expect(scene.reeve(["history", "--validate"]).exit).toBe(0);
    expect(scene.reeve(["doctor"]).exit).toBe(0);
    expect(scene.ledger().filter((line) => line["event"] === "task.started")).toHaveLength(1);
  });

  test("--note and scope paths that are folders, devices or missing name themselves", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    for (const file of ["src", "nope.md"]) {
      const failure = failureOf(scene.reeve(["finish", "--outcome", "failed", "--note", file, "--json"]));
      expect(failure.exit, file).toBe(12);
      expect(failure.message).toContain(file);
    }
    expect(scene.ledger()).toHaveLength(1);
  });
});
