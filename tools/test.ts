import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCLI, startVitest, type Vitest } from "vitest/node";
import { deriveTestEnvironment } from "./verdict/environment.ts";
import { needsBuild } from "./verdict/freshness.ts";
import { deriveVerdict, isGood, renderVerdict } from "./verdict/verdict.ts";

/** Builds what is not built, runs every test once (arguments go to vitest) and ends with one line of counts. */
export async function main(args: readonly string[]): Promise<number> {
  const root = process.cwd();
  if (needsBuild(root)) {
    const build = spawnSync(process.execPath, ["tools/run.mjs", "build"], { cwd: root, stdio: "inherit" });
    if (build.status !== 0) return build.status ?? 1;
  }
  enterTestEnvironment();
  const { filter, options } = parseCLI(["vitest", "run", ...args]);
  const vitest = await startVitest("test", filter, { ...options, watch: false, run: true, allowOnly: false });
  const verdict = deriveVerdict({
    modules: vitest.state.getTestModules(),
    unhandledErrors: vitest.state.getUnhandledErrors().length,
    namePattern: readNamePattern(vitest),
  });
  process.stdout.write(renderVerdict(verdict));
  if (!isGood(verdict)) return 1;
  return Number(process.exitCode ?? 0);
}

/** Gives this process, and so every worker, a home of its own that is gone when the process ends. */
function enterTestEnvironment(): void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "reeve-test-")));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Tests that run the program as a user without privileges must be able to pass through.
  chmodSync(folder, 0o711);
  for (const part of ["home", "run"]) mkdirSync(join(folder, part), { mode: 0o700 });
  mkdirSync(join(folder, "tmp"));
  chmodSync(join(folder, "tmp"), 0o711);
  const env = deriveTestEnvironment(process.env, folder);
  for (const name of Object.keys(process.env)) {
    if (env[name] === undefined) delete process.env[name];
  }
  Object.assign(process.env, env);
}

function readNamePattern(vitest: Vitest): RegExp | undefined {
  const pattern = vitest.config.testNamePattern;
  return pattern === undefined ? undefined : new RegExp(pattern);
}
