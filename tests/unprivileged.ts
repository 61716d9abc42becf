import { spawnSync } from "node:child_process";
import { type Answer, type CallOptions, program, type Scene } from "./scene.ts";

const nobody = 65_534;

/**
 * Runs the program as a user to whom file modes apply. A test run started by root would otherwise read and write
 * whatever it pleases, and prove nothing.
 */
export function withoutPrivileges(scene: Scene): (args: readonly string[], options?: CallOptions) => Answer {
  if (process.getuid?.() !== 0) return scene.reeve;
  spawnSync("chown", ["-R", `${nobody}:${nobody}`, scene.folder]);
  return (args, options = {}) => {
    const result = spawnSync(program, args, {
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
