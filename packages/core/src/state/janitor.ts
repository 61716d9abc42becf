import { dirname } from "node:path";
import { applyPlan, type Change, isAbandoned, StoreError } from "@reeve/store";
import { isDerivedSpelling, type StateEntry, type StateTable } from "@reeve/store/table";
import { journalFile, type Layer, removeChange } from "../layer/layer.ts";

/** A file that retention allows to go. */
export interface CleanTarget {
  /** From the repository's root. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** In words. */
  readonly why: string;
  readonly change: Change;
}

/** A target that could not be removed, or a folder that could not be read. */
export interface CleanProblem {
  readonly path: string;
  readonly reason: string;
}

/** What the janitor found, or did. */
export interface CleanReport {
  readonly targets: readonly CleanTarget[];
  readonly problems: readonly CleanProblem[];
}

type Table = Pick<StateTable, "entries" | "entryFor" | "traitsOf">;

const localPrefix = ".ai/local/";
const dayMs = 86_400_000;

/**
 * What may go: files of declared, derived entries that the table's `retention` finds too old or not among the newest, and
 * temporary files whose writers are gone.
 * Links are neither followed nor removed; folders and locks stay. Writes nothing.
 */
export function planClean(layer: Layer, table: Table): CleanReport {
  const targets: CleanTarget[] = [];
  const problems: CleanProblem[] = [];
  for (const entry of table.entries) {
    if (!table.traitsOf(entry).cleaned || entry.retention === undefined || !entry.path.startsWith(localPrefix))
      continue;
    const found: FoundFile[] = [];
    collect({ layer, table, entry, found, problems }, folderOf(entry));
    targets.push(...judge(layer, entry, found));
  }
  collectAbandoned(layer, targets, problems);
  return { targets, problems };
}

/** Removes each target by itself, so that one that cannot be removed costs no other. The caller holds the layer's lock. */
export async function clean(layer: Layer, planned: CleanReport): Promise<CleanReport> {
  const done: CleanTarget[] = [];
  const problems = [...planned.problems];
  for (const target of planned.targets) {
    try {
      await applyPlan({ changes: [target.change] }, { journal: journalFile(layer.home) });
      done.push(target);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      problems.push({ path: target.path, reason: error.message });
    }
  }
  return { targets: done, problems };
}

/** The temporary files of writers that died, in every folder of both halves. */
function collectAbandoned(layer: Layer, targets: CleanTarget[], problems: CleanProblem[]): void {
  const walk = (folder: string): void => {
    try {
      for (const { name, kind } of layer.system.list(layer.locate(folder)) ?? []) {
        const path = `${folder}${name}`;
        if (kind === "directory" && `${path}/` !== localPrefix) walk(`${path}/`);
        else if (kind === "file" && isAbandoned(name)) {
          const size = layer.system.info(layer.locate(path))?.size ?? 0;
          const why = "half written by a process that is gone";
          targets.push({ path, size, why, change: removeChange(layer, path) });
        }
      }
    } catch (error) {
      problems.push({ path: folder, reason: messageOf(error) });
    }
  };
  walk(".ai/");
  if (layer.home.exists) walk(localPrefix);
}

interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

interface Collecting {
  readonly layer: Layer;
  readonly table: Table;
  readonly entry: StateEntry;
  readonly found: FoundFile[];
  readonly problems: CleanProblem[];
}

/** The folder in which an entry's files lie, with its slash. */
function folderOf({ path }: StateEntry): string {
  return path.endsWith("/") ? path : `${dirname(path)}/`;
}

/** The files below a folder that this entry, and no nearer one, claims. */
function collect(collecting: Collecting, folder: string): void {
  const { layer, table, entry, found, problems } = collecting;
  try {
    if (layer.system.info(layer.locate(folder.slice(0, -1)))?.kind !== "directory") return;
    for (const { name, kind } of layer.system.list(layer.locate(folder)) ?? []) {
      const path = `${folder}${name}`;
      if (kind === "directory" && entry.path.endsWith("/")) collect(collecting, `${path}/`);
      if (kind !== "file" || table.entryFor(path)?.path !== entry.path || isLock(path) || isAbandoned(name)) continue;
      const info = layer.system.info(layer.locate(path));
      if (info !== undefined) found.push({ path, size: info.size, mtimeMs: info.mtimeMs });
    }
  } catch (error) {
    problems.push({ path: folder, reason: messageOf(error) });
  }
}

/** A lock belongs to whoever holds it, however old it is. */
function isLock(path: string): boolean {
  return isDerivedSpelling(path) && /\.lock(\.[a-z0-9]+)?$/.test(path);
}

function judge(layer: Layer, entry: StateEntry, found: readonly FoundFile[]): readonly CleanTarget[] {
  const { days, keep } = entry.retention ?? {};
  const now = layer.system.now().getTime();
  const newestFirst = [...found].sort(
    (left, right) => right.mtimeMs - left.mtimeMs || (left.path < right.path ? -1 : 1),
  );
  return newestFirst.flatMap(({ path, size, mtimeMs }, index) => {
    const age = (now - mtimeMs) / dayMs;
    const reasons = [
      ...(days !== undefined && age > days ? [`not changed for ${Math.floor(age)} days, kept for ${days}`] : []),
      ...(keep !== undefined && index >= keep ? [`not among the newest ${keep} of ${entry.path}`] : []),
    ];
    if (reasons.length === 0) return [];
    return [{ path, size, why: reasons.join("; "), change: removeChange(layer, path) }];
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
