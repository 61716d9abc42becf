import type { Place } from "./rooted.ts";

/** What a step found before it and may therefore replace. */
export type Before =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly checksum: string }
  | { readonly kind: "directory"; readonly inode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "mode"; readonly mode: number };

interface Base {
  readonly place: Place;
  /** Known where the path is free, and always once the plan is journalled; a single step needs none. */
  readonly before?: Before;
}

interface Making extends Base {
  readonly mode?: number;
  /** Permission bits of folders that have to be made. */
  readonly dirMode?: number;
}

export interface WriteStep extends Making {
  readonly kind: "write";
  readonly bytes: Uint8Array;
  /** The file is one that is appended to: it may have more lines by now and still be done. */
  readonly grows?: boolean;
}

export interface AppendStep extends Base {
  readonly kind: "append";
  readonly bytes: Uint8Array;
  /** The file's size before; the bytes go there and nowhere else. */
  readonly offset: number;
  /** The checksum of the bytes just before the offset: tells this file from another. Known once the plan is journalled. */
  readonly anchor?: string;
}

export interface RemoveStep extends Base {
  readonly kind: "remove";
}

export interface RenameStep extends Making {
  readonly kind: "rename";
  readonly from: Place;
}

export interface MkdirStep extends Making {
  readonly kind: "mkdir";
}

export interface SymlinkStep extends Making {
  readonly kind: "symlink";
  readonly target: string;
}

export interface ChmodStep extends Base {
  readonly kind: "chmod";
  readonly mode: number;
}

/** One effect on the disk, independent of every other of its plan but for the order. */
export type Step = WriteStep | AppendStep | RemoveStep | RenameStep | MkdirStep | SymlinkStep | ChmodStep;
