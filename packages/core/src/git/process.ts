import { ReeveError } from "../findings/errors.ts";
import type { RunResult, System } from "../system/port.ts";
import { type Environment, gitEnvironment } from "./environment.ts";
import { isOthers } from "./ownership.ts";
import type { Repository } from "./repository.ts";

export interface GitRun {
  readonly args: readonly string[];
  /** Added to the environment of `gitEnvironment`. */
  readonly env?: Environment;
  readonly input?: Uint8Array;
}

/** The line of git's complaint that says what is wrong: warnings may come before it, advice after it. */
function parseComplaint(stderr: string): string | undefined {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines[0];
}

/** What git exits with when it does not know an option. */
const usageExit = 129;

/** Runs git at the top of the working tree, whatever its exit code. */
export function runGit(system: System, repository: Repository, run: GitRun): RunResult {
  return system.run("git", ["--no-optional-locks", ...run.args], {
    cwd: repository.top,
    env: { ...gitEnvironment(system, repository), ...run.env },
    ...(run.input === undefined ? {} : { input: run.input }),
  });
}

/** The error for a git run that failed unexpectedly: git's own words, and what to type to see the rest. */
export function gitFailure(
  system: System,
  repository: Repository,
  failed: { readonly args: readonly string[]; readonly result: RunResult },
): ReeveError {
  const { args, result } = failed;
  if (result.exit === usageExit) {
    return new ReeveError("NO_GIT", `git ${args[0] ?? ""} does not take the options Reeve needs: it is too old`, {
      hint: "install git 2.20 or newer; git --version tells which one answers",
    });
  }
  const says = parseComplaint(result.stderr) ?? `exit code ${result.exit}`;
  const hint = isOthers(system, repository)
    ? `${repository.top} belongs to another user; if you trust it: git config --global --add safe.directory '${repository.top}'`
    : `see git's whole answer with: git -C '${repository.top}' ${args[0] ?? "status"}`;
  return new ReeveError("GIT_FAILED", `git ${args[0] ?? ""}: ${says}`, {
    hint,
    details: { args, exit: result.exit, top: repository.top },
  });
}

/** Runs git and answers what it printed. @throws ReeveError GIT_FAILED when it exits with anything but 0. */
export function readGit(system: System, repository: Repository, run: GitRun): Buffer {
  const result = runGit(system, repository, run);
  if (result.exit !== 0) throw gitFailure(system, repository, { args: run.args, result });
  return result.stdout;
}
