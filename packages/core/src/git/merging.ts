import { join } from "node:path";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { readGit } from "./process.ts";
import type { Repository } from "./repository.ts";
import type { Status } from "./status.ts";

/**
 * Paths a merge under way staged exactly as the merged commit has them and nobody touched since. Git is asked only while
 * there is a merge.
 */
export function readBrought(system: System, repository: Repository, status: Status): ReadonlySet<string> {
  const staged = status.entries.filter(
    (entry) => entry.index !== "." && entry.worktree === "." && entry.kind !== "untracked",
  );
  const merging = system.info(join(repository.gitDir, "MERGE_HEAD") as AbsPath) !== undefined;
  if (!merging || staged.length === 0) return new Set();
  const args = ["diff-index", "--cached", "--name-only", "--no-renames", "-z", "MERGE_HEAD", "--"];
  const differing = new Set(readGit(system, repository, { args }).toString("utf8").split("\0"));
  return new Set(staged.map((entry) => entry.path).filter((file) => !differing.has(file)));
}
