import { isAbsolute, join, relative as relativePath, sep } from "node:path";
import type { Change } from "@reeve/store";
import type { GitReading } from "../git/reading.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { type HookName, hookNames, insertBlock, isShellHook, renderBlock, splitHook } from "./block.ts";
import { detectDispatcher } from "./dispatchers.ts";
import { readHooksFolder } from "./locate.ts";

/** What happens to one hook. */
export interface HookPlan {
  readonly hook: HookName;
  readonly file: string;
  readonly state: "added" | "kept" | "by-hand";
  /** For `by-hand`: why, and what to add where. */
  readonly advice: string | undefined;
}

export interface HooksPlan {
  readonly changes: readonly Change[];
  readonly hooks: readonly HookPlan[];
}

function isBelow(folder: string, base: string): boolean {
  const relative = relativePath(base, folder);
  return relative !== ".." && !relative.startsWith(`..${sep}`) && !isAbsolute(relative);
}

export interface Place {
  readonly system: System;
  readonly git: GitReading;
  readonly folder: AbsPath;
}

/** Why a hook cannot be edited safely, and what to add where; `undefined` when it can. */
export function adviseByHand(
  { system, folder, git }: Place,
  hook: HookName,
  text: string | undefined,
): string | undefined {
  const { top, commonDir, gitDir } = git.repository;
  const file = join(folder, hook) as AbsPath;
  const info = system.info(file);
  const line = `add this line to it: reeve ${hook === "pre-commit" ? "doctor" : "finish --check"} || exit $?`;
  const dispatcher = detectDispatcher(system, folder, text);
  if (dispatcher !== undefined) return `${dispatcher.name} writes this hook: ${dispatcher.advice(hook)}`;
  if (![top, commonDir, gitDir].some((base) => isBelow(folder, base)))
    return `core.hooksPath leads out of the repository, to ${folder}: ${line}`;
  if (info?.kind === "link") return `${hook} is a link: ${line}`;
  if (info !== undefined && info.kind !== "file") return `a ${info.kind} stands where ${hook} belongs`;
  if (text === undefined) return undefined;
  if (text.includes("\r\n")) return `${hook} has carriage returns, which sh does not take: ${line}`;
  if (!isShellHook(text)) return `${hook} is no shell script: call reeve from it (${line})`;
  if (info !== undefined && (info.mode & 0o111) === 0) return `${hook} is switched off (not executable): ${line}`;
  return splitHook(text) === "broken"
    ? `Reeve's marks in ${hook} have lost their partner: take them out, then run this again`
    : undefined;
}

/** Adds Reeve's block to the hooks git calls, beside what is there; what cannot be edited safely is advised. */
export function planHooks(system: System, git: GitReading, program: string): HooksPlan {
  const folder = readHooksFolder(system, git).path;
  const { commonDir, gitDir, top } = git.repository;
  const own = isBelow(folder, commonDir) || isBelow(folder, gitDir);
  const root = [commonDir, gitDir, top].find((base) => isBelow(folder, base)) ?? folder;
  const changes: Change[] = [];
  const hooks = hookNames.map((hook): HookPlan => {
    const file = join(folder, hook);
    const text = system.info(file as AbsPath)?.kind === "directory" ? undefined : system.readText(file as AbsPath);
    const advice = adviseByHand({ system, git, folder }, hook, text);
    if (advice !== undefined) return { hook, file, state: "by-hand", advice };
    const wanted = insertBlock(text, renderBlock(hook, own ? program : undefined));
    if (wanted === text) return { hook, file, state: "kept", advice };
    const mode = text === undefined ? { mode: 0o755, expect: "absent" as const } : {};
    changes.push({ kind: "write", root, path: relativePath(root, file), bytes: wanted, ...mode });
    return { hook, file, state: "added", advice };
  });
  return { changes, hooks };
}
