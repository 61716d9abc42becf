import { ReeveError } from "../findings/errors.ts";
import type { GitReading } from "../git/reading.ts";
import type { Layer } from "../layer/layer.ts";
import type { Profile } from "../policy/policy.ts";
import { readProfile } from "../policy/reader.ts";
import { readStanding, recordedHead, type TaskStanding } from "./standing.ts";
import { isActive, isElsewhere, readTask, type Task } from "./task.ts";

export interface TouchedFile {
  readonly path: string;
  /** The commit that changed it; `undefined` for a change of the working tree. */
  readonly commit: string | undefined;
}

/** The task a check is about, with everything derived for it once. */
export interface TaskSubject {
  readonly task: Task;
  readonly profile: Profile;
  readonly standing: TaskStanding;
  readonly touched: readonly TouchedFile[];
}

/** Files the working tree and this worktree's own commits changed since a task began. */
export function readTouched(git: GitReading, task: Task): readonly TouchedFile[] {
  return git
    .touched({ base: recordedHead(task).head, startedAt: new Date(task.started_at) })
    .map((file) => ({ path: file.path, commit: file.commit }));
}

export async function readSubject(layer: Layer, git: GitReading, task: Task): Promise<TaskSubject> {
  const profile = await readProfile(layer, task.profile);
  return { task, profile, standing: readStanding(git, task), touched: readTouched(git, task) };
}

const begin = 'reeve start "<what>" --scope <path>';

function refuseElsewhere(task: Task): never {
  throw new ReeveError("TASK_ELSEWHERE", `the task record here belongs to another worktree: ${task.worktree}`, {
    hint: "work there, or move the copied record away: .ai/local/state/current.yaml",
    details: { task_id: task.id, worktree: task.worktree },
  });
}

/** The active task of this checkout, or the reason there is none. */
export async function requireTask(layer: Layer): Promise<Task> {
  const task = await readTask(layer);
  if (task === undefined) throw new ReeveError("NO_TASK", "no task has been started in this checkout", { hint: begin });
  if (isElsewhere(layer, task)) refuseElsewhere(task);
  if (!isActive(task)) {
    throw new ReeveError("NO_TASK", `no task is active; the last one (${task.id}) is ${task.outcome}`, { hint: begin });
  }
  return task;
}

/** The active task of this checkout, or `undefined` when there is none to attach a record to. */
export async function findTask(layer: Layer): Promise<Task | undefined> {
  const task = await readTask(layer);
  return isActive(task) && !isElsewhere(layer, task) ? task : undefined;
}
