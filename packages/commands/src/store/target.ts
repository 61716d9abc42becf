import { basename, dirname, join, resolve } from "node:path";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import type { Layer } from "@reeve/core/layer/layer.ts";
import { table } from "@reeve/core/state/table.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import { isDerivedSpelling, type StateEntry } from "@reeve/store/table";
import type { Context } from "../context.ts";

/** A file of lines that a store command works on. */
export interface Target {
  readonly path: AbsPath;
  /** As the person named it, or as the table does. */
  readonly shown: string;
  readonly holds: "store" | "log";
  /** The key member, where it is known. */
  readonly key: string | undefined;
  readonly edited: "tool" | "hand";
  readonly isDeclared: boolean;
}

/** Flags that every store command with a path takes. */
export const keyFlag = {
  key: {
    type: "string",
    value: "member",
    summary: "the member that is the key, for a store the table does not declare",
  },
} as const;

/** Every store and log the table declares, whether its file is there or not. */
export function listTargets(layer: Layer): readonly Target[] {
  return table.entries.flatMap((entry) => (isOfLines(entry) ? filesOf(layer, entry) : []));
}

/** The file a person named, from the folder they are in; what the table says of it wins over what they say. */
export function findTarget(context: Context, given: string, key: string | undefined): Target {
  const { system, layerIfAny } = context;
  const path = resolve(system.cwd, given) as AbsPath;
  if (system.info(path) === undefined) {
    throw new ReeveError("MISSING_FILE", `${given}: there is no such file`, { hint: "reeve store list" });
  }
  const real = system.realPath(path);
  const declared = layerIfAny === undefined ? [] : listTargets(layerIfAny);
  const known = declared.find((target) => real !== undefined && system.realPath(target.path) === real);
  if (known !== undefined) return { ...known, shown: given };
  return { path, shown: given, holds: key === undefined ? "log" : "store", key, edited: "tool", isDeclared: false };
}

/** The file named, or all that are declared and there. */
export function findTargets(context: Context, given: string | undefined, key: string | undefined): readonly Target[] {
  if (given !== undefined) return [findTarget(context, given, key)];
  if (context.layerIfAny === undefined) {
    throw new ReeveError("NO_LAYER", "there is no layer here whose stores could be meant", { hint: "name a file" });
  }
  return listTargets(context.layerIfAny).filter(({ path }) => context.system.info(path) !== undefined);
}

function isOfLines(entry: StateEntry): entry is StateEntry & { readonly holds: "store" | "log" } {
  return entry.holds === "store" || entry.holds === "log";
}

function filesOf(layer: Layer, entry: StateEntry & { readonly holds: "store" | "log" }): readonly Target[] {
  const { path, holds, key, writer } = entry;
  const edited = writer === "a person" ? "hand" : "tool";
  const targetOf = (name: string): Target => {
    const shown = join(dirname(path), name);
    return { path: layer.locate(shown), shown, holds, key, edited, isDeclared: true };
  };
  if (!path.endsWith(".*")) return [targetOf(basename(path))];
  const beginning = basename(path).slice(0, -1);
  const exact = new Set(table.entries.map((other) => basename(other.path)));
  return layer
    .list(`${dirname(path)}/`)
    .filter((name) => name.startsWith(beginning) && !exact.has(name) && !isDerivedSpelling(name))
    .map(targetOf);
}
