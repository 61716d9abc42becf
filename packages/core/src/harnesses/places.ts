import { isAbsolute, join } from "node:path";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import type { Harness, RuleTarget } from "./harness.ts";

/** Where a harness is looked at: one project, or the user's own folder of it. */
export type HarnessPlace = { readonly scope: "global" } | { readonly scope: "project"; readonly root: AbsPath };

/** The product's own folder of this user; `undefined` without a HOME and without the product's variable. */
export function harnessFolder(system: System, { folder }: Harness): AbsPath | undefined {
  const named = folder.variable === undefined ? undefined : system.env[folder.variable];
  if (named !== undefined && isAbsolute(named)) return named as AbsPath;
  const home = system.env["HOME"];
  return home === undefined || !isAbsolute(home) ? undefined : (join(home, folder.path) as AbsPath);
}

/** Is the product used here: does it run the program, or has the user a folder of it? */
export function isDetected(system: System, harness: Harness): boolean {
  if (harness.variables.some((name) => (system.env[name] ?? "") !== "")) return true;
  const folder = harnessFolder(system, harness);
  return folder !== undefined && system.info(folder)?.kind === "directory";
}

/** The folder paths of a target are from; `undefined` where the harness has none at this scope. */
export function anchorOf(system: System, harness: Harness, place: HarnessPlace): AbsPath | undefined {
  return place.scope === "project" ? place.root : harnessFolder(system, harness);
}

/** The file of a source's rule lines, from the target's anchor, with forward slashes. */
export function ruleFileOf(
  system: System,
  anchor: AbsPath,
  { target, slug }: { readonly target: RuleTarget; readonly slug: string },
): string {
  if (target.kind === "folder") return `${target.folder}/${target.fileName.replace("{{slug}}", slug)}`;
  const isRead = (name: string): boolean => {
    const real = system.realPath(join(anchor, name) as AbsPath);
    if (real === undefined || system.info(real)?.kind !== "file") return false;
    return target.skipsEmpty !== true || (system.readText(real) ?? "").trim() !== "";
  };
  return target.names.find(isRead) ?? target.makes;
}

/** Front matter of a file of its own, without line ends; `undefined` where the harness knows no files for some paths. */
export function frontMatterOf(
  target: RuleTarget & { kind: "folder" },
  paths: readonly string[],
): readonly string[] | undefined {
  const form = paths.length === 0 ? target.always : target.scoped;
  if (form === undefined) return paths.length === 0 ? [] : undefined;
  const fields = Object.entries(form.fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  if (paths.length === 0 || target.scoped === undefined) return ["---", ...fields, "---"];
  const { pathsKey, pathsAs } = target.scoped;
  const listed =
    pathsAs === "list"
      ? [`${pathsKey}:`, ...paths.map((path) => `  - ${JSON.stringify(path)}`)]
      : [`${pathsKey}: ${JSON.stringify(paths.join(","))}`];
  return ["---", ...fields, ...listed, "---"];
}
