import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, type Members, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function begin(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
  return scene;
}

function count(scene: Scene): number {
  return fs.readdirSync(scene.at(".ai/local/state/checkpoints")).length;
}

describe("reeve checkpoint", () => {
  test("writes what it was told with computed front matter, and prints the path", () => {
    const scene = begin();
    const said = scene.reeve(["checkpoint"], { input: "Cause found.\nNext: a test.\n" });
    expect(said).toMatchObject({ exit: 0, stderr: "" });
    const file = said.stdout.trim();
    expect(file).toMatch(/^\.ai\/local\/state\/checkpoints\/\d{8}T\d{6}Z--main--[0-9a-f]{7}--[0-9a-f]{16}\.md$/);
    const text = scene.read(file);
    const head = scene.git(["rev-parse", "HEAD"]).trim();
    expect(text).toContain(`head: ${head}\n`);
    expect(text).toMatch(/^---\nschema_version: 1\n/);
    expect(text).toContain("working_tree: clean\n");
    expect(text.endsWith("\n\nCause found.\nNext: a test.\n")).toBe(true);
    expect(fs.statSync(scene.at(file)).mode & 0o777).toBe(0o600);
    expect(scene.read(".ai/local/state/current.yaml")).toContain("checkpoint_at:");
    expect(scene.ledger().at(-1)).toMatchObject({ event: "task.checkpoint", checkpoint_path: file });
    expect(scene.git(["status", "--porcelain"])).toBe("");
  });

  test("--derive tells branch, files and questions within the cap", () => {
    const scene = begin();
    for (let index = 0; index < 60; index += 1) scene.write(`src/${index}.ts`, "x");
    const file = scene.reeve(["checkpoint", "--derive"]).stdout.trim();
    const body = scene.read(file).split("---\n")[2] ?? "";
    expect(body).toContain("60 files");
    expect(body).toContain("src/0.ts");
    expect(rowsOf(body).length).toBeLessThanOrEqual(40);
  });

  test("an empty text stamps the task and writes no file", () => {
    const scene = begin();
    expect(resultOf(scene.reeve(["checkpoint", "--json"], { input: " \n" }))["kind"]).toBe("stamped");
    expect(count(scene)).toBe(0);
    expect(scene.read(".ai/local/state/current.yaml")).toContain("checkpoint_at:");
    expect(scene.ledger().at(-1)).toMatchObject({ event: "task.checkpoint" });
  });

  test("is written without a task, and leaves a finished one alone", () => {
    const scene = makeScene({ layer: true });
    const file = scene.reeve(["checkpoint"], { input: "Looked around.\n" }).stdout.trim();
    expect(scene.read(file)).toContain("task_id: none\n");
    expect(Object.hasOwn(scene.ledger().at(-1) ?? {}, "task_id")).toBe(false);
    expect(failureOf(scene.reeve(["checkpoint", "--json"]))).toMatchObject({ code: "NO_TASK", exit: 12 });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    expect(scene.reeve(["handover", "--derive", "--close"]).exit).toBe(0);
    const record = scene.read(".ai/local/state/current.yaml");
    expect(scene.reeve(["checkpoint"], { input: "After.\n" }).exit).toBe(0);
    expect(scene.read(".ai/local/state/current.yaml")).toBe(record);
  });

  test("refuses identity fields and a text over the cap, naming line and limit", () => {
    const scene = begin();
    const identity = failureOf(scene.reeve(["checkpoint", "--json"], { input: "Fine.\nbranch: other\n" }));
    expect(identity).toMatchObject({ code: "RECORD_REFUSED", exit: 10 });
    expect(identity.message).toContain("line 2");
    const long = failureOf(scene.reeve(["checkpoint", "--json"], { input: "x\n".repeat(41) }));
    expect(long).toMatchObject({ exit: 10 });
    expect(`${long.message} ${long.hint}`).toMatch(/40.*handover/);
    expect(scene.reeve(["checkpoint"], { input: "x\n".repeat(40) }).exit).toBe(0);
    expect(count(scene)).toBe(1);
  });

  test("--show prints the newest with its label, --list newest first", () => {
    const scene = begin();
    expect(resultOf(scene.reeve(["checkpoint", "--show", "--json"]))["kind"]).toBe("none");
    scene.reeve(["checkpoint"], { input: "first\n" });
    scene.write("src/a.ts", "x");
    scene.git(["add", "-A"]);
    scene.git(["commit", "-q", "-m", "a"]);
    scene.reeve(["checkpoint"], { input: "second\n" });
    const shown = scene.reeve(["checkpoint", "--show"]);
    expect(shown.stdout).toContain("second");
    expect(shown.stdout).toContain("exact");
    const records = resultOf(scene.reeve(["checkpoint", "--list", "--json"]))["records"] as readonly Members[];
    expect(records.map((record) => record["label"])).toEqual(["exact", "advanced"]);
    expect(count(scene)).toBe(2);
  });

  test("waits for a text that comes slowly, in pieces", () => {
    const scene = begin();
    const said = scene.sh(
      "(reeve version >&2; echo first; reeve version >&2; echo second) 2>/dev/null | reeve checkpoint",
    );
    expect(said.exit).toBe(0);
    expect(scene.read(said.stdout.trim())).toContain("first\nsecond\n");
  });

  test("--dry-run names the file and writes none", () => {
    const scene = begin();
    const said = scene.reeve(["checkpoint", "--dry-run"], { input: "x\n" });
    expect(said.exit).toBe(0);
    expect(said.stdout).toContain("checkpoints/");
    expect(count(scene)).toBe(0);
  });
});
