import { basename, dirname, join, relative } from "node:path";
import { ReeveError } from "../../findings/errors.ts";
import { plural } from "../../findings/plural.ts";
import { shellWord } from "../../findings/quote.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import type { ArchivedFile } from "./archive.ts";
import { limits } from "./limits.ts";
import {
  type BundledFile,
  bundleFormat,
  type Manifest,
  manifestName,
  type Origin,
  renderManifest,
} from "./manifest.ts";
import { type Measured, measureFile, tries, unsteady } from "./measure.ts";
import { type SweepReport, sweepFiles } from "./secrets.ts";
import { type Consents, type Selection, selectFiles } from "./selection.ts";
import type { ClaimedFile, StateTree } from "./tree.ts";

export interface ExportRequest {
  readonly system: System;
  readonly tree: StateTree;
  /** Folders no bundle may lie in. */
  readonly closed: readonly AbsPath[];
  readonly target: AbsPath;
  readonly passphrase: string | undefined;
  readonly consents: Consents;
  readonly excluded: readonly string[];
  readonly kind: Manifest["kind"];
  readonly origin: Origin;
  /** Write nothing. */
  readonly dry: boolean;
}

export interface ExportReport {
  readonly manifest: Manifest;
  readonly selection: Selection;
  /** `undefined` when secrets were to travel, and nothing was looked for. */
  readonly sweep: SweepReport | undefined;
  /** Of the bundle; 0 in a dry run. */
  readonly bytes: number;
}

/**
 * Writes a bundle of what the table lets travel, in bounded memory.
 * @throws ReeveError REFUSED (the place, a line that looks like a secret, a limit), CONFLICT (a file does not hold still)
 */
export async function exportBundle(request: ExportRequest): Promise<ExportReport> {
  const { system, tree, consents, excluded } = request;
  refuseTarget(request);
  const selection = selectFiles(system, tree, { consents, excluded });
  const sweep = consents.secrets ? undefined : await sweepFiles(system, tree, selection.files);
  if (sweep !== undefined) refuseSuspects(sweep);
  try {
    const measured = new Map<string, Measured>();
    for (const file of selection.files) measure(request, measured, file);
    const { manifest, bytes } = await packSteadily(request, selection, measured);
    return { manifest, selection, sweep, bytes };
  } finally {
    system.showProgress("");
  }
}

function refuseTarget({ system, target, closed }: ExportRequest): void {
  const there = system.info(target);
  if (there !== undefined) {
    const what = there.kind === "directory" ? "a folder" : there.kind === "link" ? "a link" : "a file";
    throw new ReeveError("REFUSED", `${target}: ${what} is there already, and is not replaced`, {
      hint: "name a file that is not there yet",
    });
  }
  const folder = system.realPath(dirname(target) as AbsPath);
  if (folder === undefined || system.info(folder)?.kind !== "directory") {
    throw new ReeveError("MISSING_FILE", `${dirname(target)}: there is no such folder`, {
      hint: `mkdir -p ${shellWord(dirname(target))}`,
    });
  }
  const real = join(folder, basename(target));
  const inside = closed.find((root) => isBelow(system.realPath(root) ?? root, real));
  if (inside === undefined) return;
  throw new ReeveError("REFUSED", `${target}: lies in ${inside}, which is what is exported`, {
    hint: "name a file outside the layer",
  });
}

function isBelow(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below === "" || !(below === ".." || below.startsWith("../") || below.startsWith("/"));
}

/** How many suspect lines are named one by one. */
const shownSuspects = 20;

function refuseSuspects({ suspects }: SweepReport): void {
  if (suspects.length === 0) return;
  const lines = suspects.slice(0, shownSuspects).map(({ path, line, rule }) => `  ${path}:${line} (${rule})`);
  const more = suspects.length > shownSuspects ? [`  and ${suspects.length - shownSuspects} more`] : [];
  const first = suspects[0]?.path ?? "";
  const count = plural(suspects.length, "line");
  const message = `${count} of what would travel ${suspects.length === 1 ? "looks" : "look"} like a secret; nothing was written`;
  throw new ReeveError("REFUSED", [message, ...lines, ...more].join("\n"), {
    hint: `take the secret out, or leave the file out: --exclude ${shellWord(first)}`,
    details: { suspects },
  });
}

/** A file that is gone by now is left out without a word: it was taken away, not kept back. */
function measure({ system, tree }: ExportRequest, measured: Map<string, Measured>, file: ClaimedFile): void {
  system.showProgress(`reading ${file.path}`);
  const found = measureFile(system, tree, file);
  if (found === undefined) measured.delete(file.path);
  else measured.set(file.path, found);
}

/** A file changed between its measuring and its packing. */
class Moved extends Error {
  readonly path: string;
  constructor(path: string) {
    super(path);
    this.path = path;
  }
}

async function packSteadily(
  request: ExportRequest,
  selection: Selection,
  measured: Map<string, Measured>,
): Promise<{ readonly manifest: Manifest; readonly bytes: number }> {
  const moved = new Map<string, number>();
  for (;;) {
    const manifest = describe(request, selection, measured);
    if (request.dry) return { manifest, bytes: 0 };
    try {
      return { manifest, bytes: await pack(request, manifest) };
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      const count = (moved.get(error.path) ?? 0) + 1;
      moved.set(error.path, count);
      const file = selection.files.find(({ path }) => path === error.path);
      if (count >= tries || file === undefined) throw unsteady(error.path);
      measure(request, measured, file);
    }
  }
}

function describe(request: ExportRequest, selection: Selection, measured: ReadonlyMap<string, Measured>): Manifest {
  const { tree, kind, origin, consents } = request;
  const classes: Record<string, number> = {};
  const files = selection.files.flatMap(({ path, entry }): readonly BundledFile[] => {
    const found = measured.get(path);
    if (found === undefined) return [];
    const { group } = tree.table.traitsOf(entry);
    classes[group] = (classes[group] ?? 0) + 1;
    return [{ path, group, ...found }];
  });
  const manifest: Manifest = {
    format: bundleFormat,
    kind,
    origin,
    includes: consents,
    classes,
    files,
    left_out: selection.leftOut,
  };
  refuseTooMuch(manifest);
  return manifest;
}

function refuseTooMuch({ files }: Manifest): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const largest = files.reduce<BundledFile | undefined>(
    (a, b) => (a !== undefined && a.size >= b.size ? a : b),
    undefined,
  );
  if (files.length <= limits.files && bytes <= limits.totalBytes) return;
  throw new ReeveError("REFUSED", `${plural(files.length, "file")} of ${bytes} bytes are more than a bundle holds`, {
    hint: `leave some out: --exclude ${shellWord(largest?.path ?? "")}`,
  });
}

async function pack(request: ExportRequest, manifest: Manifest): Promise<number> {
  const { system, target, passphrase } = request;
  const { packArchive } = await import("./archive.ts");
  const packed = packArchive(archived(request, manifest), system.now());
  const pieces =
    passphrase === undefined ? packed : (await import("./encryption.ts")).encryptPieces(packed, passphrase);
  const writer = system.beginFile(target, { mode: 0o600, replace: false });
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      writer.write(piece);
      bytes += piece.length;
    }
    refuseDense(manifest, bytes);
    writer.commit();
  } catch (error) {
    writer.discard();
    throw error;
  }
  return bytes;
}

/** What packs so well would be taken for a bomb where it arrives. */
function refuseDense({ files }: Manifest, packedBytes: number): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= limits.freeBytes || bytes <= limits.ratio * packedBytes) return;
  const largest = [...files].sort((a, b) => b.size - a.size)[0];
  throw new ReeveError(
    "REFUSED",
    `the bundle would unpack to more than ${limits.ratio} times its size, which no import takes`,
    {
      hint: `leave out what is nearly empty: --exclude ${shellWord(largest?.path ?? "")}`,
    },
  );
}

function* archived(request: ExportRequest, manifest: Manifest): Generator<ArchivedFile> {
  const text = Buffer.from(renderManifest(manifest), "utf8");
  if (text.length > limits.manifestBytes) {
    throw new ReeveError("REFUSED", "the bundle's manifest would be too large", { hint: "leave files out: --exclude" });
  }
  yield { path: manifestName, size: text.length, mode: 0o600, pieces: [text] };
  const total = manifest.files.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  for (const file of manifest.files) {
    yield { path: file.path, size: file.size, mode: file.mode, pieces: steadyPieces(request, file) };
    done += file.size;
    request.system.showProgress(`packing ${megabytes(done)} of ${megabytes(total)} MB`);
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** The very bytes that were measured, or `Moved`. */
function* steadyPieces({ system, tree }: ExportRequest, file: BundledFile): Generator<Uint8Array> {
  const hash = system.beginHash();
  let bytes = 0;
  for (const piece of readOrMoved(system, tree.locate(file.path), file)) {
    hash.update(piece);
    bytes += piece.length;
    yield piece;
  }
  if (bytes !== file.size || hash.digest() !== file.sha256) throw new Moved(file.path);
}

/** What was taken away, or is no file any more, is looked at again. */
function* readOrMoved(system: System, where: AbsPath, file: BundledFile): Generator<Uint8Array> {
  try {
    yield* system.readPieces(where, file.size);
  } catch (error) {
    if (system.info(where)?.kind !== "file") throw new Moved(file.path);
    throw error;
  }
}
