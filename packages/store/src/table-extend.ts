import { type GroupRoots, groupOfEntry, type StateEntry } from "./table-entry.ts";
import { loosePath } from "./table-paths.ts";

/**
 * Why entries that a repository contributes may not join a table, one sentence each: they lie beside the table's own entries,
 * never in one or around one, below a class's folder, and in no class that is locked.
 */
export function problemsOfContribution(
  own: readonly StateEntry[],
  contributed: readonly StateEntry[],
  roots: GroupRoots,
): string[] {
  const allRoots = Object.values(roots).flat().map(loosePath);
  return contributed.flatMap((entry) => {
    const path = loosePath(entry.path);
    const group = groupOfEntry(entry);
    const problems: string[] = [];
    if (group === "secrets" || group === "identity")
      problems.push(`is of the class ${group}, which nobody may contribute to`);
    if (allRoots.some((root) => root === path || root.startsWith(asFolder(path))))
      problems.push("is as broad as a class");
    // An entry for a whole class claims what no other does.
    const near = own.find((other) => !allRoots.includes(loosePath(other.path)) && touches(loosePath(other.path), path));
    if (near !== undefined) problems.push(`lies in or around ${near.path}, which is declared already`);
    return problems.map((problem) => `${entry.path} ${problem}`);
  });
}

function touches(own: string, path: string): boolean {
  return own === path || path.startsWith(asFolder(own)) || own.startsWith(asFolder(path));
}

function asFolder(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}
