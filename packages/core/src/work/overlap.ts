import { parseFlat } from "../documents/front-matter.ts";
import { collectFindings, type Finding } from "../findings/finding.ts";
import type { GitReading } from "../git/reading.ts";
import { checkoutsFolder, join } from "../layer/home.ts";
import type { Layer } from "../layer/layer.ts";
import type { AbsPath } from "../system/paths.ts";
import { overlaps } from "./scope.ts";
import { isActive, parseTask, type Task } from "./task.ts";

export interface OtherTask {
  readonly worktree: AbsPath;
  readonly task: Task;
}

function readOther(layer: Layer, home: AbsPath): Task | undefined {
  try {
    const members = parseFlat(layer.system.readText(join(home, "state", "current.yaml")) ?? "");
    return members === undefined ? undefined : parseTask(members);
  } catch {
    return undefined;
  }
}

/** The active tasks of the repository's other worktrees; git is the registry, there is no list of our own. */
export function readOtherTasks(layer: Layer, git: GitReading): readonly OtherTask[] {
  const { system, repository } = layer;
  return git.worktrees().flatMap((worktree) => {
    if (!worktree.present || worktree.path === repository.top) return [];
    const real = join(worktree.path, ".ai", "local");
    const home = system.info(real)?.kind === "directory" ? real : join(checkoutsFolder(repository), worktree.checkout);
    const task = readOther(layer, home);
    return isActive(task) ? [{ worktree: worktree.path, task }] : [];
  });
}

/** One line per pair of scopes where one contains the other: a fact for people to agree on, never a refusal. */
export function findOverlaps(scope: readonly string[], others: readonly OtherTask[]): readonly Finding[] {
  const findings = collectFindings("overlap");
  for (const { worktree, task } of others) {
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
