import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, type Members, resultOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const body = "# Objective\n\nMend it.\n\n# Current State\n\nHalf.\n\n# Next Action\n\nThe other half.\n";

function begin(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
  return scene;
}

function count(scene: Scene): number {
  return fs.readdirSync(scene.at(".ai/local/state/handovers")).length;
}

describe("reeve handover", () => {
  test("keeps an authored body and leaves the task active", () => {
    const scene = begin();
    const file = scene.reeve(["handover"], { input: body }).stdout.trim();
    expect(scene.read(file).endsWith(body)).toBe(true);
    expect(scene.read(file)).toMatch(/^task_id: t-\d{14}-[0-9a-f]{4}$/m);
    expect(fs.statSync(scene.at(file)).mode & 0o777).toBe(0o600);
    expect(scene.read(".ai/local/state/current.yaml")).toMatch(/^outcome: active$/m);
    expect(scene.ledger().at(-1)).toMatchObject({ event: "task.handed_over", handover_path: file, closed: false });
  });

  test("--derive --close composes it and ends the task", () => {
    const scene = begin();
    scene.write("src/a.ts", "x");
    scene.reeve(["question", "add", "Which way?"]);
    scene.reeve(["decision", "add", "This way", "--why", "w"]);
    const file = scene.reeve(["handover", "--derive", "--close"]).stdout.trim();
    const text = scene.read(file);
    for (const part of [
      "# Objective",
      "work",
      "# Current State",
      "src/a.ts",
      "# Next Action",
      "Which way?",
      "This way",
    ])
      expect(text).toContain(part);
    expect(scene.read(".ai/local/state/current.yaml")).toMatch(/^outcome: handed_over$/m);
    expect(scene.ledger().at(-1)).toMatchObject({ event: "task.handed_over", closed: true });
  });

  test.each([
    ["a missing section", body.replace("# Next Action\n\nThe other half.\n", ""), "# Next Action"],
    ["an empty section", body.replace("Half.", ""), "# Current State"],
    ["a placeholder", body.replace("Half.", "<what holds now>"), "# Current State"],
    ["a heading inside a fence", body.replace("# Next Action", "```\n# Next Action\n```"), "# Next Action"],
    ["an identity field", `${body}head: 0000\n`, "head"],
  ])("refuses %s with 10 and writes nothing", (_, input, says) => {
    const scene = begin();
    const failure = failureOf(scene.reeve(["handover", "--json"], { input }));
    expect(failure).toMatchObject({ code: "RECORD_REFUSED", exit: 10 });
    expect(failure.message).toContain(says);
    expect(count(scene)).toBe(0);
    expect(scene.ledger()).toHaveLength(1);
  });

  test("--derive names a section of the policy no record can fill", () => {
    const scene = begin();
    const policy = scene.read(".ai/repo/policy.yaml");
    scene.write(".ai/repo/policy.yaml", policy.replace("Next Action]", "Next Action, Risks]"));
    const failure = failureOf(scene.reeve(["handover", "--derive", "--json"]));
    expect(failure).toMatchObject({ exit: 10 });
    expect(failure.message).toContain("# Risks");
    expect(scene.reeve(["handover"], { input: `${body}\n# Risks\n\nNone.\n` }).exit).toBe(0);
  });

  test("needs a task, except with --no-task, which leaves no ledger line", () => {
    const scene = makeScene({ layer: true });
    expect(failureOf(scene.reeve(["handover", "--derive", "--json"]))).toMatchObject({ code: "NO_TASK", exit: 12 });
    const file = scene.reeve(["handover", "--derive", "--no-task"]).stdout.trim();
    expect(scene.read(file)).toContain("task_id: none\n");
    expect(scene.ledger()).toEqual([]);
    expect(failureOf(scene.reeve(["handover", "--derive", "--no-task", "--close", "--json"]))).toMatchObject({
      exit: 2,
    });
    expect(failureOf(scene.reeve(["handover", "--path", "--json"]))).toMatchObject({ exit: 2 });
  });
});

describe("reeve handover --resolve", () => {
  test("finds this worktree and branch first, then the branch, never anything else", () => {
    const scene = makeScene({ layer: true });
    const none = scene.reeve(["handover", "--resolve"]);
    expect(none).toMatchObject({ exit: 0, stdout: "No relevant handover.\n" });
    const file = scene.reeve(["handover", "--no-task"], { input: body }).stdout.trim();
    expect(scene.reeve(["handover", "--resolve", "--path"]).stdout.trim()).toBe(file);
    scene.git(["switch", "-q", "-c", "elsewhere"]);
    expect(scene.reeve(["handover", "--resolve"]).stdout).toBe("No relevant handover.\n");
    scene.git(["switch", "-q", "main"]);
    expect(scene.reeve(["handover", "--resolve"]).stdout).toContain("The other half.");
  });

  test("labels the record against git, for the four labels and unknown", () => {
    const scene = makeScene({ layer: true });
    const label = (): unknown => {
      const shown = resultOf(scene.reeve(["handover", "--resolve", "--json"]))["record"] as Members | undefined;
      return shown?.["label"];
    };
    const file = scene.reeve(["handover", "--no-task"], { input: body }).stdout.trim();
    expect(label()).toBe("exact");
    scene.git(["commit", "-q", "--allow-empty", "-m", "on"]);
    expect(label()).toBe("advanced");
    scene.git(["reset", "-q", "--hard", "HEAD~2"]);
    scene.git(["commit", "-q", "--allow-empty", "-m", "apart"]);
    const listed = scene.reeve(["handover", "--list"], { cwd: scene.repo });
    expect(listed.exit).toBe(12);
    scene.git(["checkout", "-q", "ORIG_HEAD", "--", ".ai", ".gitignore"]);
    expect(label()).toBe("diverged");
    scene.write(file, scene.read(file).replace(/^head: .*$/m, `head: ${"abcdef0123".repeat(4)}`));
    expect(label()).toBe("unknown");
  });

  test("lists newest first, and the newest of the active task comes before a newer one of none", () => {
    const scene = begin();
    const own = scene.reeve(["handover"], { input: body }).stdout.trim();
    expect(scene.reeve(["handover", "--show", "--path"]).stdout.trim()).toBe(own);
    const records = resultOf(scene.reeve(["handover", "--list", "--json"]))["records"] as readonly Members[];
    expect(records.map((record) => record["path"])).toEqual([own]);
  });

  test("a record that does not parse is passed over, and doctor says which", () => {
    const scene = makeScene({ layer: true });
    const file = scene.reeve(["handover", "--no-task"], { input: body }).stdout.trim();
    scene.write(file, "no front matter\n");
    expect(scene.reeve(["handover", "--resolve"]).stdout).toBe("No relevant handover.\n");
    const doctor = scene.reeve(["doctor", "--rule", "handover-integrity"]);
    expect(doctor.exit).toBe(10);
    expect(doctor.stdout).toContain(file);
  });
});
