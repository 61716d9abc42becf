import type { ReflogEntry, ReflogKind } from "./reflog.ts";

/** How a commit came to be in this working tree. */
export interface Making {
  /**
   * `new`: written here; `picked`: an older commit put on another parent by a rebase; `rewritten`: the commit `from`
   * changed in place, where `from` was not itself made here.
   */
  readonly origin:
    | { readonly kind: "new"; readonly by: ReflogKind }
    | { readonly kind: "picked"; readonly renamed: boolean }
    | { readonly kind: "rewritten"; readonly from: string };
  /** Its content was changed after that: amended, squashed into, fixed up. */
  readonly amended: boolean;
  /** The commit this one took the place of by such a change. */
  readonly replaces?: string;
}

const making: ReadonlySet<ReflogKind> = new Set<ReflogKind>([
  "commit",
  "amend",
  "merge-commit",
  "cherry-pick",
  "revert",
  "am",
  "rebase-pick",
]);

/** Rebase steps that change the commit HEAD is at, as an amend does. */
const changing: ReadonlySet<string> = new Set(["squash", "fixup", "reword"]);
/** Rebase steps after which a commit need not keep its subject. */
const renaming: ReadonlySet<string> = new Set(["edit", "continue"]);

function deriveOrigin(entry: ReflogEntry): Making["origin"] {
  if (entry.kind !== "rebase-pick") return { kind: "new", by: entry.kind };
  return { kind: "picked", renamed: renaming.has(entry.step ?? "continue") };
}

function isRewrite(entry: ReflogEntry): boolean {
  return entry.kind === "amend" || (entry.kind === "rebase-pick" && changing.has(entry.step ?? ""));
}

/**
 * The commits the entries of a reflog made, by id. Merges and pulls that git completed by itself, fast-forwards,
 * checkouts and resets make nothing. A movement git has no name for (a tool that writes commits by itself) made a
 * commit when that commit's only parent is where HEAD was.
 */
export function deriveMakings(
  entries: readonly ReflogEntry[],
  parentsOf: (id: string) => readonly string[],
): ReadonlyMap<string, Making> {
  const makings = new Map<string, Making>();
  for (const entry of entries) {
    const parents = entry.kind === "other" ? parentsOf(entry.after) : [];
    const made = making.has(entry.kind) || (parents.length === 1 && parents[0] === entry.before);
    if (!made || makings.has(entry.after)) continue;
    if (isRewrite(entry)) {
      const replaces = entry.before;
      const origin = makings.get(replaces)?.origin ?? { kind: "rewritten", from: replaces };
      makings.set(entry.after, { origin, amended: true, replaces });
    } else {
      makings.set(entry.after, { origin: deriveOrigin(entry), amended: false });
    }
  }
  return makings;
}
