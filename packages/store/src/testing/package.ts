import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { neutralEnvironment, temporaryFolder } from "./folder.ts";

/** Where the package lies in this repository. */
export const packageFolder: string = join(import.meta.dirname, "../..");

/** Its `package.json`. */
export interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly [member: string]: unknown;
}

/** Reads the `package.json` of a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Runs a program to its good end and gives what it printed. */
export function runIn(folder: string, program: string, args: readonly string[]): string {
  const env = neutralEnvironment(temporaryFolder());
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: folder, env, encoding: "utf8" });
  if (error !== undefined || status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error ?? stdout + stderr}`);
  return stdout;
}

/** Runs `npm` so that it asks nobody and runs nothing. */
export function npm(folder: string, args: readonly string[]): string {
  return runIn(folder, "npm", [...args, "--offline", "--ignore-scripts", "--no-audit", "--no-fund"]);
}

/** An empty project that has nothing but what would be published, installed from its tarball. */
export function installPackage(): string {
  const project = temporaryFolder();
  npm(packageFolder, ["pack", "--pack-destination", project]);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  npm(project, ["install", `./reeve-store-${readManifest(packageFolder).version}.tgz`]);
  return project;
}
