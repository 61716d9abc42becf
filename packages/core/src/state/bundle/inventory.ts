import { isDerivedSpelling, type StateEntry, type StateGroup } from "@reeve/store/table";
import type { System } from "../../system/port.ts";
import { judgeName } from "./names.ts";
import type { ClaimedFile, Inventory, PassedOver, StateTree } from "./tree.ts";

/** Every file of the tree in these classes, and what lies among them that is none. Links are never followed. */
export function readInventory(system: System, tree: StateTree, groups: readonly StateGroup[]): Inventory {
  const walk: Walk = { system, tree, files: new Map(), passedOver: [] };
  for (const root of new Set(groups.flatMap((group) => tree.table.roots[group]))) {
    const path = root.replace(/\/$/, "");
    look(walk, path, system.info(tree.locate(path))?.kind ?? "absent");
  }
  const files = [...walk.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, passedOver: walk.passedOver };
}

interface Walk {
  readonly system: System;
  readonly tree: StateTree;
  readonly files: Map<string, ClaimedFile>;
  readonly passedOver: PassedOver[];
}

function enter(walk: Walk, folder: string): void {
  for (const { name, kind } of walk.system.list(walk.tree.locate(folder.slice(0, -1))) ?? []) {
    look(walk, `${folder}${name}`, kind);
  }
}

function look(walk: Walk, path: string, kind: string): void {
  if (kind === "absent" || walk.files.has(path)) return;
  if (judgeName(path) !== undefined) walk.passedOver.push({ path, because: "name" });
  else if (kind === "directory") enter(walk, `${path}/`);
  else if (isDerivedSpelling(path)) walk.passedOver.push({ path, because: "derived" });
  else if (kind !== "file") walk.passedOver.push({ path, because: "kind" });
  else claim(walk, path);
}

function claim(walk: Walk, path: string): void {
  const entry: StateEntry | undefined = walk.tree.table.entryFor(path);
  if (entry === undefined) walk.passedOver.push({ path, because: "undeclared" });
  else walk.files.set(path, { path, entry });
}
