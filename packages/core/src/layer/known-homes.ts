import { basename } from "node:path";
import type { Repository } from "../git/repository.ts";
import type { Worktree } from "../git/worktrees.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { isMarked, join, listHomes, localPath } from "./home.ts";

/** A checkout's own half, and whose it is. */
export interface KnownHome {
  readonly path: AbsPath;
  readonly checkout: string;
  /** `left`: of a worktree that is gone; `aside`: of an earlier one whose name was taken again. */
  readonly state: "this" | "used" | "left" | "aside";
}

/** Every home there is, and which of them belong to no working tree any more. */
export function describeHomes(
  system: System,
  repository: Repository,
  worktrees: readonly Worktree[],
): readonly KnownHome[] {
  const own = system.realPath(localPath(repository));
  return listHomes(system, repository, worktrees).map((path) => {
    const inside = worktrees.find((worktree) => join(worktree.path, ".ai", "local") === path);
    const checkout = inside?.checkout ?? basename(path);
    if (system.realPath(path) === own) return { path, checkout, state: "this" };
    if (/\.\d{8}T\d{6}Z$/.test(checkout)) return { path, checkout, state: "aside" };
    const holder = inside ?? worktrees.find((worktree) => worktree.checkout === checkout);
    const isHeld = holder?.present === true && (holder === inside || isMarked(system, holder, path));
    return { path, checkout, state: isHeld ? "used" : "left" };
  });
}
