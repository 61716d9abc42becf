import { deriveStanding, type Standing } from "../git/divergence.ts";
import type { Head } from "../git/head.ts";
import type { GitReading } from "../git/reading.ts";
import type { Task } from "./task.ts";

/** Where this worktree stands, seen from where a task began. */
export interface TaskStanding extends Standing {
  readonly recorded: Head;
  readonly current: Head;
}

/** Where a record says it was made; `NONE` and `DETACHED` stand for no commit and no branch. */
export function recordedHead(record: { readonly branch?: string; readonly head?: string }): Head {
  return {
    branch: record.branch === "DETACHED" ? undefined : record.branch,
    head: record.head === "NONE" ? undefined : record.head,
  };
}

export function readStanding(git: GitReading, task: Task): TaskStanding {
  const recorded = recordedHead(task);
  const current = git.head();
  const history = git.history(recorded.head);
  const ancestor = history.kind === "missing" ? "missing" : history.ancestor;
  return { ...deriveStanding({ recorded, current, ancestor, reflog: git.reflog() }), recorded, current };
}
