import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { isTestFile, readFolders, readTree } from "../source/tree.ts";

const built = { launcher: "packages/cli/bin/reeve.cjs", folder: "packages/cli/dist" };

/** Is a part of the build missing, or a source newer than everything the build made? */
export function needsBuild(root: string): boolean {
  if (!existsSync(join(root, built.launcher)) || !existsSync(join(root, built.folder))) return true;
  const outputs = readTree(join(root, built.folder), "").map((path) => join(root, built.folder, path));
  return newest(readSources(root)) > newest(outputs);
}

// The folders count too: only they show that a file was removed or renamed.
function readSources(root: string): string[] {
  const trees = ["packages", "share"];
  const files = trees.flatMap((folder) => readTree(root, folder)).filter((path) => !isTestFile(path));
  const folders = trees
    .flatMap((folder) => readFolders(root, folder))
    .filter((path) => /^share|\/src(\/|$)/.test(path));
  return [...files, ...folders, "package-lock.json", "tools/build.ts", "tools/library/declarations.ts"]
    .filter((path) => path !== built.launcher && existsSync(join(root, path)))
    .map((path) => join(root, path));
}

function newest(paths: readonly string[]): number {
  return paths.reduce((latest, path) => Math.max(latest, statSync(path).mtimeMs), 0);
}
