import * as fs from "node:fs";
import * as path from "node:path";
import type { Scene } from "../scene.ts";

/** The same scene, seen from another repository or worktree in its folder. */
export function placeAt(scene: Scene, name: string): Scene {
  const repo = path.join(scene.folder, name);
  const at = (...parts: readonly string[]): string => path.join(repo, ...parts);
  return {
    ...scene,
    repo,
    at,
    write(file, text, mode) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), text, mode === undefined ? {} : { mode });
    },
    read: (file) => fs.readFileSync(at(file), "utf8"),
    exists: (file) => fs.existsSync(at(file)),
    reeve: (args, options) => scene.reeve(args, { cwd: repo, ...options }),
    begin: (args, options) => scene.begin(args, { cwd: repo, ...options }),
    git: (args, options) => scene.git(args, { cwd: repo, ...options }),
    sh: (command, options) => scene.sh(command, { cwd: repo, ...options }),
    ledger() {
      const file = at(".ai/local/state/ledger.jsonl");
      const rows = fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n") : [];
      return rows.filter((row) => row !== "").map((row) => JSON.parse(row) as Readonly<Record<string, unknown>>);
    },
  };
}

/** A clone of the scene's repository without a local half, and nothing shared with it. */
export function makeClone(scene: Scene, name = "fresh"): Scene {
  scene.git(["clone", "-q", "--no-local", scene.repo, path.join(scene.folder, name)]);
  return placeAt(scene, name);
}
