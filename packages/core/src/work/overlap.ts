import { collectFindings, type Finding } from "../findings/finding.ts";
import type { GitReading } from "../git/reading.ts";
import { join, listHomes } from "../layer/home.ts";
import type { Layer } from "../layer/layer.ts";
import type { AbsPath } from "../system/paths.ts";
import { overlaps } from "./scope.ts";
import { isActive, parseTaskText, type Task } from "./task.ts";

export interface OtherTask {
  readonly worktree: AbsPath;
  /** `undefined` when the worktree's record cannot be read. */
  readonly task: Task | undefined;
}

async function readOther(layer: Layer, home: AbsPath): Promise<Task | "unreadable" | undefined> {
  const path = join(home, "state", "current.yaml");
  try {
    const yaml = layer.system.readText(path);
    return yaml === undefined ? undefined : await parseTaskText(layer, path, yaml);
  } catch {
    return "unreadable";
  }
}

/** The active tasks of the repository's other worktrees that are still there; a record says itself whose it is. */
export async function readOtherTasks(layer: Layer, git: GitReading): Promise<readonly OtherTask[]> {
  const { system, repository, home } = layer;
  const others = listHomes(system, repository, git.worktrees()).filter((path) => path !== home.path);
  const read = others.map(async (path): Promise<readonly OtherTask[]> => {
    const task = await readOther(layer, path);
    if (task === "unreadable") return [{ worktree: path, task: undefined }];
    const worktree = task?.worktree as AbsPath | undefined;
    if (!isActive(task) || worktree === undefined || worktree === repository.top) return [];
    return system.info(worktree) === undefined ? [] : [{ worktree, task }];
  });
  return (await Promise.all(read)).flat();
}

/** One line per pair of scopes where one contains the other: a fact for people to agree on, never a refusal. */
export function findOverlaps(scope: readonly string[], others: readonly OtherTask[]): readonly Finding[] {
  const findings = collectFindings("overlap");
  for (const { worktree, task } of others) {
    if (task === undefined) findings.info(worktree, "its task record cannot be read, so nobody knows what it claims");
    if (task === undefined) continue;
    for (const theirs of task.scope) {
      const mine = scope.find((claim) => overlaps(claim, theirs));
      if (mine === undefined) continue;
      const how =
        mine === theirs
          ? "the same as yours"
          : theirs.startsWith(`${mine}/`) || mine === "."
            ? `inside your ${mine}`
            : `around your ${mine}`;
      findings.info(worktree, `'${task.task}' (${task.id}) claims ${theirs}, ${how}`);
    }
  }
  return findings.lines.map((finding) => ({ ...finding, reproduce: "reeve check --overlap" }));
}
