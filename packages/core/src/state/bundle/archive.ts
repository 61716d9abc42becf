import { createGunzip, createGzip, type Gunzip, type Gzip } from "node:zlib";
import { Header, Parser, Pax, type ReadEntry } from "tar";

/** A file on its way into an archive. */
export interface ArchivedFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** Exactly `size` bytes. */
  readonly pieces: Iterable<Uint8Array>;
}

/** What an archive says from its beginning to its end; `kind` of an entry is what tar calls it. */
export type ArchiveEvent =
  | {
      readonly type: "entry";
      readonly path: string;
      readonly kind: string;
      readonly size: number;
      readonly mode: number;
    }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | { readonly type: "end" };

/** How far an archive may swell. */
export interface Swelling {
  readonly ratio: number;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** What is wrong with an archive, in words that follow its name. */
class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

const block = 512;

/** A gzip tar of the files in their order, in pieces. */
export function packArchive(files: Iterable<ArchivedFile>, modified: Date): AsyncGenerator<Uint8Array> {
  return pump(renderTar(files, modified), createGzip({ level: 6 }));
}

function* renderTar(files: Iterable<ArchivedFile>, modified: Date): Generator<Uint8Array> {
  for (const file of files) {
    yield renderHeader(file, modified);
    yield* file.pieces;
    const rest = file.size % block;
    if (rest > 0) yield Buffer.alloc(block - rest);
  }
  yield Buffer.alloc(2 * block);
}

function renderHeader({ path, size, mode }: ArchivedFile, mtime: Date): Uint8Array {
  const members = { path, size, mode, mtime, type: "File" } as const;
  const header = Buffer.alloc(block);
  const needsMore = new Header(members).encode(header, 0);
  return needsMore ? Buffer.concat([new Pax({ path, size }).encode(), header]) : header;
}

/**
 * Reads a gzip tar in pieces.
 * @throws ArchiveError when it is truncated, damaged, no archive, or swells more than is allowed.
 */
export async function* readArchive(
  packed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  allowed: Swelling,
): AsyncGenerator<ArchiveEvent> {
  let packedBytes = 0;
  let bytes = 0;
  const counted = counting(packed, (count) => {
    packedBytes += count;
  });
  const reader = openTar();
  try {
    for await (const piece of pump(counted, createGunzip())) {
      if (bytes === 0) refuseNested(piece);
      bytes += piece.length;
      refuseSwelling(bytes, packedBytes, allowed);
      yield* reader.write(piece);
    }
  } catch (error) {
    throw archiveErrorOf(error);
  }
  yield* reader.end();
}

/** The parser would unpack an archive in an archive, and nobody would count. */
function refuseNested(piece: Uint8Array): void {
  if (piece.length < 2 || (piece[0] === 0x1f && piece[1] === 0x8b) || (piece[0] === 0x28 && piece[1] === 0xb5)) {
    throw new ArchiveError("holds no tar archive");
  }
}

function refuseSwelling(bytes: number, packedBytes: number, { ratio, freeBytes, totalBytes }: Swelling): void {
  if (bytes > totalBytes) throw new ArchiveError(`unpacks to more than ${totalBytes} bytes`);
  if (bytes > freeBytes && bytes > ratio * packedBytes) {
    throw new ArchiveError(`unpacks to more than ${ratio} times its size`);
  }
}

async function* counting(
  packed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of packed) {
    count(piece.length);
    yield piece;
  }
}

const zlibSays: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "is truncated",
  Z_DATA_ERROR: "is damaged",
};

function archiveErrorOf(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const says = zlibSays[code];
  return says === undefined ? error : new ArchiveError(says);
}

interface TarReader {
  write(piece: Uint8Array): readonly ArchiveEvent[];
  end(): readonly ArchiveEvent[];
}

function openTar(): TarReader {
  let events: ArchiveEvent[] = [];
  let failure: Error | undefined;
  const parser = new Parser({ strict: true, maxMetaEntrySize: 1 << 16 });
  const fail = (message: string): void => {
    failure ??= new ArchiveError(message);
  };
  parser.on("error", (error: Error) =>
    fail(/truncated/i.test(error.message) ? "is truncated" : `is damaged (${error.message})`),
  );
  parser.on("ignoredEntry", (entry: ReadEntry) => fail(`${entry.path} is of a kind no bundle holds`));
  parser.on("entry", (entry: ReadEntry) => {
    const { path, type: kind, size, mode = 0 } = entry;
    events.push({ type: "entry", path, kind, size, mode });
    entry.on("data", (bytes: Uint8Array) => events.push({ type: "bytes", bytes }));
    entry.on("end", () => events.push({ type: "end" }));
  });
  const taken = (): readonly ArchiveEvent[] => {
    if (failure !== undefined) throw failure;
    const ready = events;
    events = [];
    return ready;
  };
  return {
    write(piece) {
      parser.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      return taken();
    },
    end() {
      parser.end();
      return taken();
    },
  };
}

/** Sends pieces through a stream of zlib, no faster than the result is taken. */
async function* pump(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  through: Gzip | Gunzip,
): AsyncGenerator<Uint8Array> {
  const fed = feed(pieces, through);
  fed.catch((error: unknown) => through.destroy(error instanceof Error ? error : new Error(String(error))));
  try {
    for await (const piece of through) yield piece as Uint8Array;
    await fed;
  } finally {
    through.destroy();
  }
}

async function feed(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, through: Gzip | Gunzip): Promise<void> {
  let goOn = (): void => {};
  for (const event of ["drain", "close"]) through.on(event, () => goOn());
  for await (const piece of pieces) {
    if (through.destroyed) return;
    const isReady = through.write(piece);
    if (isReady || through.destroyed) continue;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
  }
  if (!through.destroyed) through.end();
}
