import type { Change } from "@reeve/store";
import { parseFlat, renderFlat } from "../documents/front-matter.ts";
import { nearest } from "../documents/nearest.ts";
import { ReeveError } from "../findings/errors.ts";
import { type Layer, writeChange } from "../layer/layer.ts";
import { isTimestamp } from "../records/time.ts";
import { statePath } from "../state/paths.ts";

/** Where the record of an ended task is kept, and the note that finish accepted. */
export function archivePath(id: string): string {
  return statePath(".ai/local/state/archive/", `${id}.yaml`);
}

export function completedPath(id: string): string {
  return statePath(".ai/local/state/completed/", `${id}.md`);
}

const taskPath: string = statePath(".ai/local/state/current.yaml");

export const outcomes = ["active", "completed", "partial", "blocked", "no_match", "failed", "handed_over"] as const;
export type TaskOutcome = (typeof outcomes)[number];

/** `current.yaml` (reference 1.7): the task of this checkout. */
export interface Task {
  readonly id: string;
  readonly task: string;
  readonly profile: string;
  readonly owner: string;
  readonly scope: readonly string[];
  readonly started_at: string;
  readonly outcome: TaskOutcome;
  readonly requires?: readonly string[];
  readonly issue?: string;
  readonly intent?: string;
  readonly exempt?: { readonly class: string; readonly because: string };
  readonly checkpoint_at?: string;
  readonly repository_id?: string;
  readonly worktree?: string;
  readonly branch?: string;
  readonly head?: string;
  readonly working_tree?: "clean" | "dirty";
  readonly policy_sha256?: string;
}

type Check = (value: unknown) => boolean;
const text: Check = (value) => typeof value === "string" && value !== "";
const texts: Check = (value) => Array.isArray(value) && value.every(text);
const sha: Check = (value) => typeof value === "string" && /^(?:[0-9a-f]{40,64}|NONE)$/.test(value);
const time: Check = (value) => typeof value === "string" && isTimestamp(value);

const isExemption: Check = (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const given = Object.entries(value);
  return given.length === 2 && given.every(([key, member]) => ["class", "because"].includes(key) && text(member));
};

const members: Readonly<
  Record<keyof Task, { readonly check: Check; readonly required: boolean; readonly says: string }>
> = {
  id: {
    check: (value) => typeof value === "string" && /^t-\d{14}-[0-9a-f]{4}$/.test(value),
    required: true,
    says: "a task id",
  },
  task: { check: text, required: true, says: "a line of text" },
  profile: { check: text, required: true, says: "a profile name" },
  owner: { check: text, required: false, says: "a name" },
  scope: { check: (value) => texts(value) && (value as string[]).length > 0, required: true, says: "a list of paths" },
  started_at: { check: time, required: true, says: "a UTC time" },
  outcome: { check: (value) => outcomes.some((name) => name === value), required: true, says: outcomes.join("|") },
  requires: { check: texts, required: false, says: "a list of tokens" },
  issue: { check: text, required: false, says: "an id" },
  intent: { check: text, required: false, says: "an id" },
  exempt: { check: isExemption, required: false, says: "a class and a reason: {class, because}" },
  checkpoint_at: { check: time, required: false, says: "a UTC time" },
  repository_id: { check: text, required: false, says: "a path" },
  worktree: { check: text, required: false, says: "a path" },
  branch: { check: text, required: false, says: "a branch" },
  head: { check: sha, required: false, says: "a commit" },
  working_tree: { check: (value) => value === "clean" || value === "dirty", required: false, says: "clean|dirty" },
  policy_sha256: { check: text, required: false, says: "a hash" },
};

function damaged(path: string, message: string, hint?: string): ReeveError {
  return new ReeveError("RECORD_DAMAGED", `${path}: ${message}`, {
    hint: hint ?? `mend the file by hand; its history is in: reeve history --all`,
    details: { path },
  });
}

/** Judges the members of a task record; throws `RECORD_DAMAGED` naming the key. */
export function parseTask(value: Readonly<Record<string, unknown>>, path: string = taskPath): Task {
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(members, key)) continue;
    const guess = nearest(key, Object.keys(members));
    throw damaged(path, `unknown key '${key}'`, guess === undefined ? undefined : `did you mean '${guess}'?`);
  }
  for (const [key, member] of Object.entries(members)) {
    const present = Object.hasOwn(value, key);
    if (!present && member.required) throw damaged(path, `'${key}' is missing`);
    if (present && !member.check(value[key])) throw damaged(path, `'${key}' is not ${member.says}`);
  }
  const loose = (value["scope"] as readonly string[]).find(
    (path) => path.startsWith("/") || path.split("/").includes(".."),
  );
  if (loose !== undefined) throw damaged(path, `'scope' names ${loose}, which is no path inside the repository`);
  const lacking = ["branch", "head"].find((key) => Object.hasOwn(value, "worktree") && !Object.hasOwn(value, key));
  if (lacking !== undefined) throw damaged(path, `'${lacking}' is missing`);
  return { owner: "unknown", ...value } as unknown as Task;
}

export function renderTask(task: Task): string {
  return renderFlat({ ...task });
}

/** Reads a task record's text: by lines when Reeve wrote it, else as any YAML. */
export async function parseTaskText(layer: Layer, path: string, yaml: string): Promise<Task> {
  const flat = parseFlat(yaml);
  if (flat !== undefined) return parseTask(flat, path);
  const decoded = await layer.documents.decode("plain", path, yaml);
  if (decoded.ok) return parseTask(decoded.value, path);
  const [problem] = decoded.problems;
  throw damaged(`${path}:${problem?.line ?? 1}`, problem?.message ?? "does not parse");
}

/** The task record of this checkout whatever its outcome, or `undefined`. */
export async function readTask(layer: Layer): Promise<Task | undefined> {
  const yaml = layer.read(taskPath);
  return yaml === undefined ? undefined : parseTaskText(layer, taskPath, yaml);
}

export function isActive(task: Task | undefined): task is Task & { readonly outcome: "active" } {
  return task?.outcome === "active";
}

/**
 * Is the record another checkout's, copied in? A record whose folder is gone belongs to this checkout: its folder was
 * moved. One without a worktree is local.
 */
export function isElsewhere(layer: Layer, task: Task): boolean {
  if (task.worktree === undefined || task.worktree === layer.repository.top) return false;
  const { system } = layer;
  const there = system.realPath(task.worktree as typeof layer.repository.top);
  return (
    there !== undefined &&
    there !== system.realPath(layer.repository.top) &&
    system.info(`${there}/.git` as typeof there) !== undefined
  );
}

export function taskChange(layer: Layer, task: Task): Change {
  return writeChange(layer, taskPath, renderTask(task));
}
