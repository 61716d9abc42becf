import { isDerivedSpelling, type StateEntry, type StateGroup, type StateTable } from "@reeve/store/table";
import type { Layer } from "../layer/layer.ts";
import type { FileInfo, FileKind } from "../system/port.ts";

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
  return listNames(layer)
    .flatMap(({ path }) => surveyAt(layer, table, path) ?? [])
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** A name in the layer that is no folder. */
export interface LayerName {
  /** From the repository root. */
  readonly path: string;
  readonly kind: FileKind;
}

/** Names and kinds alone, which cost one call a folder and none a file. */
export function listNames(layer: Layer): readonly LayerName[] {
  const found: LayerName[] = [];
  const walk = (folder: string): void => {
    for (const { name, kind } of layer.system.list(layer.locate(`${folder}/`)) ?? []) {
      const path = `${folder}/${name}`;
      if (path === ".ai/local") continue;
      if (kind === "directory") walk(path);
      else found.push({ path, kind });
    }
  };
  walk(".ai");
  walk(".ai/local");
  return found;
}

/** What lies at a path of the layer, and what the table knows of it; `undefined` where nothing does. */
export function surveyAt(layer: Layer, table: StateTable, path: string): SurveyedFile | undefined {
  const info = layer.system.info(layer.locate(path));
  return info === undefined ? undefined : surveyed(table, path, info);
}

/** What the table knows of something at a path of its own. */
export function surveyed(table: StateTable, path: string, info: FileInfo): SurveyedFile {
  const isDerived = isDerivedSpelling(path);
  const claim = isDerived ? table.explain(path).entry : path;
  return {
    path,
    entry: claim === undefined ? undefined : table.entryFor(claim),
    group: table.groupOf(path),
    isDerived,
    info,
  };
}
