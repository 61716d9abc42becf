import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { nodeSystem } from "../system/node.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";

/** One working tree of a test. */
export interface Checkout {
  readonly top: AbsPath;
  /** Runs git here and answers its output; throws when it fails. */
  git(...args: string[]): string;
  /** Runs git here with more in its environment, and does not mind a failure. */
  try(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): { readonly exit: number; readonly stdout: string };
  write(files: Readonly<Record<string, string>>): void;
  /** Writes the files, commits everything and answers the commit's id. */
  commit(subject: string, files?: Readonly<Record<string, string>>): string;
  head(): string;
  /** The machine as a command started here sees it. */
  system(env?: Readonly<Record<string, string>>): System;
}

/** A temporary folder with a home of its own and a clock that moves ten seconds at each run of git. */
export interface Scene {
  readonly root: AbsPath;
  /** The second the next run of git will take place in. */
  now(): Date;
  at(folder: string): Checkout;
  /** A new repository with one commit, on branch `main`. */
  make(folder: string): Checkout;
  remove(): void;
}

interface Runner {
  readonly base: Readonly<Record<string, string | undefined>>;
  readonly tick: () => number;
}

function baseEnvironment(root: string): Record<string, string | undefined> {
  const home = path.join(root, "home");
  return {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, "config"),
    XDG_CACHE_HOME: path.join(home, "cache"),
    XDG_DATA_HOME: path.join(home, "data"),
    XDG_STATE_HOME: path.join(home, "state"),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  };
}

function runIn(top: AbsPath, runner: Runner): Checkout["try"] {
  return (args, env = {}) => {
    const date = `${runner.tick()} +0000`;
    const identity = {
      GIT_AUTHOR_NAME: "Ada",
      GIT_AUTHOR_EMAIL: "ada@example.org",
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: "Ada",
      GIT_COMMITTER_EMAIL: "ada@example.org",
      GIT_COMMITTER_DATE: date,
      GIT_EDITOR: "true",
    };
    const settings = ["-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"];
    const done = spawnSync("git", [...settings, ...args], {
      cwd: top,
      env: { ...runner.base, ...identity, ...env },
      encoding: "utf8",
    });
    return { exit: done.status ?? 1, stdout: done.status === 0 ? done.stdout : done.stdout + done.stderr };
  };
}

function openCheckout(top: AbsPath, runner: Runner): Checkout {
  const run = runIn(top, runner);
  const git: Checkout["git"] = (...args) => {
    const { exit, stdout } = run(args);
    if (exit !== 0) throw new Error(`git ${args.join(" ")}: ${stdout}`);
    return stdout.trimEnd();
  };
  const write: Checkout["write"] = (files) => {
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
      fs.writeFileSync(path.join(top, name), text);
    }
  };
  return {
    top,
    git,
    try: run,
    write,
    commit: (subject, files = {}) => {
      write(files);
      git("add", "-A");
      git("commit", "-q", "--allow-empty", "-m", subject);
      return git("rev-parse", "HEAD");
    },
    head: () => git("rev-parse", "HEAD"),
    system: (env = {}) => nodeSystem({ cwd: top, env: { ...runner.base, ...env } }),
  };
}

/** For tests only: real repositories, with no configuration but their own. */
export function makeScene(): Scene {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve git "))) as AbsPath;
  let seconds = 1_700_000_000;
  const tick = (): number => {
    seconds += 10;
    return seconds;
  };
  const at = (folder: string): Checkout =>
    openCheckout(path.join(root, folder) as AbsPath, { base: baseEnvironment(root), tick });
  return {
    root,
    now: () => new Date((seconds + 10) * 1000),
    at,
    make: (folder) => {
      fs.mkdirSync(path.join(root, folder), { recursive: true });
      const checkout = at(folder);
      checkout.git("init", "-q", "-b", "main");
      checkout.commit("first", { "first.txt": "one\n" });
      return checkout;
    },
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}
