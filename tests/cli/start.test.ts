import * as fs from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, type Members, resultOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function startedTask(scene: Scene, args: readonly string[]): Members {
  return resultOf(scene.reeve(["start", ...args, "--json"]))["task"] as Members;
}

function end(scene: Scene): void {
  expect(scene.reeve(["handover", "--derive", "--close"]).exit).toBe(0);
}

describe("reeve start", () => {
  test("records the task, its place in git and one ledger line", () => {
    const scene = makeScene({ layer: true });
    const task = startedTask(scene, ["fix it", "--scope", "src/auth/", "--owner", "ada", "--profile", "debugging"]);
    const head = scene.git(["rev-parse", "HEAD"]).trim();
    expect(task).toMatchObject({ task: "fix it", scope: ["src/auth"], owner: "ada", profile: "debugging", head });
    expect(task).toMatchObject({ outcome: "active", branch: "main", working_tree: "clean", worktree: scene.repo });
    expect(task["id"]).toMatch(/^t-\d{14}-[0-9a-f]{4}$/);
    const record = scene.read(".ai/local/state/current.yaml");
    expect(record).toContain(`id: ${task["id"]}\n`);
    expect(fs.statSync(scene.at(".ai/local/state/current.yaml")).mode & 0o777).toBe(0o600);
    expect(scene.ledger()).toHaveLength(1);
    expect(scene.ledger()[0]).toMatchObject({ event: "task.started", task_id: task["id"], scope: ["src/auth"], head });
  });

  test("records what the task serves", () => {
    const scene = makeScene({ layer: true });
    const args = ["x", "--scope", "src", "--issue", "I-7", "--intent", "safe-login", "--requires", "tests,docs"];
    const task = startedTask(scene, [...args, "--exempt", "chore", "--because", "it is: small"]);
    const wanted = { issue: "I-7", intent: "safe-login", requires: ["tests", "docs"] };
    expect(task).toMatchObject({ ...wanted, exempt: { class: "chore", because: "it is: small" } });
    expect(scene.ledger()[0]).toMatchObject({ ...wanted, exempt: { class: "chore", because: "it is: small" } });
    expect(scene.reeve(["check"]).exit).toBe(0);
  });

  test("takes several scopes, each from the repository's root and once", () => {
    const scene = makeScene({ layer: true });
    const scopes = ["--scope", "src,docs", "--scope", "./docs/../new/thing", "--scope", "src/"];
    expect(startedTask(scene, ["x", ...scopes])["scope"]).toEqual(["src", "docs", "new/thing"]);
    end(scene);
    const inside = resultOf(
      scene.reeve(["start", "y", "--scope", "callback.ts", "--json"], { cwd: scene.at("src/auth") }),
    );
    expect((inside["task"] as Members)["scope"]).toEqual(["src/auth/callback.ts"]);
    end(scene);
    expect(startedTask(scene, ["z", "--scope", "."])["scope"]).toEqual(["."]);
  });

  test("refuses a second task, and archives the first once it is over", () => {
    const scene = makeScene({ layer: true });
    const first = startedTask(scene, ["one", "--scope", "src"]);
    const record = scene.read(".ai/local/state/current.yaml");
    const failure = failureOf(scene.reeve(["start", "two", "--scope", "docs", "--json"]));
    expect(failure).toMatchObject({ code: "TASK_ACTIVE", exit: 15 });
    expect(failure.hint).toContain("reeve handover --derive --close");
    expect(scene.read(".ai/local/state/current.yaml")).toBe(record);
    end(scene);
    const result = resultOf(scene.reeve(["start", "two", "--scope", "docs", "--json"]));
    expect(result["replaced"]).toBe(first["id"]);
    expect(scene.read(`.ai/local/state/archive/${first["id"]}.yaml`)).toContain("outcome: handed_over");
  });

  test("two at once leave one task and one refusal", async () => {
    const scene = makeScene({ layer: true });
    const begun = ["a", "b"].map((name) => scene.begin(["start", name, "--scope", "src"]));
    const answers = await Promise.all(begun.map((one) => one.ended));
    expect(answers.map((answer) => answer.exit).sort()).toEqual([0, 15]);
    expect(scene.ledger().filter((line) => line["event"] === "task.started")).toHaveLength(1);
  });

  test("names what another worktree claims, and begins all the same", () => {
    const scene = makeScene({ layer: true });
    const other = `${scene.folder}/other`;
    scene.git(["worktree", "add", "-q", "-b", "other", other]);
    expect(scene.reeve(["start", "theirs", "--scope", "src/auth"], { cwd: other }).exit).toBe(0);
    const said = scene.reeve(["start", "mine", "--scope", "src"]);
    expect(said.exit).toBe(0);
    expect(said.stdout).toMatch(/^INFO overlap .*src\/auth.*\[reproduce: reeve check --overlap\]$/m);
    expect(scene.reeve(["check", "--overlap"]).stdout).toContain("'theirs'");
    end(scene);
    expect(scene.reeve(["start", "apart", "--scope", "docs"]).stdout).not.toContain("overlap");
  });

  test("warns of changes that lie outside the scope already", () => {
    const scene = makeScene({ layer: true });
    scene.write("docs/draft.md", "x\n");
    const said = scene.reeve(["start", "x", "--scope", "src"]);
    expect(said.exit).toBe(0);
    expect(said.stdout).toMatch(/^WARN scope docs\/draft\.md .*\[reproduce: .+\]$/m);
  });

  test("--dry-run shows the record and writes nothing", () => {
    const scene = makeScene({ layer: true });
    const said = scene.reeve(["start", "x", "--scope", "src", "--dry-run"]);
    expect(said.exit).toBe(0);
    expect(said.stdout).toContain("current.yaml");
    expect(scene.exists(".ai/local/state/current.yaml")).toBe(false);
    expect(scene.ledger()).toEqual([]);
  });
});

describe("reeve start refuses", () => {
  let scene: Scene;
  beforeAll(() => {
    scene = makeScene({ layer: true });
    fs.mkdirSync(`${scene.folder}/outside`);
    fs.symlinkSync("../outside", scene.at("way-out"));
    fs.symlinkSync("../not-there", scene.at("dangling"));
  });

  test.each([
    ["a scope outside", ["x", "--scope", "../x"], 15, "outside the repository"],
    ["an absolute scope outside", ["x", "--scope", "/etc"], 15, "outside the repository"],
    ["a scope through a link", ["x", "--scope", "way-out/deep"], 15, "through a link"],
    ["a scope behind a dangling link", ["x", "--scope", "dangling"], 15, "through a link"],
    ["git's own folder", ["x", "--scope", ".git/hooks"], 15, ".git"],
    ["one bad scope among good ones", ["x", "--scope", "src,../x"], 15, "outside the repository"],
    ["an empty name", ["", "--scope", "src"], 2, "empty"],
    ["a blank name", ["  ", "--scope", "src"], 2, "empty"],
    ["no name", ["--scope", "src"], 2, "missing"],
    ["a name of two lines", ["a\nb", "--scope", "src"], 2, "one line"],
    ["no scope", ["x"], 2, "--scope"],
    ["an empty scope", ["x", "--scope", ""], 2, "empty"],
    ["an empty item in a scope", ["x", "--scope", "src,,docs"], 2, "empty"],
    ["a name in several words", ["fix", "it", "--scope", "src"], 2, "one argument too many"],
    ["an exemption without a reason", ["x", "--scope", "src", "--exempt", "chore"], 2, "--because"],
    ["a reason without an exemption", ["x", "--scope", "src", "--because", "y"], 2, "--exempt"],
    ["an unknown profile", ["x", "--scope", "src", "--profile", "debuging"], 12, "debuging"],
    ["a profile that is a path", ["x", "--scope", "src", "--profile", "../policy"], 12, "../policy"],
  ])("%s", (_, args, exit, says) => {
    const failure = failureOf(scene.reeve(["start", ...args, "--json"]));
    expect(failure).toMatchObject({ exit });
    expect(`${failure.message} ${failure.hint}`).toContain(says);
    expect(scene.exists(".ai/local/state/current.yaml")).toBe(false);
    expect(scene.ledger()).toEqual([]);
  });
});
