import { StoreError } from "./errors.ts";
import {
  type GroupRoots,
  groupOfEntry,
  type Portability,
  type Retention,
  type StateEntry,
  type StateGroup,
} from "./table-entry.ts";
import { explainPath, type StateExplanation } from "./table-explain.ts";
import { problemsOfContribution } from "./table-extend.ts";
import { foldPath, loosePath, originalOf } from "./table-paths.ts";
import { problemsOf } from "./table-rules.ts";

export { cacheDirFor, stateDirFor } from "./table-tool.ts";
export {
  type GroupRoots,
  groupOfEntry,
  type Portability,
  type Retention,
  type StateEntry,
  type StateExplanation,
  type StateGroup,
};

/** What follows from an entry's class. */
export interface StateTraits {
  readonly group: StateGroup;
  readonly tracked: boolean;
  readonly searched: boolean;
  readonly backedUp: boolean;
  readonly carried: "yes" | "with-prompts" | "with-secrets" | "never";
  readonly locked: boolean;
  readonly watched: boolean;
  readonly cleaned: boolean;
}

/** A declared table. `Path` is the union of its literal paths. */
export interface StateTable<Path extends string = string> {
  readonly entries: readonly (StateEntry & { readonly path: Path })[];
  readonly roots: GroupRoots;
  /** The entries git tracks. */
  readonly trackedEntries: readonly (StateEntry & { readonly path: Path })[];
  /** The folders and files git ignores: every class's but *config*, and what *config* does not track. */
  readonly ignoredRoots: readonly string[];
  /** The entry declared under exactly this path. */
  entry(path: Path): StateEntry & { readonly path: Path };
  /**
   * The entry that claims a path: the file itself, else its family, else the nearest directory around it; also asked about
   * a directory without its slash. Separators and `..` are folded.
   */
  entryFor(path: string): (StateEntry & { readonly path: Path }) | undefined;
  /**
   * The class of a path: its entry's; for a derived spelling (lock, index, damaged lines, last good copy, quarantine,
   * temporary file) that of its file; else its folder's. `undefined` outside all roots.
   */
  groupOf(path: string): StateGroup | undefined;
  /** What follows for an entry. */
  traitsOf(entry: StateEntry): StateTraits;
  /**
   * Must the file API and search refuse the path? Everything in *identity* and *secrets*, declared or not, what is
   * `locked`, with its derived spellings; the root's own `.git`; what climbs out of the root. However it is spelled.
   */
  isLocked(path: string): boolean;
  /** Is the path locked and yet reviewed as a difference: tracked by git, and refused by the file API only? */
  isReviewable(path: string): boolean;
  /**
   * The query keys that changes of these paths make stale: the union over every entry a path lies in, each once. No path at
   * all means that anything may have changed: every key there is.
   */
  staleQueryKeys(paths: readonly string[]): readonly string[];
  /** Everything that follows for one path, declared or not. */
  explain(path: string): StateExplanation;
  /**
   * The table with entries a repository contributes. Throws `BAD_VALUE`, listing all that is wrong: what `defineStateTable`
   * refuses, an entry in or around one of the table's own, one as broad as a class, one in *identity* or *secrets*.
   */
  extended(entries: readonly StateEntry[]): StateTable;
}

/** Is the path a lock, index, copy or temporary file of another one? */
export function isDerivedSpelling(path: string): boolean {
  return originalOf(path) !== undefined;
}

/**
 * Declares every state file once. Throws `BAD_VALUE`, listing all that is wrong: a path outside its class's roots or
 * declared twice, `why` where something is invalidated or not where nothing is, a versioned secret, and the like.
 */
export function defineStateTable<const Entry extends StateEntry>(options: {
  readonly roots: GroupRoots;
  readonly entries: readonly Entry[];
}): StateTable<Entry["path"]> {
  const { roots, entries } = options;
  const problems = problemsOf(roots, entries);
  if (problems.length > 0) {
    throw contradiction(problems);
  }
  const claims = indexOf(entries, (path) => path);
  let loose: Loose | undefined;
  const isLocked = (path: string): boolean => {
    loose ??= {
      claims: indexOf(entries, loosePath),
      roots: groupNames.flatMap((group) => roots[group].map((root) => ({ group, root: loosePath(root) }))),
    };
    return isLockedPath(path, loose);
  };
  const table: StateTable<Entry["path"]> = {
    entries,
    roots,
    trackedEntries: entries.filter((entry) => entry.versioned === true),
    ignoredRoots: [
      ...groupNames.flatMap((group) => (group === "config" ? [] : roots[group])),
      ...entries
        .filter((entry) => groupOfEntry(entry) === "config" && entry.versioned !== true)
        .map(({ path }) => path),
    ],
    entry: (path) => declared(entries, path),
    entryFor: (path) => claimOf(claims, foldPath(path)),
    groupOf: (path) => groupOfPath(path, claims, roots),
    traitsOf,
    isLocked,
    isReviewable: (path) => isLocked(path) && claimOf(claims, foldPath(path))?.versioned === true,
    staleQueryKeys: (paths) => staleKeysOf(entries, paths),
    explain: (path) => explainPath(table, path),
    extended: (contributed) => {
      const refused = problemsOfContribution(entries, contributed, roots);
      if (refused.length > 0) throw contradiction(refused);
      return defineStateTable({ roots, entries: [...entries, ...contributed] });
    },
  };
  return table;
}

function contradiction(problems: readonly string[]): StoreError {
  return new StoreError("BAD_VALUE", `the state table contradicts itself: ${problems.join("; ")}`, {
    details: { problems },
  });
}

/** Invalidation is the union of all entries a path lies in; a lock or temporary file of one invalidates nothing. */
function staleKeysOf(entries: readonly StateEntry[], paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [...new Set(entries.flatMap(({ invalidates }) => invalidates))];
  const folded = paths.map(foldPath).filter((path) => path !== undefined && originalOf(path) === undefined);
  const stale = entries.filter(({ path }) => folded.some((changed) => changed !== undefined && covers(path, changed)));
  return [...new Set(stale.flatMap(({ invalidates }) => invalidates))];
}

/** Does an entry's path claim the changed one: the file, a family's member, or something in the folder? */
function covers(entry: string, path: string): boolean {
  if (entry.endsWith("/")) return path === entry.slice(0, -1) || path.startsWith(entry);
  if (!entry.endsWith(".*")) return path === entry;
  const stem = entry.slice(0, -1);
  return path.startsWith(stem) && path.length > stem.length && !path.slice(stem.length).includes("/");
}

const groupNames: readonly StateGroup[] = ["config", "records", "local", "identity", "secrets"];

/** Entries by their path; a directory's without its slash, a family's without its star. */
interface Claims<Entry> {
  readonly files: ReadonlyMap<string, Entry>;
  readonly directories: ReadonlyMap<string, Entry>;
  readonly families: ReadonlyMap<string, Entry>;
}

function indexOf<Entry extends StateEntry>(entries: readonly Entry[], spell: (path: string) => string): Claims<Entry> {
  const files = new Map<string, Entry>();
  const directories = new Map<string, Entry>();
  const families = new Map<string, Entry>();
  for (const entry of entries) {
    if (entry.path.endsWith("/")) directories.set(spell(entry.path.slice(0, -1)), entry);
    else if (entry.path.endsWith(".*")) families.set(spell(entry.path.slice(0, -2)), entry);
    else files.set(spell(entry.path), entry);
  }
  return { files, directories, families };
}

function claimOf<Entry>({ files, directories, families }: Claims<Entry>, path: string | undefined): Entry | undefined {
  if (path === undefined) return undefined;
  const file = files.get(path) ?? directories.get(path);
  if (file !== undefined) return file;
  const name = path.lastIndexOf("/") + 1;
  for (let dot = path.lastIndexOf("."); dot > name; dot = path.lastIndexOf(".", dot - 1)) {
    const family = dot < path.length - 1 ? families.get(path.slice(0, dot)) : undefined;
    if (family !== undefined) return family;
  }
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
    const directory = directories.get(path.slice(0, slash));
    if (directory !== undefined) return directory;
  }
  return undefined;
}

function declared<Entry extends StateEntry>(entries: readonly Entry[], path: Entry["path"]): Entry {
  const entry = entries.find((candidate) => candidate.path === path);
  if (entry === undefined) throw new StoreError("BAD_VALUE", `${path}: is not in the state table`);
  return entry;
}

function groupOfPath(path: string, claims: Claims<StateEntry>, roots: GroupRoots): StateGroup | undefined {
  const folded = foldPath(path);
  if (folded === undefined) return undefined;
  const entry = claimOf(claims, folded) ?? claimOf(claims, originalOf(folded));
  if (entry !== undefined) return groupOfEntry(entry);
  return groupNames.find((group) => roots[group].some((root) => liesIn(root, folded)));
}

function traitsOf(entry: StateEntry): StateTraits {
  const group = groupOfEntry(entry);
  const isPrivate = group === "identity" || group === "secrets";
  return {
    group,
    tracked: entry.versioned === true,
    searched: group === "config" || (group === "records" && entry.search !== undefined),
    backedUp: group !== "local" && group !== "secrets" && entry.backup !== false,
    carried: carriedOf(entry, group),
    locked: isPrivate || entry.locked === true,
    watched: group !== "local" && entry.bulk !== true,
    cleaned: group === "local",
  };
}

function carriedOf(entry: StateEntry, group: StateGroup): StateTraits["carried"] {
  if (group === "secrets") return "with-secrets";
  if (group === "local" || group === "identity") return "never";
  return entry.travels ?? "yes";
}

/** Entries and roots as the most forgiving file system spells them. */
interface Loose {
  readonly claims: Claims<StateEntry>;
  readonly roots: readonly { readonly group: StateGroup; readonly root: string }[];
}

function isLockedPath(path: string, { claims, roots }: Loose): boolean {
  const folded = foldPath(path);
  if (folded === undefined) return true;
  const loose = loosePath(folded);
  if (loose === ".git" || loose.startsWith(".git/")) return true;
  const original = originalOf(loose);
  for (const spelling of original === undefined ? [loose] : [loose, original]) {
    const entry = claimOf(claims, spelling);
    if (entry !== undefined && traitsOf(entry).locked) return true;
    const within = roots.filter(({ root }) => liesIn(root, spelling));
    if (within.some(({ group }) => group === "identity" || group === "secrets")) return true;
  }
  return false;
}

function liesIn(root: string, path: string): boolean {
  return root.endsWith("/") ? path === root.slice(0, -1) || path.startsWith(root) : path === root;
}
