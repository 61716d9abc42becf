import type { StateEntry, StateGroup } from "./table-entry.ts";
import { foldPath, originalOf } from "./table-paths.ts";

/** What is known of one path, for a person (state-table design, `state explain`). */
export interface StateExplanation {
  /** Folded; as it was given where it leaves the root. */
  readonly path: string;
  /** The path of the entry that claims it. */
  readonly entry: string | undefined;
  readonly group: StateGroup | undefined;
  readonly tracked: boolean;
  readonly searched: boolean;
  readonly backedUp: boolean;
  readonly carried: "yes" | "with-prompts" | "with-secrets" | "never";
  readonly locked: boolean;
  readonly watched: boolean;
  readonly invalidates: readonly string[];
  /** Why it is what it is, in a sentence. */
  readonly why: string;
}

/** What an explanation is made of: the table's own answers. */
export interface Explainer {
  entryFor(path: string): StateEntry | undefined;
  groupOf(path: string): StateGroup | undefined;
  traitsOf(
    entry: StateEntry,
  ): Pick<StateExplanation, "tracked" | "searched" | "backedUp" | "carried" | "locked" | "watched">;
  isLocked(path: string): boolean;
  staleQueryKeys(paths: readonly string[]): readonly string[];
}

/** Explains any path: declared, a derived spelling of one, undeclared, outside. */
export function explainPath(table: Explainer, given: string): StateExplanation {
  const path = foldPath(given);
  const nothing = { tracked: false, searched: false, backedUp: false, carried: "never", watched: false } as const;
  if (path === undefined) {
    const why = "It is absolute or leaves the root, and is refused.";
    return { path: given, entry: undefined, group: undefined, ...nothing, locked: true, invalidates: [], why };
  }
  const group = table.groupOf(path);
  const locked = table.isLocked(path);
  const original = originalOf(path);
  if (original !== undefined) {
    const entry = table.entryFor(original);
    const why = `It is a lock, index, copy or temporary file of ${original}: of the same class, and it never travels.`;
    return { path, entry: entry?.path, group, ...nothing, locked, invalidates: [], why };
  }
  const entry = table.entryFor(path);
  if (entry !== undefined) {
    const traits = table.traitsOf(entry);
    const { tracked, searched, backedUp, carried, watched } = traits;
    const known = { tracked, searched, backedUp, carried, watched };
    const invalidates = table.staleQueryKeys([path]);
    return {
      path,
      entry: entry.path,
      group,
      ...known,
      locked: locked || traits.locked,
      invalidates,
      why: entry.because,
    };
  }
  return { path, entry: undefined, group, ...nothing, locked, invalidates: [], why: undeclared(group, locked) };
}

function undeclared(group: StateGroup | undefined, locked: boolean): string {
  if (group === undefined) return locked ? "It is git's own." : "It is no state file: no class has it.";
  const end = locked ? "it is locked and never travels" : "it never travels";
  return `No entry declares it; it lies in a folder of ${group}, so ${end}.`;
}
