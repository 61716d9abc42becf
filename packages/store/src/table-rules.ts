import { type GroupRoots, groupOfEntry, type StateEntry, type StateGroup } from "./table-entry.ts";
import { foldPath, loosePath } from "./table-paths.ts";

/** Everything that is wrong with a table, one sentence each. */
export function problemsOf(roots: GroupRoots, entries: readonly StateEntry[]): string[] {
  const problems = problemsOfRoots(roots);
  const seen = new Set<string>();
  for (const entry of entries) {
    const group = groupOfEntry(entry);
    const found = [...problemsOfPath(entry.path), ...problemsOfMembers(entry, group)];
    if (!roots[group].some((root) => liesUnder(root, entry.path))) found.push(`lies under no root of ${group}`);
    if (seen.has(loosePath(entry.path))) found.push("is declared twice");
    seen.add(loosePath(entry.path));
    problems.push(...found.map((problem) => `${entry.path} ${problem}`));
  }
  return problems;
}

function problemsOfRoots(roots: GroupRoots): string[] {
  const all = Object.entries(roots).flatMap(([group, paths]) => paths.map((path) => ({ group, path })));
  return all.flatMap(({ group, path }) => {
    const others = all.filter((other) => other.group !== group && liesUnder(other.path, path));
    return [
      ...problemsOfPath(path).map((problem) => `root ${path} ${problem}`),
      ...others.map((other) => `root ${path} of ${group} lies in ${other.path} of ${other.group}`),
    ];
  });
}

function problemsOfPath(path: string): string[] {
  const plain = path.endsWith("/") ? path.slice(0, -1) : path;
  if (plain === "" || foldPath(plain) !== plain) return ["is no path of plain names with forward slashes"];
  const stem = plain.endsWith(".*") ? plain.slice(0, -2) : plain;
  if (/[*?[\]\0]/.test(stem) || stem.endsWith("/") || (plain !== path && stem !== plain)) {
    return ["has a pattern in it; only a family, name.*, is one"];
  }
  return [];
}

function problemsOfMembers(entry: StateEntry, group: StateGroup): string[] {
  const { portability, holds, path } = entry;
  const isCarried = portability === "carry";
  const problems: string[] = [];
  const refuse = (wrong: boolean, problem: string): void => {
    if (wrong) problems.push(problem);
  };
  for (const member of ["purpose", "because", "owner", "writer"] as const) {
    refuse(entry[member].trim() === "", `has no ${member}`);
  }
  const hasWhy = entry.why !== undefined;
  refuse(entry.invalidates.length === 0 && (entry.why ?? "").trim() === "", "invalidates nothing and does not say why");
  refuse(entry.invalidates.length > 0 && hasWhy, "invalidates something and has a why");
  refuse(entry.versioned === true && !isCarried, `is versioned and ${portability}`);
  refuse(entry.authored === true && !isCarried, `is authored and ${portability}`);
  refuse(entry.travels !== undefined && !isCarried, `narrows how it travels and is ${portability}`);
  refuse(entry.retention !== undefined && portability !== "derived", `has a retention and is ${portability}`);
  refuse(entry.backup === false && (group === "local" || group === "secrets"), "is in no backup to opt out of");
  refuse(entry.search !== undefined && group !== "config" && group !== "records", `is searched and ${portability}`);
  refuse(
    (holds === "store") !== (entry.key !== undefined),
    `holds ${holds} and ${entry.key === undefined ? "names no" : "names a"} key`,
  );
  refuse((holds === "directory" || holds === "blobs") && !path.endsWith("/"), `holds ${holds} and does not end in /`);
  refuse(holds === "link" && path.endsWith("/"), "is a link and ends in /");
  return problems;
}

function liesUnder(root: string, path: string): boolean {
  return path === root || (root.endsWith("/") && path.startsWith(root));
}
