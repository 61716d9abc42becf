import { StoreError } from "./errors.ts";

/**
 * What the caller knows of a file before a change: nothing, that it is absent, its content, or the lower-case hexadecimal
 * SHA-256 of that. Naming the bytes is the cheaper way for who has just read them.
 */
export type Expectation = "any" | "absent" | { readonly sha256: string } | { readonly bytes: string | Uint8Array };

/** Where a change is: a path with forward slashes from `root`, an absolute folder that exists. */
interface Placed {
  readonly root: string;
  readonly path: string;
}

/** Members of a change that may have to make the file's folders. */
interface Filed extends Placed {
  readonly bytes: string | Uint8Array;
  /** The exact permission bits. Left out: those of the file that is there, or `0o644` less the umask. */
  readonly mode?: number;
  /** The exact permission bits of folders that must be made. Default `0o755` less the umask. */
  readonly dirMode?: number;
  /** Write through a symbolic link at the path, provided it leads to a file inside the root. */
  readonly follow?: boolean;
}

/** Replaces a file's whole content. Equal bytes (and mode) are not written. */
export interface WriteChange extends Filed {
  readonly kind: "write";
  readonly expect?: Expectation;
}

/**
 * Adds whole lines to the end of a file; one that does not end in a newline gets it first. The mode is for a file that has
 * to be made; one that is there keeps its own.
 */
export interface AppendChange extends Filed {
  readonly kind: "append";
}

/** Removes a file; nothing when it is not there. A symbolic link is refused unless one of the two members says what is meant. */
export interface RemoveChange extends Placed {
  readonly kind: "remove";
  readonly expect?: Expectation;
  /** Remove the file a link leads to, provided it is inside the root. */
  readonly follow?: boolean;
  /** Remove the link itself. */
  readonly link?: boolean;
}

/** Moves a file, link or folder from `from` (under the same root) to `path`, which must be free. */
export interface RenameChange extends Placed {
  readonly kind: "rename";
  readonly from: string;
  readonly dirMode?: number;
}

/** Makes a folder. One that is there is kept. */
export interface MkdirChange extends Placed {
  readonly kind: "mkdir";
  readonly mode?: number;
  readonly dirMode?: number;
}

/** Makes a symbolic link, or points one that is there elsewhere. The target is written as given and not checked. */
export interface SymlinkChange extends Placed {
  readonly kind: "symlink";
  readonly target: string;
  readonly dirMode?: number;
}

/** Sets the permission bits of a file or folder. */
export interface ChmodChange extends Placed {
  readonly kind: "chmod";
  readonly mode: number;
}

/** One thing to be done to the disk. */
export type Change =
  | WriteChange
  | AppendChange
  | RemoveChange
  | RenameChange
  | MkdirChange
  | SymlinkChange
  | ChmodChange;

/** Changes that are done in this order, all or none. */
export interface Plan {
  readonly changes: readonly Change[];
}

/** One line of {@link listPlan}. */
export interface PlanEntry {
  readonly kind: Change["kind"];
  readonly root: string;
  readonly path: string;
  /** How many bytes are written or added. */
  readonly bytes?: number;
  /** How many lines that is. */
  readonly lines?: number;
  readonly mode?: number;
  readonly target?: string;
  readonly from?: string;
}

/** A plan as data, one entry for each change, in order. */
export function listPlan(plan: Plan): PlanEntry[] {
  return plan.changes.map((change) => {
    const { kind, root, path } = change;
    const mode = "mode" in change && change.mode !== undefined ? { mode: change.mode } : {};
    switch (change.kind) {
      case "write":
      case "append": {
        const bytes = contentOf(change.bytes);
        return { kind, root, path, bytes: bytes.length, lines: countLines(bytes), ...mode };
      }
      case "rename":
        return { kind, root, path, from: change.from };
      case "symlink":
        return { kind, root, path, target: change.target };
      default:
        return { kind, root, path, ...mode };
    }
  });
}

/** A plan for a person, one line for each change; "" for an empty plan. Control characters in names are escaped. */
export function describePlan(plan: Plan): string {
  return listPlan(plan).map(describeEntry).join("\n");
}

/** The bytes of a change's content. */
export function contentOf(bytes: string | Uint8Array): Buffer {
  if (typeof bytes === "string") return Buffer.from(bytes, "utf8");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** An error about a plan that contradicts itself. */
export function badPlan(path: string, reason: string): StoreError {
  return new StoreError("BAD_VALUE", `${path}: ${reason}`, { path });
}

function describeEntry(entry: PlanEntry): string {
  const mode = entry.mode === undefined ? "" : `, mode ${entry.mode.toString(8).padStart(4, "0")}`;
  const path = printable(entry.path);
  switch (entry.kind) {
    case "write":
      return `write ${path} (${amount(entry)}${mode})`;
    case "append":
      return `append ${path} (+${amount(entry)}${mode})`;
    case "rename":
      return `rename ${printable(entry.from ?? "")} -> ${path}`;
    case "symlink":
      return `symlink ${path} -> ${printable(entry.target ?? "")}`;
    case "remove":
    case "mkdir":
    case "chmod":
      return `${entry.kind} ${path}${mode === "" ? "" : ` (${mode.slice(2)})`}`;
  }
}

function amount({ lines = 0, bytes = 0 }: PlanEntry): string {
  return `${lines} ${lines === 1 ? "line" : "lines"}, ${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
}

function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}

/** Lines as an editor counts them: the last one counts without its newline too. */
function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 0x0a) lines += 1;
  return bytes.length > 0 && bytes.at(-1) !== 0x0a ? lines + 1 : lines;
}
