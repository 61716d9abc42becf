import { isDerivedSpelling, type StateEntry, type StateGroup, type StateTable } from "@reeve/store/table";
import { join } from "../layer/home.ts";
import type { Layer } from "../layer/layer.ts";
import type { FileInfo } from "../system/port.ts";
import { outsideFolders } from "./outside.ts";

/** Something in the layer, as it lies on the disk. */
export interface SurveyedFile {
  /** From the repository root, as the table names it. */
  readonly path: string;
  readonly entry: StateEntry | undefined;
  readonly group: StateGroup | undefined;
  /** A lock, index, copy or temporary file of another one. */
  readonly isDerived: boolean;
  readonly info: FileInfo;
}

/** Every file of both halves of the layer, by path in code-unit order. Links are listed and not followed. */
export function listFiles(layer: Layer, table: StateTable): readonly SurveyedFile[] {
  const found: SurveyedFile[] = [];
  const walk = (folder: string): void => {
    for (const name of layer.list(`${folder}/`)) {
      const path = `${folder}/${name}`;
      if (path === ".ai/local") continue;
      const info = layer.system.info(layer.locate(path));
      if (info?.kind === "directory") walk(path);
      else if (info !== undefined) found.push(surveyed(table, path, info));
    }
  };
  walk(".ai");
  walk(".ai/local");
  return found.sort((left, right) => (left.path < right.path ? -1 : 1));
}

function surveyed(table: StateTable, path: string, info: FileInfo): SurveyedFile {
  const { entry, group } = table.explain(path);
  const declared = entry === undefined ? undefined : table.entryFor(entry);
  return { path, entry: declared, group, isDerived: isDerivedSpelling(path), info };
}

/** Every file in the folders Reeve keeps outside the layer, by its path on this machine; of the homes, only their folder. */
export function listOutside({ system, repository }: Pick<Layer, "system" | "repository">): readonly SurveyedFile[] {
  return outsideFolders.flatMap(({ table, locate }) => {
    const root = locate(system, repository);
    const found: SurveyedFile[] = [];
    const walk = (folder: string): void => {
      for (const { name } of system.list(join(root, folder)) ?? []) {
        const path = `${folder}${name}`;
        if (path === "checkouts") continue;
        const info = system.info(join(root, path));
        if (info?.kind === "directory") walk(`${path}/`);
        else if (info !== undefined) found.push({ ...surveyed(table, path, info), path: join(root, path) });
      }
    };
    walk("");
    return found;
  });
}
