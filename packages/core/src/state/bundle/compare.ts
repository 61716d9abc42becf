import type { StateEntry } from "@reeve/store/table";
import { ReeveError } from "../../findings/errors.ts";
import type { System } from "../../system/port.ts";
import type { Exchanged } from "./exchange.ts";
import { readInventory } from "./inventory.ts";
import { requireConsent, requireDeclared } from "./judge.ts";
import { countHeld, type Held, missingLines, readLineSet } from "./lines.ts";
import type { BundledFile } from "./manifest.ts";
import { type Measured, measureFile } from "./measure.ts";
import { isNamed } from "./names.ts";
import type { Bundle, FileSink } from "./open.ts";
import { type Consents, reasonToStay } from "./selection.ts";
import type { ClaimedFile, StateTree } from "./tree.ts";

/**
 * How a file of a bundle stands to the one here. `new`: there is none here. `same`: nothing of it is missing here.
 * `changed`: only the bundle's side moved since the two last met, or the file here was never edited. `conflict`: both
 * moved, or nobody knows when they last met. `kept`: only the file here moved, so it stays.
 */
export type Standing = "new" | "same" | "changed" | "conflict" | "kept";

export interface ComparedFile {
  readonly file: BundledFile;
  readonly entry: StateEntry;
  readonly standing: Standing;
  /** What is here; `undefined` when nothing is. */
  readonly here: Measured | undefined;
  /** Lines of the bundle's file that are not here; `undefined` where files are taken whole. */
  readonly missing: readonly Buffer[] | undefined;
}

export interface Comparison {
  readonly files: readonly ComparedFile[];
  /** Paths the importer did not ask for: prompts, and what `only` leaves out. */
  readonly withheld: readonly string[];
  readonly held: Held;
}

export interface CompareRequest {
  readonly system: System;
  readonly tree: StateTree;
  readonly bundle: Bundle;
  /** The bundle as the person named it. */
  readonly shown: string;
  readonly consents: Consents;
  /** Files and folders; empty for all. What is named file by file is taken although only the file here moved. */
  readonly only: readonly string[];
  readonly exchanged: Exchanged;
  /** What a path holds before anybody edits it; `undefined` for a path nothing is shipped for. */
  readonly shipped: (path: string) => string | undefined;
}

/** @throws ReeveError NOT_FOUND, REFUSED (a consent is missing, a link is in the way), CONFLICT */
export async function compareBundle(request: CompareRequest): Promise<Comparison> {
  const { bundle, shown, consents, only } = request;
  refuseUnknown(request);
  const chosen = bundle.manifest.files.filter(({ path }) => only.length === 0 || isNamed(path, only));
  requireDeclared(chosen, bundle.manifest, request);
  requireConsent(chosen, consents.secrets, shown);
  const wanted = chosen.filter((file) => reasonToStay(request.tree, entryOf(request, file), consents) === undefined);
  const held = countHeld();
  const first = wanted.map((file) => compareByHash(request, file));
  const files = await joinLogs(request, first, held);
  const taken = new Set(wanted.map(({ path }) => path));
  return { files, held, withheld: bundle.manifest.files.map(({ path }) => path).filter((path) => !taken.has(path)) };
}

function refuseUnknown({ bundle, only, shown }: CompareRequest): void {
  for (const name of only) {
    if (bundle.manifest.files.some(({ path }) => isNamed(path, [name]))) continue;
    throw new ReeveError("NOT_FOUND", `--only ${name}: ${shown} holds no such path`, {
      hint: "reeve state import <file> --preview lists what it holds",
    });
  }
}

function entryOf({ tree, shown }: CompareRequest, { path }: BundledFile): StateEntry {
  const entry = tree.table.entryFor(path);
  if (entry === undefined) throw new ReeveError("INTERNAL", `${shown}: ${path} was not judged`);
  return entry;
}

function compareByHash(request: CompareRequest, file: BundledFile): ComparedFile {
  const { system, tree } = request;
  const entry = entryOf(request, file);
  const kind = system.info(tree.locate(file.path))?.kind;
  if (kind !== undefined && kind !== "file") {
    throw new ReeveError("REFUSED", `${file.path}: a ${kind} is in its place; nothing was written`, {
      hint: `look at it (ls -ld ${file.path}), move it away, and run the command again`,
    });
  }
  const here = kind === undefined ? undefined : measureFile(system, tree, { path: file.path, entry });
  return { file, entry, here, missing: undefined, standing: judge(request, file, here) };
}

function judge(request: CompareRequest, file: BundledFile, here: Measured | undefined): Standing {
  if (here === undefined) return "new";
  if (here.sha256 === file.sha256) return "same";
  const met = request.exchanged[file.path];
  if (met === here.sha256) return "changed";
  const shipped = request.shipped(file.path);
  if (shipped !== undefined && request.system.sha256(shipped) === here.sha256) return "changed";
  if (met !== file.sha256) return "conflict";
  return request.only.some((name) => name === file.path) ? "conflict" : "kept";
}

/** Reads the bundle once more for the lines that are not here, where there is something to join. */
async function joinLogs(
  request: CompareRequest,
  files: readonly ComparedFile[],
  held: Held,
): Promise<readonly ComparedFile[]> {
  const joins = new Map<string, { readonly sink: FileSink; readonly lines: readonly Buffer[] }>();
  const inventory = readInventory(request.system, request.tree, ["records", "config"]).files;
  for (const compared of files) {
    const beside = kinOf(compared, inventory);
    if (compared.standing === "same" || beside.length === 0) continue;
    joins.set(
      compared.file.path,
      missingLines(request.system, readLineSet(request.system, request.tree, beside), held),
    );
  }
  if (joins.size === 0) return files;
  await request.bundle.read(({ path }) => joins.get(path)?.sink);
  return files.map((compared) => {
    const lines = joins.get(compared.file.path)?.lines;
    if (lines === undefined) return compared;
    return { ...compared, missing: lines, standing: standingOfJoin(compared, lines.length) };
  });
}

function standingOfJoin({ standing, entry }: ComparedFile, missing: number): Standing {
  if (missing === 0) return "same";
  return entry.holds === "log" && standing !== "new" ? "changed" : standing === "kept" ? "conflict" : standing;
}

/** The files here that may hold lines of this one: a store's own, and every file of a log that was rotated. */
function kinOf({ file, entry, here }: ComparedFile, inventory: readonly ClaimedFile[]): readonly ClaimedFile[] {
  if (entry.holds === "store") return here === undefined ? [] : [{ path: file.path, entry }];
  if (entry.holds !== "log") return [];
  const stem = stemOf(file.path);
  return inventory.filter((other) => other.entry.holds === "log" && stemOf(other.path) === stem);
}

/** A path up to the first dot of its name. */
function stemOf(path: string): string {
  const name = path.lastIndexOf("/") + 1;
  const dot = path.indexOf(".", name);
  return dot < 0 ? path : path.slice(0, dot);
}
