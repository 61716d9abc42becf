import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll } from "vitest";
import { listUndeclared } from "./undeclared.ts";

/** The built program, as a person starts it. */
export const program: string = path.resolve("packages/cli/bin/reeve.cjs");

export interface Answer {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CallOptions {
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A folder of its own for one test: a HOME, and repositories made in it. */
export interface Scene {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository most tests work in. */
  readonly repo: string;
  at(...parts: readonly string[]): string;
  write(file: string, text: string | Uint8Array, mode?: number): void;
  read(file: string): string;
  exists(file: string): boolean;
  reeve(args: readonly string[], options?: CallOptions): Answer;
  /** Starts without waiting; the promise answers when it ends. */
  begin(args: readonly string[], options?: CallOptions): Begun;
  git(args: readonly string[], options?: CallOptions): string;
  sh(command: string, options?: CallOptions): Answer;
  /** The ledger's lines, parsed strictly as JSON. */
  ledger(): readonly Readonly<Record<string, unknown>>[];
}

export interface Begun {
  readonly pid: number;
  readonly ended: Promise<Answer>;
  kill(signal: NodeJS.Signals): void;
}

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders.splice(0)) {
    spawnSync("chmod", ["-R", "u+rwX", folder]);
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

function makeEnvironment(folder: string): Readonly<Record<string, string | undefined>> {
  const home = path.join(folder, "home");
  const bin = path.join(folder, "bin");
  fs.mkdirSync(home, { recursive: true });
  fs.mkdirSync(bin);
  fs.symlinkSync(program, path.join(bin, "reeve"));
  return {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: home,
    USER: "tester",
    LANG: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: path.join(home, "gitconfig"),
    GIT_AUTHOR_NAME: "A Tester",
    GIT_AUTHOR_EMAIL: "tester@example.org",
    GIT_COMMITTER_NAME: "A Tester",
    GIT_COMMITTER_EMAIL: "tester@example.org",
  };
}

function toAnswer(result: {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}): Answer {
  const exit = result.status ?? 128 + (result.signal === null ? 0 : os.constants.signals[result.signal]);
  return { exit, stdout: result.stdout, stderr: result.stderr };
}

function begin(env: Scene["env"], cwd: string, args: readonly string[], options: CallOptions): Begun {
  const child = spawn(program, args, {
    cwd: options.cwd ?? cwd,
    env: { ...env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  const ended = new Promise<Answer>((resolve) => {
    child.on("close", (status, signal) => resolve(toAnswer({ status, signal, stdout, stderr })));
  });
  const pid = child.pid ?? -1;
  const kill = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal);
    } catch {
      // It ended by itself.
    }
  };
  return { pid, ended, kill };
}

/**
 * Makes a scene with a repository `repo` on branch main. `commits: false` leaves it without a commit; `layer` runs
 * `reeve init` (with hooks when it is "hooks") and commits the layer.
 */
export function makeScene(
  options: { readonly commits?: false; readonly layer?: true | "hooks"; readonly name?: string } = {},
): Scene {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve-scene-")));
  folders.push(folder);
  const env = makeEnvironment(folder);
  const repo = path.join(folder, options.name ?? "repo");
  const run = (name: string, args: readonly string[], given: CallOptions = {}): Answer =>
    toAnswer(
      spawnSync(name, args, {
        cwd: given.cwd ?? repo,
        env: { ...env, ...given.env },
        input: given.input ?? "",
        encoding: "utf8",
        maxBuffer: 1 << 28,
      }),
    );
  const scene: Scene = {
    folder,
    env,
    repo,
    at: (...parts) => path.join(repo, ...parts),
    write(file, text, mode) {
      fs.mkdirSync(path.dirname(path.join(repo, file)), { recursive: true });
      fs.writeFileSync(path.join(repo, file), text, mode === undefined ? {} : { mode });
    },
    read: (file) => fs.readFileSync(path.join(repo, file), "utf8"),
    exists: (file) => fs.existsSync(path.join(repo, file)),
    reeve(args, given) {
      const known = { ...env, ...given?.env };
      const before = listUndeclared(folder, known);
      const answer = run(program, args, given);
      const left = [...listUndeclared(folder, known)].filter((file) => !before.has(file));
      if (left.length > 0)
        throw new Error(`reeve ${args.join(" ")} left files that no table declares: ${left.join(", ")}`);
      return answer;
    },
    begin: (args, given = {}) => begin(env, repo, args, given),
    git(args, given) {
      const answer = run("git", args, given);
      if (answer.exit !== 0) throw new Error(`git ${args.join(" ")}: ${answer.stderr}`);
      return answer.stdout;
    },
    sh: (command, given) => run("sh", ["-c", command], given),
    ledger() {
      const file = path.join(repo, ".ai/local/state/ledger.jsonl");
      if (!fs.existsSync(file)) return [];
      const rows = fs
        .readFileSync(file, "utf8")
        .split("\n")
        .filter((row) => row !== "");
      return rows.map((row) => JSON.parse(row) as Readonly<Record<string, unknown>>);
    },
  };
  fs.mkdirSync(repo);
  scene.git(["init", "-q", "-b", "main"]);
  if (options.commits === false) return scene;
  scene.write("src/auth/callback.ts", "export const callback = 1;\n");
  scene.write("README.md", "# A repository\n");
  scene.git(["add", "-A"]);
  scene.git(["commit", "-q", "-m", "first"]);
  if (options.layer !== undefined) {
    const made = scene.reeve(["init", ...(options.layer === "hooks" ? ["--hooks"] : [])]);
    if (made.exit !== 0) throw new Error(`reeve init: ${made.stdout}${made.stderr}`);
    scene.git(["add", "-A"]);
    scene.git(["commit", "-q", "-m", "layer"]);
  }
  return scene;
}
