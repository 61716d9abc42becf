import * as fs from "node:fs";
import * as path from "node:path";
import { applyPlan } from "@reeve/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "../git/fixture.ts";
import { readRepository } from "../git/reading.ts";
import { insertBlock, renderBlock } from "./block.ts";
import type { CanaryMemory } from "./canary-memory.ts";
import { type HooksPlan, planHooks } from "./install.ts";
import { readHooksFolder } from "./locate.ts";
import { type HookVerdict, judgeHook } from "./wiring.ts";

let scene: Scene;
let main: Checkout;

beforeEach(() => {
  scene = makeScene();
  main = scene.make("main tree");
});
afterEach(() => scene.remove());

const program = "/opt/reeve/bin/reeve.cjs";

function memory(): CanaryMemory {
  const known = new Map<string, string>();
  return {
    has: (hook, proof) => known.get(hook) === proof.join("\0"),
    add: (hook, proof) => void known.set(hook, proof.join("\0")),
    keep: () => undefined,
  };
}

interface Asked {
  readonly hook?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly memory?: CanaryMemory;
}

function judge(checkout: Checkout, asked: Asked = {}): HookVerdict {
  const { hook = "pre-commit", env = {} } = asked;
  const system = checkout.system(env);
  const git = readRepository(system, checkout.top);
  const args = hook === "pre-push" ? ["finish", "--check"] : ["doctor"];
  const enforcement = { name: "a", path: "reeve", args, wired_by: `git-hook:${hook}` };
  const folder = readHooksFolder(system, git);
  return judgeHook({ system, git, folder, hook, enforcement, memory: asked.memory ?? memory() });
}

function hooksPath(checkout: Checkout, env: Readonly<Record<string, string>> = {}): string {
  const system = checkout.system(env);
  return readHooksFolder(system, readRepository(system, checkout.top)).path;
}

async function install(checkout: Checkout): Promise<HooksPlan> {
  const system = checkout.system();
  const plan = planHooks(system, readRepository(system, checkout.top), program);
  await applyPlan({ changes: plan.changes }, { journal: path.join(scene.root, "journal") });
  return plan;
}

function hook(name: string, text: string, mode = 0o755): string {
  const file = path.join(main.top, ".git/hooks", name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  fs.chmodSync(file, mode);
  return file;
}

function states(plan: HooksPlan): readonly string[] {
  return plan.hooks.map((one) => one.state);
}

describe("planHooks", () => {
  test("planHooks wires both hooks, and a second time finds them wired", async () => {
    expect(states(await install(main))).toEqual(["added", "added"]);
    expect(await install(main)).toMatchObject({ changes: [], hooks: [{ state: "kept" }, { state: "kept" }] });
    for (const name of ["pre-commit", "pre-push"]) {
      expect(fs.statSync(path.join(main.top, ".git/hooks", name)).mode & 0o111).not.toBe(0);
      expect(judge(main, { hook: name })).toMatchObject({ state: "wired", called: true });
    }
  });

  test("planHooks adds to a hook that is there, and keeps its bytes and its mode", async () => {
    const text = "#!/bin/bash\nnpm test\n# ü\n";
    const file = hook("pre-commit", text, 0o750);
    expect(states(await install(main))).toEqual(["added", "added"]);
    const now = fs.readFileSync(file, "utf8");
    expect(now).toBe(insertBlock(text, renderBlock("pre-commit", program)));
    expect(fs.statSync(file).mode & 0o777).toBe(0o750);
    expect(judge(main).state).toBe("wired");
  });

  test.each<[string, (file: string) => void, RegExp]>([
    [
      "a script of another language",
      (file) => fs.writeFileSync(file, "#!/usr/bin/env python3\n", { mode: 0o755 }),
      /no shell script/,
    ],
    ["a hook that is switched off", (file) => fs.writeFileSync(file, "#!/bin/sh\n", { mode: 0o644 }), /not executable/],
    ["carriage returns", (file) => fs.writeFileSync(file, "#!/bin/sh\r\nx\r\n", { mode: 0o755 }), /carriage returns/],
    ["a link", (file) => fs.symlinkSync("/bin/true", file), /is a link/],
    ["a folder", (file) => fs.mkdirSync(file), /a directory stands/],
    [
      "marks without a partner",
      (file) => fs.writeFileSync(file, "#!/bin/sh\n# <<< reeve <<<\n", { mode: 0o755 }),
      /lost their partner/,
    ],
    [
      "a hook lefthook wrote",
      (file) => fs.writeFileSync(file, "#!/bin/sh\nlefthook run x\n", { mode: 0o755 }),
      /lefthook\.yml/,
    ],
  ])("planHooks leaves %s, and says what to do", async (_what, make, says) => {
    const file = path.join(main.top, ".git/hooks/pre-commit");
    fs.mkdirSync(path.dirname(file), { recursive: true });
    make(file);
    const before = fs.lstatSync(file);
    const plan = await install(main);
    expect(plan.hooks[0]).toMatchObject({ state: "by-hand", advice: expect.stringMatching(says) });
    expect(plan.hooks[1]?.state).toBe("added");
    expect(fs.lstatSync(file)).toMatchObject({ ino: before.ino, size: before.size, mode: before.mode });
    expect(judge(main).state).not.toBe("wired");
  });

  test("planHooks follows core.hooksPath inside the repository, naming no program of this machine there", async () => {
    main.git("config", "core.hooksPath", "tools/hooks");
    expect(states(await install(main))).toEqual(["added", "added"]);
    const text = fs.readFileSync(path.join(main.top, "tools/hooks/pre-commit"), "utf8");
    expect(text).not.toContain(program);
    expect(judge(main)).toMatchObject({ state: "wired", called: true });
    expect(fs.existsSync(path.join(main.top, ".git/hooks/pre-commit"))).toBe(false);
  });

  test("planHooks leaves a hooks folder outside the repository", async () => {
    main.git("config", "core.hooksPath", path.join(scene.root, "everybody"));
    const plan = await install(main);
    expect(states(plan)).toEqual(["by-hand", "by-hand"]);
    expect(plan.hooks[0]?.advice).toContain("leads out of the repository");
    expect(fs.existsSync(path.join(scene.root, "everybody"))).toBe(false);
  });

  test("planHooks wires a linked worktree through the common folder", async () => {
    main.git("worktree", "add", "-q", "--detach", "../side");
    const side = scene.at("side");
    expect(states(await install(side))).toEqual(["added", "added"]);
    for (const checkout of [main, side]) expect(judge(checkout).state).toBe("wired");
  });
});

describe("readHooksFolder", () => {
  test("readHooksFolder answers as git does, however the folder is configured", () => {
    const include = path.join(scene.root, "included");
    fs.writeFileSync(include, "[core]\n\thooksPath = from-include\n");
    const asGit = (env: Readonly<Record<string, string>>): string =>
      path.resolve(main.top, main.try(["rev-parse", "--git-path", "hooks"], env).stdout.trimEnd());
    const global = path.join(scene.root, "global config");
    fs.writeFileSync(global, "[Core]\n\tHooksPath = ~/hooks\n");
    for (const env of [
      {},
      { GIT_CONFIG_GLOBAL: global },
      { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: "from-environment" },
    ])
      expect(hooksPath(main, env), JSON.stringify(env)).toBe(asGit(env));
    main.git("config", "core.hooksPath", "own hooks");
    expect(hooksPath(main)).toBe(path.join(main.top, "own hooks"));
    expect(hooksPath(main)).toBe(asGit({}));
    main.git("config", "include.path", include);
    expect(hooksPath(main)).toBe(asGit({}));
  });
});

describe("judgeHook", () => {
  test("judgeHook says that a clone never wired a hook, and how", () => {
    expect(judge(main)).toMatchObject({ state: "unwired", called: false, next: expect.stringContaining("reeve init") });
    hook("pre-commit", "#!/bin/sh\nnpm test\n");
    expect(judge(main).state).toBe("unwired");
  });

  test.each<[string, (block: string) => string]>([
    ["something stands before it", (block) => `#!/bin/sh\nexit 0\n${block}`],
    ["it lost its end", (block) => `#!/bin/sh\n${block.split("\n").slice(0, -2).join("\n")}`],
    ["its exit code is swallowed", (block) => `#!/bin/sh\n${block.replace("|| exit $?", "|| true")}`],
    ["it calls something else", (block) => `#!/bin/sh\n${block.replace('"$reeve_found" doctor', "true")}`],
    ["it ends before it calls", (block) => `#!/bin/sh\n${block.replace("  reeve_found=\n", "  exit 0\n")}`],
  ])("judgeHook finds a block broken where %s", async (_what, damage) => {
    await install(main);
    const file = path.join(main.top, ".git/hooks/pre-commit");
    const block = fs.readFileSync(file, "utf8").replace("#!/bin/sh\n", "");
    hook("pre-commit", damage(block));
    expect(judge(main).state).toBe("broken");
  });

  test("judgeHook finds a block broken that git passes over", async () => {
    await install(main);
    fs.chmodSync(path.join(main.top, ".git/hooks/pre-commit"), 0o644);
    expect(judge(main)).toMatchObject({ state: "broken", next: expect.stringContaining("chmod +x") });
  });

  test("judgeHook finds what lies in a folder git no longer asks", async () => {
    await install(main);
    main.git("config", "core.hooksPath", "elsewhere");
    expect(judge(main).state).toBe("unwired");
  });

  test.each([
    ["reeve doctor || exit $?", "wired"],
    ["reeve doctor || true", "broken"],
    ["reeve doctor\necho done", "unproven"],
    ["# reeve doctor", "unwired"],
  ])("judgeHook reads a hook with %j as %s, and runs nothing of it", (row, state) => {
    const mark = path.join(scene.root, "ran");
    hook("pre-commit", `#!/bin/sh\ntouch '${mark}'\n${row}\n`);
    expect(judge(main)).toMatchObject({ state, called: false });
    expect(fs.existsSync(mark)).toBe(false);
  });

  test("judgeHook runs nothing of what stands below the block", async () => {
    const mark = path.join(scene.root, "ran");
    hook("pre-commit", `#!/bin/sh\ntouch '${mark}'\n`);
    await install(main);
    expect(judge(main).state).toBe("wired");
    expect(fs.existsSync(mark)).toBe(false);
  });

  test("judgeHook asks no canary in the hook itself", async () => {
    await install(main);
    expect(judge(main, { env: { REEVE_HOOK: "pre-commit" } })).toMatchObject({ state: "wired", called: false });
    expect(judge(main, { env: { REEVE_HOOK: "pre-push" } }).called).toBe(true);
  });

  test("judgeHook asks a canary again when anything it rests on is another", async () => {
    await install(main);
    const known = memory();
    expect(judge(main, { memory: known }).called).toBe(true);
    expect(judge(main, { memory: known }).called).toBe(false);
    fs.appendFileSync(path.join(main.top, ".git/hooks/pre-commit"), "echo more\n");
    expect(judge(main, { memory: known }).called).toBe(true);
    main.git("config", "core.hooksPath", ".git/hooks");
    expect(judge(main, { memory: known }).called).toBe(true);
  });

  test("judgeHook reads the file husky calls", () => {
    main.git("config", "core.hooksPath", ".husky/_");
    main.write({
      ".husky/_/pre-commit": '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n',
      ".husky/pre-commit": "npm test\n",
    });
    fs.chmodSync(path.join(main.top, ".husky/_/pre-commit"), 0o755);
    expect(judge(main)).toMatchObject({ state: "unwired", next: expect.stringContaining(".husky/pre-commit") });
    main.write({ ".husky/pre-commit": "reeve doctor\nnpm test\n" });
    expect(judge(main).state).toBe("wired");
  });
});
