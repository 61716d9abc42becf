import type { Change, Plan } from "@reeve/store";
import type { System } from "../../system/port.ts";
import type { ComparedFile, Comparison } from "./compare.ts";
import { type Exchanged, needsAncestor, renderExchanged } from "./exchange.ts";
import { heldFileBytes } from "./limits.ts";
import { type Held, joinLines } from "./lines.ts";
import type { BundledFile } from "./manifest.ts";
import type { Bundle, FileSink } from "./open.ts";
import type { StateTree } from "./tree.ts";

/** Where an import puts what is not in its place: folders of the table, ending in `/`. */
export interface ImportPlaces {
  /** Copies of what was replaced. */
  readonly replaced: string;
  /** Large contents on their way. */
  readonly staging: string;
  /** The document of what was last exchanged. */
  readonly exchanged: string;
}

export interface ImportRequest {
  readonly system: System;
  readonly tree: StateTree;
  readonly bundle: Bundle;
  readonly comparison: Comparison;
  readonly exchanged: Exchanged;
  readonly places: ImportPlaces;
  /** Names what belongs to this one import; no path separator in it. */
  readonly stamp: string;
}

export interface ImportPlan {
  readonly plan: Plan;
  /** Path → where the copy of what it held goes. */
  readonly copies: ReadonlyMap<string, string>;
  /** Writes large contents beside their places, for the plan to move them; `undefined` when there are none. */
  readonly stage: (() => Promise<void>) | undefined;
}

/** One plan that brings in all that a comparison found missing or moved. */
export async function planImport(request: ImportRequest): Promise<ImportPlan> {
  const { comparison, bundle } = request;
  const whole = comparison.files.filter((one) => isTaken(one) && one.missing === undefined);
  const staged = new Map(
    whole.filter((one) => isLarge(request, one.file)).map((one, at) => [one.file.path, stagedAt(request, at)]),
  );
  const small = whole.filter(({ file }) => !staged.has(file.path));
  const contents = await readContents(bundle, small, comparison.held);
  const copies = new Map<string, string>();
  const changes: Change[] = [];
  for (const one of comparison.files) {
    if (!isTaken(one)) continue;
    if (one.missing !== undefined) changes.push(joinChange(request, one, one.missing));
    else changes.push(...replaceChanges({ request, copies, contents, staged }, one));
  }
  changes.push(...recordChange(request));
  return { plan: { changes }, copies, stage: staged.size === 0 ? undefined : () => stageAll(request, staged) };
}

function isTaken({ standing }: ComparedFile): boolean {
  return standing === "new" || standing === "changed" || standing === "conflict";
}

/** Only what shares a root with the staging folder can be moved from there. */
function isLarge(request: ImportRequest, file: BundledFile): boolean {
  return file.size > heldFileBytes && isMovable(request, file.path);
}

function isMovable({ tree, places }: ImportRequest, path: string): boolean {
  return tree.place(path).root === tree.place(places.staging).root;
}

function stagedAt({ places, stamp }: ImportRequest, at: number): string {
  return `${places.staging}${stamp}-${at}`;
}

async function readContents(
  bundle: Bundle,
  files: readonly ComparedFile[],
  held: Held,
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  if (files.length === 0) return contents;
  const wanted = new Set(files.map(({ file }) => file.path));
  await bundle.read((file): FileSink | undefined => {
    if (!wanted.has(file.path)) return undefined;
    held.add(file.size);
    const pieces: Uint8Array[] = [];
    return {
      write: (bytes) => void pieces.push(bytes),
      end: () => void contents.set(file.path, Buffer.concat(pieces)),
    };
  });
  return contents;
}

/** Lines go to the end; those of a store that moved on both sides before ours, whose last word stands. */
function joinChange({ system, tree }: ImportRequest, one: ComparedFile, missing: readonly Buffer[]): Change {
  const { file, entry, standing, here } = one;
  const bytes = joinLines(missing);
  const common = { ...tree.place(file.path), mode: 0o600, dirMode: 0o700 };
  if (here === undefined) return { kind: "write", ...common, bytes, expect: "absent" };
  if (entry.holds !== "store" || standing !== "conflict") return { kind: "append", ...common, bytes };
  const ours = system.readBytes(tree.locate(file.path)) ?? Buffer.alloc(0);
  return { kind: "write", ...common, bytes: Buffer.concat([bytes, ours]), expect: { bytes: ours } };
}

interface Replacing {
  readonly request: ImportRequest;
  readonly copies: Map<string, string>;
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly staged: ReadonlyMap<string, string>;
}

function replaceChanges({ request, copies, contents, staged }: Replacing, one: ComparedFile): readonly Change[] {
  const { tree, system, places, stamp } = request;
  const { path } = one.file;
  const place = tree.place(path);
  const from = staged.get(path);
  const large = (one.here?.size ?? 0) > heldFileBytes && isMovable(request, path);
  const changes: Change[] = [];
  let expect: "absent" | { readonly bytes: Uint8Array } = "absent";
  if (one.here !== undefined) {
    const copy = `${places.replaced}${stamp}/${path}`;
    copies.set(path, copy);
    if (large || from !== undefined) {
      changes.push({ kind: "rename", ...tree.place(copy), from: place.path, dirMode: 0o700 });
    } else {
      const bytes = system.readBytes(tree.locate(path)) ?? Buffer.alloc(0);
      changes.push({ kind: "write", ...tree.place(copy), bytes, mode: 0o600, dirMode: 0o700, expect: "absent" });
      expect = { bytes };
    }
  }
  if (from !== undefined) {
    changes.push({ kind: "rename", ...place, from: tree.place(from).path, dirMode: 0o700 });
  } else {
    const bytes = contents.get(path) ?? Buffer.alloc(0);
    changes.push({ kind: "write", ...place, bytes, ...modesOf(request, one), expect });
  }
  return changes;
}

/** Tracked files are for everybody and may be programs; all others are their owner's. */
function modesOf({ tree }: ImportRequest, { entry, file }: ComparedFile): { mode?: number; dirMode?: number } {
  if (!tree.table.traitsOf(entry).tracked) return { mode: 0o600, dirMode: 0o700 };
  return (file.mode & 0o100) === 0 ? {} : { mode: 0o755 };
}

function recordChange({ tree, system, places, exchanged, comparison }: ImportRequest): readonly Change[] {
  const met = comparison.files
    .filter(({ standing, entry }) => standing !== "kept" && needsAncestor(entry.holds))
    .map(({ file }) => [file.path, file.sha256] as const);
  if (met.every(([path, sha256]) => exchanged[path] === sha256)) return [];
  const bytes = renderExchanged(exchanged, Object.fromEntries(met));
  const before = system.readBytes(tree.locate(places.exchanged));
  const expect = before === undefined ? ("absent" as const) : { bytes: before };
  return [{ kind: "write", ...tree.place(places.exchanged), bytes, mode: 0o600, dirMode: 0o700, expect }];
}

async function stageAll({ system, tree, bundle }: ImportRequest, staged: ReadonlyMap<string, string>): Promise<void> {
  await bundle.read(({ path }): FileSink | undefined => {
    const to = staged.get(path);
    if (to === undefined) return undefined;
    const writer = system.beginFile(tree.locate(to), { mode: 0o600, replace: false });
    return { write: writer.write, end: writer.commit };
  });
}
