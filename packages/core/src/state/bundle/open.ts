import type { ArchiveEvent } from "./archive.ts";
import { type BundleSource, openBundleFile, type PackedPieces } from "./bundle-file.ts";
import { judgeManifest } from "./judge.ts";
import { limits } from "./limits.ts";
import { type BundledFile, type Manifest, manifestName, parseManifest, refuseBundle } from "./manifest.ts";
import { findClash, judgeName } from "./names.ts";
import type { StateTree } from "./tree.ts";

/** Where the bytes of a file go while a bundle is read. */
export interface FileSink {
  write(bytes: Uint8Array): void;
  /** The file is whole and its hash the manifest's. */
  end(): void;
}

/** A bundle that was read once to its end and found to be what its manifest says. */
export interface Bundle {
  readonly manifest: Manifest;
  /**
   * Reads it again, and checks it again.
   * @throws ReeveError REFUSED when it is not what it was
   */
  read(take: (file: BundledFile) => FileSink | undefined): Promise<void>;
}

/**
 * Opens a bundle and verifies all of it, in bounded memory.
 * @throws ReeveError REFUSED, STATE_NEWER, MISSING_FILE or UNREADABLE, naming the bundle and what is wrong in it
 */
export async function openBundle(source: BundleSource, tree: StateTree): Promise<Bundle> {
  const packed = await openBundleFile(source);
  const manifest = await readThrough({ source, tree, packed, take: () => undefined });
  return {
    manifest,
    async read(take) {
      const again = await readThrough({ source, tree, packed, take });
      if (JSON.stringify(again) !== JSON.stringify(manifest)) throw refuseBundle(source.shown, "changed meanwhile");
    },
  };
}

interface Reading {
  readonly source: BundleSource;
  readonly tree: StateTree;
  readonly packed: PackedPieces;
  readonly take: (file: BundledFile) => FileSink | undefined;
}

async function readThrough(reading: Reading): Promise<Manifest> {
  const { source, packed } = reading;
  const { readArchive } = await import("./archive.ts");
  const checker = openChecker(reading);
  // Headers, padding and the manifest come on top of the files.
  const totalBytes = limits.totalBytes + limits.manifestBytes + limits.files * 2048;
  try {
    for await (const event of readArchive(packed(), { ...limits, totalBytes })) checker.accept(event);
    return checker.finish();
  } catch (error) {
    throw wordsOf(error, source.shown);
  } finally {
    source.system.showProgress("");
  }
}

/** Chunks have classes of their own, so an error is known by its name. */
function wordsOf(error: unknown, shown: string): unknown {
  if (!(error instanceof Error) || error.name === "ReeveError" || error.name === "StoreError") return error;
  if (error.name === "ArchiveError") return refuseBundle(shown, error.message);
  return refuseBundle(shown, `cannot be decrypted or unpacked (${error.message})`);
}

interface Checker {
  accept(event: ArchiveEvent): void;
  finish(): Manifest;
}

interface Current {
  /** `undefined` for the manifest itself. */
  readonly file: BundledFile | undefined;
  readonly accept: (bytes: Uint8Array) => void;
  readonly end: () => void;
}

/** Follows the events of an archive and refuses the first that is not what the manifest announced. */
function openChecker(reading: Reading): Checker {
  const { shown } = reading.source;
  let manifest: Manifest | undefined;
  let current: Current | undefined;
  const seen: string[] = [];
  const beginManifest = (event: ArchiveEvent & { readonly type: "entry" }): Current => {
    if (event.path !== manifestName) throw refuseBundle(shown, `does not begin with ${manifestName}`);
    if (event.size > limits.manifestBytes) throw refuseBundle(shown, "its manifest is too large");
    const pieces: Uint8Array[] = [];
    const end = (): void => {
      manifest = parseManifest(readUtf8(Buffer.concat(pieces), shown), shown);
      judgeManifest(manifest, reading.tree, shown);
    };
    return { file: undefined, accept: (bytes) => void pieces.push(bytes), end };
  };
  const begin = (event: ArchiveEvent & { readonly type: "entry" }): Current => {
    refuseEntry(event, seen, shown);
    if (manifest === undefined) return beginManifest(event);
    const file = manifest.files[seen.length];
    seen.push(event.path);
    if (file?.path !== event.path || file.size !== event.size) {
      throw refuseBundle(shown, `${event.path} is not the file its manifest names at that place`);
    }
    return beginFile(reading, file);
  };
  return {
    accept(event) {
      if (event.type === "entry") current = begin(event);
      else if (event.type === "bytes") current?.accept(event.bytes);
      else current?.end();
    },
    finish() {
      if (manifest === undefined) throw refuseBundle(shown, `does not begin with ${manifestName}`);
      const missing = manifest.files[seen.length];
      if (missing !== undefined) throw refuseBundle(shown, `${missing.path} is missing`);
      return manifest;
    },
  };
}

function readUtf8(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refuseBundle(shown, "its manifest is not UTF-8");
  }
}

const kinds: Readonly<Record<string, string>> = {
  Link: "a hard link",
  SymbolicLink: "a symbolic link",
  CharacterDevice: "a device",
  BlockDevice: "a device",
  FIFO: "a pipe",
  Directory: "a folder",
};

function refuseEntry(event: ArchiveEvent & { readonly type: "entry" }, seen: readonly string[], shown: string): void {
  const name = JSON.stringify(event.path);
  if (event.kind !== "File" && event.kind !== "OldFile") {
    throw refuseBundle(shown, `${name} is ${kinds[event.kind] ?? event.kind}; a bundle holds files only`);
  }
  const wrong = judgeName(event.path);
  if (wrong !== undefined) throw refuseBundle(shown, `${name} ${wrong}`);
  const last = seen.at(-1);
  if (last === undefined || last < event.path) return;
  // Out of order: only now is it worth looking at all of them.
  const clash = findClash([...seen, event.path]);
  if (clash !== undefined) throw refuseBundle(shown, clash);
}

function beginFile({ source, take }: Reading, file: BundledFile): Current {
  const hash = source.system.beginHash();
  const sink = take(file);
  source.system.showProgress(`reading ${file.path}`);
  return {
    file,
    accept(bytes) {
      hash.update(bytes);
      sink?.write(bytes);
    },
    end() {
      if (hash.digest() !== file.sha256)
        throw refuseBundle(source.shown, `${file.path} has not the hash of the manifest`);
      sink?.end();
    },
  };
}
