import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";

const timeout = 600_000;

/** Every path below the repository, `.git` included and the caches left out, with what a write would change of it. */
function readTree(scene: Scene): Readonly<Record<string, string>> {
  const tree: Record<string, string> = {};
  const cache = path.join(".git", "reeve", "checkouts", "main", "cache");
  for (const name of fs.readdirSync(scene.repo, { recursive: true, encoding: "utf8" })) {
    // The local half is looked at once, below .git, and not again through the link.
    if (name.startsWith(".ai/local/") || name === cache || name.startsWith(`${cache}/`)) continue;
    const info = fs.lstatSync(scene.at(name), { bigint: true });
    // A cache that comes into being changes the folder above it, and that is all it may do.
    if (name === path.dirname(cache)) tree[name] = info.mode.toString(8);
    // Git itself refreshes the times of objects it meets again; their names are their contents.
    else if (name.startsWith(".git/objects/")) tree[name] = [info.mode.toString(8), info.size, info.ino].join(" ");
    else tree[name] = [info.mode.toString(8), info.size, info.mtimeNs, info.ctimeNs, info.ino].join(" ");
  }
  return tree;
}

/** A layer with one of everything in it, a task, and files that are not committed. */
function makeFull(): Scene {
  const scene = makeScene({ layer: "hooks" });
  const steps: readonly (readonly string[])[] = [
    ["start", "first", "--scope", "src"],
    ["handover", "--derive", "--close"],
    ["start", "fix", "--scope", "src/auth"],
    ["question", "add", "is it so?"],
    ["decision", "add", "one", "--why", "w"],
    ["checkpoint", "--derive"],
    ["handover", "--derive"],
  ];
  for (const args of steps) expect(scene.reeve(args).exit, args.join(" ")).toBe(0);
  scene.write("src/auth/callback.ts", "export const callback = 2;\n");
  scene.write("config/new.json", "{}\n");
  return scene;
}

const reading: readonly (readonly string[])[] = [
  [],
  ["status"],
  ["status", "--json"],
  ["check"],
  ["check", "--explain"],
  ["check", "--overlap"],
  ["check", "--rule", "scope-integrity"],
  ["doctor"],
  ["doctor", "--json", "--verbose"],
  ["finish", "--check"],
  ["history"],
  ["history", "--all", "--json"],
  ["history", "--all-checkouts"],
  ["history", "--validate"],
  ["handover", "--show"],
  ["handover", "--list"],
  ["handover", "--resolve", "--path"],
  ["checkpoint", "--show"],
  ["checkpoint", "--list"],
  ["decision", "list"],
  ["decision", "show", "one"],
  ["question", "list"],
  ["version"],
  ["help", "--all"],
  ["completion", "bash"],
];

const dry: readonly { readonly args: readonly string[]; readonly input?: string }[] = [
  { args: ["init", "--extend", "--hooks"] },
  { args: ["start", "more", "--scope", "src"] },
  { args: ["check", "--checkpoint"] },
  { args: ["checkpoint", "--derive"] },
  { args: ["checkpoint"], input: "Half of it.\n" },
  { args: ["handover", "--derive"] },
  { args: ["handover", "--derive", "--close"] },
  { args: ["decision", "add", "two", "--why", "w"] },
  { args: ["question", "add", "and that?"] },
  { args: ["question", "resolve", "1", "--answer", "yes"] },
  { args: ["finish", "--outcome", "completed", "--verify-command", "true"] },
  { args: ["finish", "--outcome", "partial"] },
  { args: ["history", "--rotate"] },
];

describe("a command that only reads", () => {
  test("changes no file, no time and no mode, in the working tree or below .git", { timeout }, () => {
    const scene = makeFull();
    const before = readTree(scene);
    for (const args of reading) {
      const { exit, stderr } = scene.reeve(args);
      expect([0, 10, 11], `${args.join(" ")}: ${stderr}`).toContain(exit);
      expect(readTree(scene), args.join(" ")).toEqual(before);
    }
  });

  test("makes nothing in a clone that has no local half yet, and in a repository without a layer", { timeout }, () => {
    const scene = makeScene({ layer: true });
    scene.sh("rm -rf .git/reeve .ai/local");
    const before = readTree(scene);
    for (const args of reading) {
      scene.reeve(args);
      expect(readTree(scene), args.join(" ")).toEqual(before);
    }
    const bare = makeScene();
    const without = readTree(bare);
    for (const args of reading) {
      bare.reeve(args);
      expect(readTree(bare), args.join(" ")).toEqual(without);
    }
  });
});

describe("a dry run", () => {
  test("changes nothing whatever command it is of, caches included", { timeout }, () => {
    const scene = makeFull();
    scene.sh("rm -rf .ai/local/cache");
    const before = readTree(scene);
    for (const { args, input } of dry) {
      scene.reeve([...args, "--dry-run"], input === undefined ? {} : { input });
      expect(readTree(scene), args.join(" ")).toEqual(before);
      expect(scene.exists(".ai/local/cache"), args.join(" ")).toBe(false);
    }
  });

  test("makes nothing where there is no layer and where there is no local half", { timeout }, () => {
    const scene = makeScene();
    const without = readTree(scene);
    expect(scene.reeve(["init", "--hooks", "--dry-run"]).exit).toBe(0);
    expect(readTree(scene)).toEqual(without);
    expect(scene.reeve(["init"]).exit).toBe(0);
    scene.sh("rm -rf .git/reeve .ai/local");
    const before = readTree(scene);
    for (const { args, input } of dry) {
      scene.reeve([...args, "-n"], input === undefined ? {} : { input });
      expect(readTree(scene), args.join(" ")).toEqual(before);
    }
  });
});
