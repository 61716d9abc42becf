import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { neutralEnvironment } from "./folder.ts";

/** A program made of this package's source, to be run in processes of its own. */
export interface Program {
  readonly file: string;
  readonly folder: string;
}

/** Bundles TypeScript that imports this package as `./index.ts` into the folder. */
export function buildProgram(folder: string, source: string): Program {
  const file = join(folder, "program.cjs");
  buildSync({
    stdin: { contents: source, resolveDir: join(import.meta.dirname, ".."), loader: "ts" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    outfile: file,
    logLevel: "error",
  });
  return { file, folder };
}

/** How a run ended. */
export interface Outcome {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export function runProgram(
  { file, folder }: Program,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Outcome {
  const options = { env: { ...neutralEnvironment(folder), ...env }, encoding: "utf8" as const, timeout: 300_000 };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [file, ...args], options);
  return { exit: status, signal, stdout, stderr };
}

/** Starts a program; its output can be read while it runs. */
export function startProgram({ file, folder }: Program, args: readonly string[]): ChildProcess {
  const env = neutralEnvironment(folder);
  return spawn(process.execPath, [file, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
}

/** Waits for a child to end. */
export function ended(child: ChildProcess): Promise<{ exit: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve({ exit: child.exitCode, signal: child.signalCode });
      return;
    }
    child.once("exit", (exit, signal) => resolve({ exit, signal }));
  });
}

/** Waits until a child has printed a text. */
export function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      seen += chunk.toString("utf8");
      if (seen.includes(text)) resolve();
    });
    child.once("exit", (exit) => reject(new Error(`ended with ${exit} after printing ${JSON.stringify(seen)}`)));
  });
}
