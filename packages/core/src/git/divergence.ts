import type { Head } from "./head.ts";
import type { History } from "./history.ts";
import type { ReflogEntry } from "./reflog.ts";

/** How the state a record was made in stands to the present one. */
export type Label = "exact" | "advanced" | "diverged" | "different_context" | "unknown";

/** Is the recorded commit HEAD or an ancestor of it? `missing`: git does not have it. */
export type Ancestry = boolean | "missing";

export interface Standing {
  readonly label: Label;
  /** The label follows this working tree through a switched branch or rewritten commits. */
  readonly moved: boolean;
}

export interface StandingInput {
  readonly recorded: Head;
  readonly current: Head;
  readonly ancestor: Ancestry;
  /** This working tree's own; `undefined` where git keeps none. */
  readonly reflog: readonly ReflogEntry[] | undefined;
}

/** What the history between a recorded commit and HEAD says of the recorded one. */
export function deriveAncestry(history: History): Ancestry {
  return history.kind === "missing" ? "missing" : history.ancestor;
}

/**
 * The label of a record, the first that fits: another branch is `different_context` even at the same commit; the same
 * commit is `exact`; an ancestor of HEAD is `advanced`; a commit git does not have is `unknown`; else `diverged`.
 */
export function deriveLabel(recorded: Head, current: Head, ancestor: Ancestry): Label {
  if (recorded.branch !== current.branch) return "different_context";
  if (recorded.head === current.head) return "exact";
  if (ancestor === "missing") return "unknown";
  return ancestor ? "advanced" : "diverged";
}

function wasHere({ recorded, reflog }: StandingInput): boolean {
  // Without a reflog, or before the first commit, there is no trace to look for.
  if (reflog === undefined || recorded.head === undefined) return true;
  return reflog.some((entry) => entry.after === recorded.head || entry.before === recorded.head);
}

/**
 * The standing of the active task of *this* working tree, which it follows: a switched branch, amended or rebased
 * commits are `advanced` and `moved`, when this working tree was at the recorded commit and git still has it.
 */
export function deriveStanding(input: StandingInput): Standing {
  const label = deriveLabel(input.recorded, input.current, input.ancestor);
  const left = label === "diverged" || label === "different_context";
  if (!left || input.ancestor === "missing" || !wasHere(input)) return { label, moved: false };
  return { label: "advanced", moved: true };
}
