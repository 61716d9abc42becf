import { ReeveError } from "../../findings/errors.ts";
import type { System } from "../../system/port.ts";
import type { ClaimedFile, StateTree } from "./tree.ts";

/** What a file held at one moment. */
export interface Measured {
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly mode: number;
}

/** How often a file that changes while it is read is read again. */
export const tries = 3;

/**
 * Measures a file that others may be writing to; lines added meanwhile do not count. `undefined` when it is gone.
 * @throws ReeveError CONFLICT, naming the file, when it does not hold still
 */
export function measureFile(system: System, tree: StateTree, { path, entry }: ClaimedFile): Measured | undefined {
  const where = tree.locate(path);
  const grows = entry.holds === "log" || entry.holds === "store";
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const before = system.info(where);
    if (before === undefined) return undefined;
    const { bytes, sha256 } = hashPieces(system, system.readPieces(where, before.size));
    const after = system.info(where);
    const isStill = after?.mtimeMs === before.mtimeMs || (grows && (after?.size ?? 0) >= before.size);
    if (after?.inode === before.inode && isStill && bytes === before.size) {
      return { size: bytes, sha256, mode: before.mode & 0o777 };
    }
  }
  throw unsteady(path);
}

export function unsteady(path: string): ReeveError {
  return new ReeveError("CONFLICT", `${path}: changed each of the ${tries} times it was read; nothing was written`, {
    hint: "run the command again when nothing writes to it",
    details: { path },
  });
}

export function hashPieces(
  system: System,
  pieces: Iterable<Uint8Array>,
): { readonly bytes: number; readonly sha256: string } {
  const hash = system.beginHash();
  let bytes = 0;
  for (const piece of pieces) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: hash.digest() };
}
