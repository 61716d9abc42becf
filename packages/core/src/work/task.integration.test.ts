import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "../git/fixture.ts";
import { type GitReading, readRepository } from "../git/reading.ts";
import { ensureHome, type HomeMode } from "../layer/home.ts";
import { type Layer, openLayer } from "../layer/layer.ts";
import { readOtherTasks } from "./overlap.ts";
import { findTask, requireTask } from "./subject.ts";
import { isElsewhere, renderTask, type Task } from "./task.ts";

let scene: Scene;
let main: Checkout;

beforeEach(async () => {
  scene = makeScene();
  main = scene.make("main tree");
  main.write({ ".gitignore": "/.ai/local\n", ".ai/manifest.yaml": "schema: ai-repository/v1\n" });
  main.commit("layer");
  await home(main);
});
afterEach(() => scene.remove());

async function home(checkout: Checkout, wanted?: HomeMode): Promise<void> {
  const system = checkout.system();
  const { repository } = readRepository(system, checkout.top);
  await ensureHome({ system, repository, seeds: {}, ...(wanted === undefined ? {} : { wanted }) });
}

async function linked(name: string, wanted?: HomeMode): Promise<Checkout> {
  main.git("worktree", "add", "-q", "-b", name, `../${name}`);
  const checkout = scene.at(name);
  await home(checkout, wanted);
  return checkout;
}

function open(checkout: Checkout): { readonly layer: Layer; readonly git: GitReading } {
  const system = checkout.system();
  const git = readRepository(system, checkout.top);
  return { git, layer: openLayer({ system, repository: git.repository, version: "1", caches: false, dry: false }) };
}

function taskOf(checkout: Checkout, changes: Partial<Task> = {}): Task {
  return {
    id: "t-20260903193012-a4f1",
    task: "fix it",
    profile: "implementation",
    owner: "ada",
    scope: ["src"],
    started_at: "2026-09-03T19:30:12Z",
    outcome: "active",
    worktree: checkout.top,
    branch: "main",
    head: "b".repeat(40),
    ...changes,
  };
}

function put(checkout: Checkout, task: Task | string): void {
  const file = open(checkout).layer.locate(".ai/local/state/current.yaml");
  fs.writeFileSync(file, typeof task === "string" ? task : renderTask(task));
}

async function others(checkout: Checkout): Promise<readonly string[]> {
  const { layer, git } = open(checkout);
  const found = await readOtherTasks(layer, git);
  return found.map((other) => `${path.basename(other.worktree)}: ${other.task?.task}`).sort();
}

describe("isElsewhere", () => {
  test("isElsewhere is false of this worktree's own record, of one without a worktree, and of a moved folder's", () => {
    const { layer } = open(main);
    const { worktree: _left, ...local } = taskOf(main);
    expect(isElsewhere(layer, taskOf(main))).toBe(false);
    expect(isElsewhere(layer, local)).toBe(false);
    expect(isElsewhere(layer, taskOf(main, { worktree: path.join(scene.root, "gone") }))).toBe(false);
    fs.symlinkSync(main.top, path.join(scene.root, "shortcut"));
    expect(isElsewhere(layer, taskOf(main, { worktree: path.join(scene.root, "shortcut") }))).toBe(false);
  });

  test("isElsewhere is true of a record that was copied in from another checkout that is there", async () => {
    const side = await linked("side");
    expect(isElsewhere(open(main).layer, taskOf(side))).toBe(true);
    expect(isElsewhere(open(side).layer, taskOf(main))).toBe(true);
  });
});

describe("requireTask", () => {
  test("requireTask answers the active task, or why there is none", async () => {
    const require = (): Promise<Task> => requireTask(open(main).layer);
    await expect(require()).rejects.toMatchObject({ code: "NO_TASK", hint: expect.stringContaining("reeve start") });
    put(main, taskOf(main));
    expect((await require()).task).toBe("fix it");
    put(main, taskOf(main, { outcome: "completed" }));
    await expect(require()).rejects.toMatchObject({ code: "NO_TASK", message: expect.stringContaining("completed") });
    const side = await linked("side");
    put(main, taskOf(side));
    await expect(require()).rejects.toMatchObject({ code: "TASK_ELSEWHERE", exit: 15 });
    expect(await findTask(open(main).layer)).toBeUndefined();
    put(main, "task: [\n");
    await expect(require()).rejects.toMatchObject({ code: "RECORD_DAMAGED" });
  });
});

describe("readOtherTasks", () => {
  test("readOtherTasks names the active tasks of the other worktrees, wherever they keep their records", async () => {
    const [side, own] = [await linked("side"), await linked("own", "checkout")];
    put(main, taskOf(main, { task: "ours" }));
    put(side, taskOf(side, { task: "theirs" }));
    put(own, taskOf(own, { task: "in its folder", scope: ["läs\u2028mig"] }));
    expect(await others(main)).toEqual(["own: in its folder", "side: theirs"]);
    expect(await others(side)).toEqual(["main tree: ours", "own: in its folder"]);
  });

  test("readOtherTasks passes over tasks that ended, and worktrees that are gone", async () => {
    const [ended, gone] = [await linked("ended"), await linked("gone")];
    put(ended, taskOf(ended, { outcome: "partial" }));
    put(gone, taskOf(gone));
    expect(await others(main)).toEqual(["gone: fix it"]);
    fs.rmSync(gone.top, { recursive: true });
    expect(await others(main)).toEqual([]);
  });

  test("readOtherTasks names a record that does not parse, for nobody knows what it claims", async () => {
    const broken = await linked("broken");
    put(broken, "task: [\n");
    expect(await others(main)).toEqual(["broken: undefined"]);
  });

  test("readOtherTasks reads another worktree's record although a person wrote it as other YAML", async () => {
    const side = await linked("side");
    put(side, renderTask(taskOf(side)).replace('scope: ["src"]', "scope:\n  - src # all of it"));
    expect(await others(main)).toEqual(["side: fix it"]);
  });
});
