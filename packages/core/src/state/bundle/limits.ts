/**
 * What an import takes at most (docs/reference/bundle.md). An export refuses what would not come in again.
 */
export const limits: Readonly<
  Record<"files" | "manifestBytes" | "totalBytes" | "ratio" | "freeBytes" | "heldBytes", number>
> = {
  files: 200_000,
  manifestBytes: 64 * 1024 ** 2,
  /** Of all files together, unpacked. */
  totalBytes: 16 * 1024 ** 3,
  /** Unpacked bytes for each packed one, once the first `freeBytes` are unpacked. */
  ratio: 200,
  freeBytes: 64 * 1024 ** 2,
  /** Contents held in memory by one import: lines to be joined, and tracked files. */
  heldBytes: 128 * 1024 ** 2,
};

/** Contents longer than this are staged and moved into place rather than held. */
export const heldFileBytes: number = 1024 ** 2;
