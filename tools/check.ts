import { spawnSync } from "node:child_process";
import { check as checkBoundaries } from "./boundaries.ts";
import { check as checkConformance } from "./conformance.ts";
import { check as checkLockfile } from "./lockfile.ts";
import { check as checkMachineAccess } from "./machine-access.ts";
import { check as checkPaths } from "./paths.ts";
import { check as checkSizes } from "./sizes.ts";

/** One check: its heading, and how it is run. It gives the problems it found; none means that all is well. */
export interface CheckStep {
  readonly heading: string;
  run(): readonly string[];
}

/** Runs every check even after one failed; the exit code is 1 when any did. */
export function main(): number {
  const root = process.cwd();
  return runSteps(listSteps(root), (text) => process.stdout.write(text));
}

export function runSteps(steps: readonly CheckStep[], write: (text: string) => void): number {
  const failed: string[] = [];
  for (const step of steps) {
    const began = performance.now();
    const problems = runStep(step);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    write(`${problems.length === 0 ? "ok    " : "FAILED"}  ${step.heading}  (${seconds} s)\n`);
    for (const problem of problems) write(`${problem.replace(/^(?=.)/gm, "    ")}\n`);
    if (problems.length > 0) failed.push(step.heading);
  }
  write(
    failed.length === 0 ? `${steps.length} checks passed\n` : `${failed.length} of ${steps.length} checks failed\n`,
  );
  return failed.length === 0 ? 0 : 1;
}

/** Every check, in the order of how soon it tells something. */
export function listSteps(root: string): CheckStep[] {
  const program =
    (...command: [string, ...string[]]) =>
    () =>
      runProgram(root, command);
  const bin = (name: string): string => `node_modules/.bin/${name}`;
  return [
    { heading: "format and lint", run: program(bin("biome"), "ci", "--colors=off", "--error-on-warnings", ".") },
    { heading: "types", run: program(bin("tsc"), "-p", "tsconfig.json", "--pretty", "false") },
    { heading: "boundaries between packages and features", run: () => checkBoundaries(root) },
    { heading: "who touches the machine", run: () => checkMachineAccess(root) },
    { heading: "who writes files, and their forms", run: () => checkConformance(root) },
    { heading: "dead code", run: program(bin("knip"), "--no-progress") },
    { heading: "generated documents up to date", run: program(process.execPath, "tools/run.mjs", "docs", "--check") },
    { heading: "paths named in documents", run: () => checkPaths(root) },
    { heading: "sizes of files and functions", run: () => checkSizes(root) },
    { heading: "dependencies and lockfile", run: () => checkLockfile(root) },
  ];
}

// A check that breaks has found something too: the remaining ones still run.
function runStep(step: CheckStep): readonly string[] {
  try {
    return step.run();
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function runProgram(root: string, [program, ...args]: [string, ...string[]]): string[] {
  const ran = spawnSync(program, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  if (ran.error !== undefined) return [`${program} cannot be started: ${ran.error.message}`];
  if (ran.status === 0) return [];
  return [`${ran.stdout}${ran.stderr}`.trim() || `${program} ended with ${ran.status ?? ran.signal}`];
}
