import * as path from "node:path";
import type { GitReading } from "../git/reading.ts";
import type { Enforcement } from "../policy/policy.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { type HookName, hookCommands, isShellHook, splitHook } from "./block.ts";
import { subhookFolder } from "./dispatchers.ts";
import { adviseByHand } from "./install.ts";
import { type HooksFolder, runCanary } from "./locate.ts";

export interface HookVerdict {
  /** `unwired`: this clone never wired it. `broken`: it is there and would not hold. */
  readonly state: "wired" | "unwired" | "broken";
  readonly says: string;
  readonly next: string;
  /** git was made to call the hook. */
  readonly called: boolean;
}

export interface HookQuestion {
  readonly system: System;
  readonly git: GitReading;
  readonly folder: HooksFolder;
  readonly hook: string;
  readonly enforcement: Enforcement;
}

interface Candidate {
  readonly file: AbsPath;
  readonly text: string;
  readonly executable: boolean;
  readonly main: boolean;
}

const swallows = /\|\|\s*(?:true|:|exit\s+0)(?:\s|;|$)/;

function readCandidate(system: System, file: AbsPath, main: boolean): Candidate | undefined {
  const info = system.info(file);
  if (info === undefined || info.kind === "directory" || info.kind === "other") return undefined;
  const text = system.readText(file);
  const real = info.kind === "link" ? system.info(system.realPath(file) ?? file) : info;
  return text === undefined ? undefined : { file, text, executable: ((real?.mode ?? 0) & 0o111) !== 0, main };
}

/** The hook's file, its subhooks, and the file husky's own runner calls. */
function readCandidates({ system, git, folder, hook }: HookQuestion): readonly Candidate[] {
  const subhooks = subhookFolder(folder.path, hook);
  const names = system.list(subhooks) ?? [];
  const husky = path.basename(folder.path) === "_" ? path.join(path.dirname(folder.path), hook) : undefined;
  const files: (readonly [string, boolean])[] = [
    [path.join(folder.path, hook), true],
    ...names.map((entry) => [path.join(subhooks, entry.name), false] as const),
    ...(husky === undefined ? [] : [[husky, false] as const]),
    ...["lefthook.yml", ".pre-commit-config.yaml"].map((name) => [path.join(git.repository.top, name), false] as const),
  ];
  return files.flatMap(([file, main]) => readCandidate(system, file as AbsPath, main) ?? []);
}

function invocation(enforcement: Enforcement): RegExp {
  const program = path.basename(enforcement.path).replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const first = (enforcement.args?.[0] ?? "").replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?:^|[\\s;&|"'/(])(?:${program}|"?\\$reeve_found"?)["']?\\s+${first}(?:\\s|$|["'])`);
}

function shown(question: HookQuestion, file: string): string {
  const relative = path.relative(question.git.repository.top, file);
  return relative.startsWith("..") ? file : relative;
}

function verdict(state: HookVerdict["state"], says: string, next: string): HookVerdict {
  return { state, says, next, called: false };
}

function judgeBlock(question: HookQuestion, candidate: Candidate): HookVerdict | undefined {
  const { system, git, folder, hook } = question;
  const name = shown(question, candidate.file);
  const split = splitHook(candidate.text);
  const again = "reeve init --extend --hooks writes the block again";
  if (split === "broken") return verdict("broken", `Reeve's marks in ${name} have lost their partner`, again);
  if (split === undefined || !candidate.main) return undefined;
  if (!isShellHook(candidate.text))
    return verdict("broken", `${name} is no shell script`, "call reeve from it by hand");
  if (!/^(?:#![^\n]*\n)?$/.test(split.before)) {
    return verdict(
      "broken",
      `something stands before Reeve's block in ${name} and may end the hook first`,
      "move the block right below the first line",
    );
  }
  if (system.env["REEVE_HOOK"] === hook) return verdict("wired", `this run was started by ${name}`, "");
  const answered = runCanary(system, { git, hook, folder });
  const called = true;
  if (answered !== undefined)
    return { state: "wired", says: `${name}: git calls it (a canary answered)`, next: "", called };
  return {
    state: "broken",
    says: `${name} is there, but git does not call it`,
    next: "git config --get core.hooksPath",
    called,
  };
}

/** How to wire a hook that is not wired. */
function adviceFor({ system, git, folder, hook, enforcement }: HookQuestion, text: string | undefined): string {
  if (!Object.hasOwn(hookCommands, hook)) {
    const command = [enforcement.path, ...(enforcement.args ?? [])].join(" ");
    return `add this line to ${hook} in ${folder.path}: ${command} || exit $?`;
  }
  const place = { system, git, folder: folder.path };
  return adviseByHand(place, hook as HookName, text) ?? "reeve init --extend --hooks";
}

/** Does git run what an enforcement names, and would its exit code stop git? */
export function judgeHook(question: HookQuestion): HookVerdict {
  const { hook, enforcement } = question;
  const calls = invocation(enforcement);
  const candidates = readCandidates(question);
  const found = candidates.find((candidate) => calls.test(candidate.text));
  if (found === undefined) {
    const main = candidates.find((candidate) => candidate.main);
    const advice = adviceFor(question, main?.text);
    if (main !== undefined && splitHook(main.text) === "broken")
      return judgeBlock(question, main) ?? verdict("broken", "", advice);
    return verdict("unwired", `${hook} does not run it in this clone`, advice);
  }
  const name = shown(question, found.file);
  const isScript = !/\.ya?ml$/.test(found.file);
  if (isScript && !found.executable)
    return verdict("broken", `${name} is not executable, so git passes it over`, `chmod +x ${name}`);
  const rows = found.text.split("\n");
  const at = rows.findIndex((row) => calls.test(row) && swallows.test(row));
  if (at >= 0) return verdict("broken", `${name}:${at + 1} swallows the exit code`, `write '|| exit $?' there`);
  return judgeBlock(question, found) ?? verdict("wired", `called by ${name} (read, not run)`, "");
}
