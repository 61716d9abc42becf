import { resolve } from "node:path";
import type { Durability } from "./appender.ts";
import { readBlob, streamBlob } from "./blobs-file.ts";
import { type BlobPlace, blobInfo, blobPath, hashesIn } from "./blobs-place.ts";
import { type BlobContent, type BlobPut, putBlob, removeBlob } from "./blobs-put.ts";
import { type BlobSweepOptions, type BlobSweepReport, sweepBlobs } from "./blobs-sweep.ts";
import { type BlobProblem, verifyBlobs } from "./blobs-verify.ts";
import type { LockOptions } from "./lock.ts";

/** A folder of blobs. */
export interface BlobsOptions {
  /** The folder; made at the first put. */
  readonly path: string;
  /**
   * The exact permission bits of new blobs; their folders get the same and the right to enter. Left out, `0o644` and
   * `0o755` less the umask.
   */
  readonly mode?: number | undefined;
  /** When a put is acknowledged. Default `"fsync"`. */
  readonly durability?: Durability | undefined;
  /** Default: the path and `.lock`. */
  readonly lockPath?: string | undefined;
  readonly lock?: LockOptions | undefined;
}

/**
 * Contents by their SHA-256 (FIPS 180-4, 64 lower-case hexadecimal digits): one file each, named by its hash, in a folder
 * named by the first two digits. A hash of another form is `BAD_VALUE`; a folder, link or pipe where a blob would be is
 * `REFUSED_PATH`.
 */
export interface Blobs {
  /**
   * Keeps a content, byte for byte, and resolves when it is acknowledged. A stream is hashed while it is written and never
   * held in memory; what it throws passes through. What is there already under its hash is read and compared, its time of
   * change renewed, and never written again. One that holds other bytes than its hash says is moved to
   * `<hash>.corrupt-<timestamp>` and replaced. A failure leaves no temporary file; when only the folder could not be synced,
   * the blob is there, whole, and not acknowledged.
   */
  put(content: BlobContent): Promise<BlobPut>;
  /** The content, or `undefined` when there is none. Throws `DAMAGED` rather than give other bytes than the hash says. */
  get(hash: string): Buffer | undefined;
  /**
   * As {@link Blobs.get}, in pieces of at most 256 KiB. The file is read twice: its whole content is proven before the
   * first piece is given.
   */
  stream(hash: string): AsyncGenerator<Buffer> | undefined;
  /** Is there a file of this hash? Its content is not looked at. */
  has(hash: string): boolean;
  /** The hashes of all blobs, in order. Foreign names are passed over. */
  hashes(): Generator<string>;
  /** Removes a blob, whatever it holds; answers whether it was there. Resolves when that is acknowledged. */
  remove(hash: string): Promise<boolean>;
  /** Reads every blob and gives what is wrong, and every file that does not belong there. Changes nothing. */
  verify(): AsyncGenerator<BlobProblem>;
  /**
   * Removes blobs that are not kept, and temporary files of writers that are gone, each only when it was last put longer
   * ago than the grace. A put of the same content meanwhile wins. Foreign files stay.
   */
  sweep(kept: ReadonlySet<string> | ((hash: string) => boolean), options?: BlobSweepOptions): Promise<BlobSweepReport>;
}

/** Opens a folder of blobs; nothing is read or made yet. */
export function openBlobs(options: BlobsOptions): Blobs {
  const { mode, durability = "fsync", lock = {} } = options;
  const path = resolve(options.path);
  const lockPath = options.lockPath ?? `${path}.lock`;
  const place: BlobPlace = { path, lockPath, lock, mode, durability, synced: new Set() };
  const has = (hash: string): boolean => blobInfo(path, hash) !== undefined;
  return {
    put: (content) => putBlob(place, content),
    get: (hash) => readBlob(blobPath(path, hash), hash),
    stream: (hash) => (has(hash) ? streamBlob(blobPath(path, hash), hash) : undefined),
    has,
    hashes: () => hashesIn(path),
    remove: (hash) => removeBlob(place, hash),
    verify: () => verifyBlobs(path),
    sweep: (kept, sweeping = {}) =>
      sweepBlobs(place, typeof kept === "function" ? kept : (hash) => kept.has(hash), sweeping),
  };
}
