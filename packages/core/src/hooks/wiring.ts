import { basename, dirname, join, relative as relativePath, sep } from "node:path";
import type { GitReading } from "../git/reading.ts";
import type { Enforcement } from "../policy/policy.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { type HookName, hookCommands, isOwnBlock, isShellHook, splitHook } from "./block.ts";
import type { CanaryMemory } from "./canary-memory.ts";
import { detectDispatcher, subhookFolder } from "./dispatchers.ts";
import { adviseByHand } from "./install.ts";
import { type CallQuestion, judgeCall } from "./invocation.ts";
import { type HooksFolder, runCanary } from "./locate.ts";

export interface HookVerdict {
  /** `unwired`: this clone never wired it. `unproven`: it is named, whether it holds is unclear. `broken`: it would not hold. */
  readonly state: "wired" | "unwired" | "unproven" | "broken";
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
  readonly memory: CanaryMemory;
}

interface Candidate {
  readonly file: AbsPath;
  readonly text: string;
  readonly mode: number;
  readonly form: CallQuestion["form"];
  readonly main: boolean;
}

type Described = Omit<Candidate, "text" | "mode">;

function readCandidate(system: System, described: Described): Candidate | undefined {
  const { file } = described;
  const info = system.info(file);
  if (info === undefined || info.kind === "directory" || info.kind === "other") return undefined;
  const text = system.readText(file);
  const real = info.kind === "link" ? system.info(system.realPath(file) ?? file) : info;
  return text === undefined ? undefined : { ...described, text, mode: real?.mode ?? 0 };
}

/** The hook's own file, its subhooks, and what the tool that wrote it is told to run. */
function readCandidates({ system, git, folder, hook }: HookQuestion): readonly Candidate[] {
  const main = readCandidate(system, { file: join(folder.path, hook) as AbsPath, form: "script", main: true });
  if (main === undefined) return [];
  const subhooks = subhookFolder(folder.path, hook);
  const described: Described[] = (system.list(subhooks) ?? []).map((entry) => ({
    file: join(subhooks, entry.name) as AbsPath,
    form: "script",
    main: false,
  }));
  const tool = detectDispatcher(system, folder.path, main.text)?.name;
  const top = git.repository.top;
  const husky = basename(folder.path) === "_" ? dirname(folder.path) : join(top, ".husky");
  if (tool === "husky") described.push({ file: join(husky, hook) as AbsPath, form: "errexit", main: false });
  const configuration = { lefthook: "lefthook.yml", "pre-commit": ".pre-commit-config.yaml" }[tool ?? ""];
  if (configuration !== undefined) {
    described.push({ file: join(top, configuration) as AbsPath, form: "yaml", main: false });
  }
  return [main, ...described.flatMap((one) => readCandidate(system, one) ?? [])];
}

function shown(question: HookQuestion, file: string): string {
  const relative = relativePath(question.git.repository.top, file);
  return relative === ".." || relative.startsWith(`..${sep}`) ? file : relative;
}

function verdict(state: HookVerdict["state"], says: string, next: string): HookVerdict {
  return { state, says, next, called: false };
}

const again = "reeve init --extend --hooks writes the block again";

/** A hook with Reeve's block: where it stands, whether it is whole, and whether git calls it. */
function judgeBlock(question: HookQuestion, candidate: Candidate): HookVerdict | undefined {
  const { system, git, folder, hook, memory } = question;
  const name = shown(question, candidate.file);
  const split = splitHook(candidate.text);
  if (split === undefined || !Object.hasOwn(hookCommands, hook)) return undefined;
  if (split === "broken") return verdict("broken", `Reeve's marks in ${name} have lost their partner`, again);
  if (!isShellHook(candidate.text))
    return verdict("broken", `${name} is no shell script`, "call reeve from it by hand");
  if ((candidate.mode & 0o111) === 0) {
    return verdict("broken", `${name} is not executable, so git passes it over`, `chmod +x ${name}`);
  }
  if (!/^(?:#![^\n]*\n)?$/.test(split.before)) {
    const says = `something stands before Reeve's block in ${name} and may end the hook first`;
    return verdict("broken", says, "move the block right below the first line");
  }
  if (!isOwnBlock(hook as HookName, split.block))
    return verdict("broken", `Reeve's block in ${name} was changed`, again);
  if (system.env["REEVE_HOOK"] === hook) return verdict("wired", `this run was started by ${name}`, "");
  const says = `${name}: git calls it (a canary answered)`;
  const proof = [candidate.file, String(candidate.mode), candidate.text];
  if (!folder.asked && memory.has(hook, proof)) return verdict("wired", says, "");
  const called = true;
  if (runCanary(system, { git, hook, folder }) === undefined) {
    const next = "git config --get core.hooksPath";
    return { state: "broken", says: `${name} is there, but git does not call it`, next, called };
  }
  memory.add(hook, proof);
  return { state: "wired", says, next: "", called };
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

function judgeHandWritten(question: HookQuestion, candidate: Candidate): HookVerdict | undefined {
  const { enforcement } = question;
  const { text, form, file } = candidate;
  const call = judgeCall({ text, form, program: basename(enforcement.path), first: enforcement.args?.[0] ?? "" });
  if (call.kind === "absent") return undefined;
  const place = `${shown(question, file)}:${call.line}`;
  const next = "write it as a line of its own, with '|| exit $?' at its end";
  if (call.kind === "swallowed")
    return verdict("broken", `${place} swallows the exit code`, "write '|| exit $?' there");
  if (form !== "yaml" && (candidate.mode & 0o111) === 0 && form !== "errexit") {
    return verdict(
      "broken",
      `${shown(question, file)} is not executable, so it is passed over`,
      `chmod +x ${shown(question, file)}`,
    );
  }
  if (call.kind === "unproven")
    return verdict("unproven", `${place} names it; whether its failure stops git is unclear`, next);
  return verdict("wired", `called at ${place} (read, not run)`, "");
}

/** Does git run what an enforcement names, and would its exit code stop git? */
export function judgeHook(question: HookQuestion): HookVerdict {
  const candidates = readCandidates(question);
  const main = candidates.find((candidate) => candidate.main);
  const block = main === undefined ? undefined : judgeBlock(question, main);
  if (block !== undefined) return block;
  for (const candidate of candidates) {
    const judged = judgeHandWritten(question, candidate);
    if (judged !== undefined) return judged;
  }
  return verdict("unwired", `${question.hook} does not run it in this clone`, adviceFor(question, main?.text));
}
