import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { type Answer, type CallOptions, program, type Scene } from "./scene.ts";

const nobody = 65_534;

/**
 * Runs the program as a user to whom file modes apply. A test run started by root would otherwise read and write
 * whatever it pleases, and prove nothing.
 */
export function withoutPrivileges(scene: Scene): (args: readonly string[], options?: CallOptions) => Answer {
  if (process.getuid?.() !== 0) return scene.reeve;
  // The checkout may lie where only its owner may go, so the program comes along.
  const installed = path.join(scene.folder, "installed");
  for (const part of ["bin", "dist"]) {
    fs.cpSync(path.join(path.dirname(path.dirname(program)), part), path.join(installed, part), { recursive: true });
  }
  spawnSync("chown", ["-R", `${nobody}:${nobody}`, scene.folder]);
  return (args, options = {}) => {
    const result = spawnSync(path.join(installed, "bin", path.basename(program)), args, {
      cwd: options.cwd ?? scene.repo,
      env: { ...scene.env, ...options.env },
      input: options.input ?? "",
      encoding: "utf8",
      uid: nobody,
      gid: nobody,
    });
    return { exit: result.status ?? -1, stdout: result.stdout, stderr: result.stderr };
  };
}
