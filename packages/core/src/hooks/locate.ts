import { join, resolve } from "node:path";
import { gitEnvironment } from "../git/environment.ts";
import { runGit } from "../git/process.ts";
import type { GitReading } from "../git/reading.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";

/** The folder git takes hooks from. */
export interface HooksFolder {
  readonly path: AbsPath;
  /** git was asked, because a configuration may name another folder. */
  readonly asked: boolean;
}

const systemFiles = ["/etc/gitconfig", "/usr/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];
const mayMove = /hookspath|include|\[hook/i;

function configFiles(system: System, git: GitReading): readonly string[] {
  const { env } = system;
  const { commonDir, gitDir } = git.repository;
  const home = env["HOME"] ?? "";
  const xdg = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const user =
    env["GIT_CONFIG_GLOBAL"] === undefined
      ? [join(home, ".gitconfig"), join(xdg, "git", "config")]
      : [env["GIT_CONFIG_GLOBAL"]];
  const machine = env["GIT_CONFIG_NOSYSTEM"]
    ? []
    : env["GIT_CONFIG_SYSTEM"] === undefined
      ? systemFiles
      : [env["GIT_CONFIG_SYSTEM"]];
  return [join(commonDir, "config"), join(gitDir, "config.worktree"), ...user, ...machine];
}

function isPlain(system: System, git: GitReading): boolean {
  const { env } = system;
  if (env["GIT_CONFIG_PARAMETERS"] || env["GIT_CONFIG_COUNT"] || git.repository.unusual) return false;
  try {
    return !configFiles(system, git).some((file) => mayMove.test(system.readText(file as AbsPath) ?? ""));
  } catch {
    return false;
  }
}

/** Where git looks for hooks: the common folder when no configuration can say otherwise, else what git answers. */
export function readHooksFolder(system: System, git: GitReading): HooksFolder {
  if (isPlain(system, git)) return { path: join(git.repository.commonDir, "hooks") as AbsPath, asked: false };
  const answer = runGit(system, git.repository, { args: ["rev-parse", "--git-path", "hooks"] });
  const said = answer.stdout.toString("utf8").replace(/\n$/, "");
  return { path: resolve(git.repository.top, said) as AbsPath, asked: true };
}

export interface CanaryRun {
  readonly git: GitReading;
  readonly hook: string;
  readonly folder: HooksFolder;
}

/**
 * Has git (or, when git was already asked for the folder, the hook's file itself) call the hook with the canary set, so
 * that Reeve's block answers and nothing after it runs; a hook without a first line of its own is run by `sh`, as git does.
 * The answer is the path the block saw itself under.
 */
export function runCanary(system: System, run: CanaryRun): string | undefined {
  const { repository } = run.git;
  const canary = { REEVE_CANARY: "1" };
  const file = join(run.folder.path, run.hook);
  const asked = run.folder.asked
    ? undefined
    : runGit(system, repository, { args: ["hook", "run", run.hook], env: canary });
  const result =
    asked === undefined || /not a git command/.test(asked.stderr)
      ? system.run("sh", ["-c", '"$0"', file], {
          cwd: repository.top,
          env: { ...gitEnvironment(system, repository), ...canary },
        })
      : asked;
  const said = `${result.stdout.toString("utf8")}\n${result.stderr}`;
  return new RegExp(`^reeve canary ${run.hook} (.+)$`, "m").exec(said)?.[1];
}
