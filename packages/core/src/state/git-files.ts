import type { StateTable } from "@reeve/store/table";

type Table = Pick<StateTable, "trackedEntries" | "ignoredRoots">;

/**
 * The lines of `.gitignore` that the table asks for: each ignored folder, or the widest one around it in which nothing is
 * tracked. Without a slash at their end: with one, git would not ignore a link.
 */
export function ignoreLinesOf({ trackedEntries, ignoredRoots }: Table): readonly string[] {
  const widest = (path: string): string => {
    const above = path.slice(0, path.lastIndexOf("/"));
    const isShared = !above.includes("/") || trackedEntries.some((entry) => entry.path.startsWith(`${above}/`));
    return isShared ? path : widest(above);
  };
  return [...new Set(ignoredRoots.map((root) => `/${widest(root.replace(/\/$/, ""))}`))];
}

/** The lines of `.gitattributes` that the table asks for: a tracked store or log keeps its line ends in every checkout. */
export function attributeLinesOf({ trackedEntries }: Table): readonly string[] {
  return trackedEntries
    .filter(({ holds }) => holds === "store" || holds === "log")
    .map(({ path }) => `/${path} text eol=lf`);
}
