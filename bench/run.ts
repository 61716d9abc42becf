import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Samples } from "./samples.ts";

/** One command to time. It must exit with 0: the time of a failure says nothing. */
export interface Subject {
  readonly name: string;
  readonly files?: number;
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A last word made for each run, for a command that refuses to do the same twice. */
  readonly fresh?: () => string;
  /** Brought about before every run, outside the measured time. */
  readonly before?: () => void;
}

function runOnce(subject: Subject, env: Subject["env"]): number {
  const [program, ...words] = subject.command;
  const args = subject.fresh === undefined ? words : [...words, subject.fresh()];
  subject.before?.();
  const began = process.hrtime.bigint();
  const ran = spawnSync(program, args, { cwd: subject.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const took = Number(process.hrtime.bigint() - began) / 1e6;
  if (ran.error !== undefined) throw new Error(`${subject.name}: ${ran.error.message}`);
  if (ran.status !== 0) {
    throw new Error(`${subject.name} ended with ${ran.status ?? ran.signal}:\n${ran.stdout}${ran.stderr}`);
  }
  return took;
}

const warmUps = 3;

/**
 * Times every subject once a round, each round beginning with another one, so that what else the machine does falls on
 * all of them alike. Everything has run before the first round.
 */
export function timeInterleaved(subjects: readonly Subject[], runs: number): ReadonlyMap<string, Samples> {
  const samples = new Map<string, number[]>(subjects.map((subject) => [subject.name, []]));
  if (samples.size !== subjects.length) throw new Error("two commands of one name");
  for (let warm = 0; warm < warmUps; warm += 1) for (const subject of subjects) runOnce(subject, subject.env);
  for (let round = 0; round < runs; round += 1) {
    const first = round % subjects.length;
    for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      samples.get(subject.name)?.push(runOnce(subject, subject.env));
    }
  }
  return samples;
}

/** Counts the git processes one run of a subject starts, with a wrapper that stands first on PATH. */
export function countGit(subject: Subject, folder: string): readonly string[] {
  const bin = join(folder, "counting");
  const log = join(folder, "counted");
  mkdirSync(bin, { recursive: true });
  const wrapper = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${log}'\nPATH=\${PATH#*:}\nexport PATH\nexec git "$@"\n`;
  writeFileSync(join(bin, "git"), wrapper, { mode: 0o755 });
  writeFileSync(log, "");
  runOnce(subject, { ...subject.env, PATH: `${bin}:${subject.env["PATH"] ?? ""}` });
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  rmSync(log);
  return lines;
}
