import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, ofLevel } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function begun(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "first", "--scope", "src"]).exit).toBe(0);
  return scene;
}

/** Waits until a file is there, without a fixed sleep. */
async function appears(file: string): Promise<void> {
  while (!fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A finish whose verification says when it began, and waits for a go. */
function beginFinish(scene: Scene): ReturnType<Scene["begin"]> {
  const command = `touch ${scene.folder}/began; while [ ! -e ${scene.folder}/go ]; do sleep 0.05; done`;
  return scene.begin(["finish", "--outcome", "completed", "--verify-command", command, "--json"]);
}

describe("reeve finish", () => {
  test("does not end another task than the one it verified", async () => {
    const scene = begun();
    const slow = beginFinish(scene);
    await appears(`${scene.folder}/began`);
    expect(scene.reeve(["handover", "--derive", "--close"]).exit).toBe(0);
    expect(scene.reeve(["start", "second", "--scope", "src"]).exit).toBe(0);
    fs.writeFileSync(`${scene.folder}/go`, "");
    expect(failureOf(await slow.ended)).toMatchObject({ code: "CONFLICT", exit: 15 });
    expect(scene.read(".ai/local/state/current.yaml")).toContain("outcome: active");
    expect(scene.ledger().filter((line) => line["event"] === "task.finished")).toEqual([]);
  });

  test("refuses when a file changed while the verification ran", async () => {
    const scene = begun();
    const slow = beginFinish(scene);
    await appears(`${scene.folder}/began`);
    scene.write("src/auth/callback.ts", "changed meanwhile\n");
    fs.writeFileSync(`${scene.folder}/go`, "");
    const answer = await slow.ended;
    expect(answer.exit).toBe(10);
    expect(ofLevel(answer, "FAIL").map((line) => line.category)).toEqual(["verification"]);
  });

  test("judges by the policy itself, whatever the parsed form kept in the cache says", () => {
    const scene = begun();
    expect(scene.reeve(["check"]).exit).toBe(0);
    const cache = ".ai/local/cache/parsed.json";
    const kept = JSON.parse(scene.read(cache)) as { documents: Record<string, { value: Record<string, unknown> }> };
    const policy = kept.documents[".ai/repo/policy.yaml"]?.value["verification"] as Record<string, unknown>;
    policy["finish_requires"] = ["note_present"];
    fs.writeFileSync(scene.at(cache), JSON.stringify(kept));
    const answer = scene.reeve(["finish", "--outcome", "completed", "--json"]);
    expect(answer.exit).toBe(10);
    expect(ofLevel(answer, "FAIL").map((line) => line.category)).toEqual(["verification"]);
  });
});

describe("the first writing command of a clone", () => {
  test("keeps what came on standard input", () => {
    const scene = makeScene({ layer: true });
    const clone = `${scene.folder}/clone`;
    scene.git(["clone", "-q", scene.repo, clone]);
    const written = scene.reeve(["checkpoint"], { cwd: clone, input: "what was true\n" });
    expect(written.exit).toBe(0);
    expect(fs.readFileSync(`${clone}/${written.stdout.trim()}`, "utf8")).toContain("what was true");
  });
});

describe("reeve init that is refused", () => {
  test("leaves nothing behind, also when only its last file cannot be written", () => {
    const scene = makeScene();
    fs.symlinkSync("elsewhere", scene.at(".gitignore"));
    expect(failureOf(scene.reeve(["init", "--json"])).exit).toBe(15);
    expect(scene.exists(".ai")).toBe(false);
    expect(scene.exists(".git/reeve")).toBe(false);
    fs.rmSync(scene.at(".gitignore"));
    expect(scene.reeve(["init"]).exit).toBe(0);
  });
});

describe("a hook without a first line of its own", () => {
  test("is run by sh, by git and by the canary alike", () => {
    const scene = makeScene({ layer: true });
    fs.mkdirSync(scene.at(".git/hooks"), { recursive: true });
    for (const hook of ["pre-commit", "pre-push"]) scene.write(`.git/hooks/${hook}`, "true\n", 0o755);
    expect(scene.reeve(["init", "--extend", "--hooks"]).exit).toBe(0);
    const answer = scene.reeve(["doctor", "--rule", "enforcement-wiring", "--json"]);
    expect(ofLevel(answer, "OK")).toHaveLength(2);
    expect(answer.exit).toBe(0);
  });
});
