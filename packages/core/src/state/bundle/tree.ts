import type { StateEntry, StateTable } from "@reeve/store/table";
import type { AbsPath } from "../../system/paths.ts";

/** A table and where its files lie: a layer, or a person's own folder. Paths are the table's own. */
export interface StateTree {
  readonly table: StateTable;
  /** Where a path lies on this machine. */
  locate(path: string): AbsPath;
  /** The same as a change of a plan names it. */
  place(path: string): { readonly root: string; readonly path: string };
}

/** A file that is there, and the entry that claims it. */
export interface ClaimedFile {
  readonly path: string;
  readonly entry: StateEntry;
}

/** Something under a root of the table that is no file of an entry. */
export interface PassedOver {
  readonly path: string;
  /** `undeclared`: no entry claims it; `derived`: a lock, index, copy or temporary file; `kind`: a link, a pipe, … */
  readonly because: "undeclared" | "derived" | "kind" | "name";
}

export interface Inventory {
  /** By path, in code-unit order. */
  readonly files: readonly ClaimedFile[];
  readonly passedOver: readonly PassedOver[];
}
