import { spawnSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where a case works: a temporary folder with a home of its own, and the environment of every command in it. */
export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The built program. */
  readonly reeve: string;
}

export function run(place: Place, cwd: string, command: readonly [string, ...string[]]): void {
  const [program, ...args] = command;
  const ran = spawnSync(program, args, { cwd, env: place.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (ran.status !== 0) throw new Error(`${command.join(" ")}: ${ran.stdout}${ran.stderr}`);
}

const perFolder = 25;
const perArea = 500;

function pathOf(index: number): string {
  const area = Math.floor(index / perArea);
  const folder = Math.floor(index / perFolder);
  return `src/area${area}/part${folder}/file${index}.ts`;
}

function write(repository: string, file: string, text: string): void {
  mkdirSync(join(repository, file, ".."), { recursive: true });
  writeFileSync(join(repository, file), text);
}

/**
 * A repository of so many files, 25 to a folder, committed together with the layer. The files are older than the index,
 * as in a checkout that somebody works in: git reads none of them again.
 */
export function makeRepository(place: Place, made: { name: string; files: number; hooks: boolean }): string {
  const repository = join(place.folder, made.name);
  const anHourAgo = Date.now() / 1000 - 3600;
  for (let index = 0; index < made.files; index += 1) {
    write(repository, pathOf(index), `export const value${index} = ${index};\n`);
    utimesSync(join(repository, pathOf(index)), anHourAgo, anHourAgo);
  }
  run(place, repository, ["git", "init", "-q", "-b", "main"]);
  run(place, repository, [place.reeve, "init", ...(made.hooks ? ["--hooks"] : [])]);
  run(place, repository, ["git", "add", "-A"]);
  run(place, repository, ["git", "commit", "-q", "-m", "first"]);
  return repository;
}

export interface Work {
  readonly committed: number;
  readonly uncommitted: number;
}

/** Begins a task and touches files of its scope: some committed, one commit for five, and some not. */
export function makeTask(place: Place, repository: string, work: Work): void {
  run(place, repository, [place.reeve, "start", "measure", "--scope", "src"]);
  for (let index = 0; index < work.committed; index += 1) {
    write(repository, pathOf(index), `export const changed = ${index};\n`);
    if (index % 5 === 4) run(place, repository, ["git", "commit", "-q", "-a", "-m", `five up to ${index}`]);
  }
  for (let index = work.committed; index < work.committed + work.uncommitted; index += 1) {
    write(repository, pathOf(index), `export const changed = ${index};\n`);
  }
}
