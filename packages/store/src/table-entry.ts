/** What may happen to a file when state leaves the machine; there is no default. */
export type Portability = "carry" | "derived" | "identity" | "secret";

/** The five classes; an entry's follows from its members and is never written down. */
export type StateGroup = "config" | "records" | "local" | "identity" | "secrets";

/** What the janitor may remove. Only on `derived` entries. */
export interface Retention {
  /** Files not changed for this many days. */
  readonly days?: number;
  /** All but the newest so many. */
  readonly keep?: number;
}

/** One declared file, directory (its path ends in `/`) or family of names (`name.*`). */
export interface StateEntry {
  /** From the root, with forward slashes. */
  readonly path: string;
  /** What it is, in one sentence for a person. */
  readonly purpose: string;
  /** Why it is what it is. */
  readonly because: string;
  /** The part of the program that may build its path. */
  readonly owner: string;
  /** Who writes it. */
  readonly writer: string;
  readonly holds: "store" | "log" | "document" | "markdown" | "blobs" | "directory" | "link";
  /** The member that is the key of a store's entries. On every `store`, and on nothing else. */
  readonly key?: string;
  readonly portability: Portability;
  /** Whether worktrees share it. */
  readonly scope: "repository" | "checkout" | "home";
  /** The query keys of the page that it feeds. Empty needs `why`, and only then is `why` allowed. */
  readonly invalidates: readonly string[];
  readonly why?: string;
  /** Tracked by git and reviewed. Only on `carry`. */
  readonly versioned?: true;
  /** Text a search should find, tracked or not. Only on `carry`. */
  readonly authored?: true;
  /** The kind of record a search knows it under. */
  readonly search?: string;
  /** Narrows `carry`: only when asked for, or never. */
  readonly travels?: "with-prompts" | "never";
  /** Opts out of backup. */
  readonly backup?: false;
  /** Refused by the file API although its class is not. */
  readonly locked?: true;
  /** Too much to watch. */
  readonly bulk?: true;
  readonly retention?: Retention;
  /** An instruction for the person at import time. */
  readonly note?: string;
}

/** The folders (ending in `/`) and files in which each class lies; none belongs to two. */
export type GroupRoots = Readonly<Record<StateGroup, readonly string[]>>;

/** The class of an entry: a secret is a secret whatever else it is. */
export function groupOfEntry(entry: Pick<StateEntry, "portability" | "versioned" | "authored">): StateGroup {
  switch (entry.portability) {
    case "secret":
      return "secrets";
    case "identity":
      return "identity";
    case "derived":
      return "local";
    case "carry":
      return entry.versioned === true || entry.authored === true ? "config" : "records";
  }
}
