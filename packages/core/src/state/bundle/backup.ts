import { basename, dirname, join, relative } from "node:path";
import { parseStrict } from "@reeve/store/strict";
import { ReeveError } from "../../findings/errors.ts";
import { shellWord } from "../../findings/quote.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import { readInventory } from "./inventory.ts";
import { hashPieces, tries, unsteady } from "./measure.ts";
import type { ClaimedFile, PassedOver, StateTree } from "./tree.ts";

export interface BackupRequest {
  readonly system: System;
  readonly tree: StateTree;
  readonly target: AbsPath;
  /** Folders no backup may lie in. */
  readonly closed: readonly AbsPath[];
  /** Whose copy it is; a folder that holds another one's is refused. */
  readonly of: string;
  /** Write nothing. */
  readonly dry: boolean;
}

export interface BackupReport {
  /** Paths that were copied, or in a dry run would be. */
  readonly copied: readonly string[];
  readonly copiedBytes: number;
  /** Paths that are in the copy as they are here. */
  readonly unchanged: number;
  /** Paths that are in the copy and no longer here. */
  readonly kept: readonly string[];
  readonly passedOver: readonly PassedOver[];
}

/** Names whose copy a folder is. */
const markName = "reeve-backup.json";

/**
 * Copies what the table backs up into a folder, one way: what is equal is not written, what is gone here stays there.
 * @throws ReeveError REFUSED (the place), CONFLICT (a file does not hold still), UNWRITABLE, NO_SPACE
 */
export function backUp(request: BackupRequest): BackupReport {
  const { system, tree, target } = request;
  refuseTarget(request);
  const inventory = readInventory(system, tree, ["config", "records", "identity"]);
  const files = inventory.files.filter(({ entry }) => tree.table.traitsOf(entry).backedUp);
  const changed = files.filter((file) => !isEqual(request, file));
  const copyTree: StateTree = { ...tree, locate: (path) => join(target, path) as AbsPath };
  const there = readInventory(system, copyTree, ["config", "records", "identity"]).files;
  const names = new Set(files.map(({ path }) => path));
  let copiedBytes = 0;
  if (!request.dry) {
    if (changed.length > 0 || system.info(markOf(target)) === undefined) writeMark(request);
    for (const [at, file] of changed.entries()) {
      system.showProgress(`copying ${at + 1} of ${changed.length}: ${file.path}`);
      copiedBytes += copy(request, file);
    }
    system.showProgress("");
  }
  return {
    copied: changed.map(({ path }) => path),
    copiedBytes,
    unchanged: files.length - changed.length,
    kept: there.map(({ path }) => path).filter((path) => !names.has(path)),
    passedOver: inventory.passedOver,
  };
}

function markOf(target: AbsPath): AbsPath {
  return join(target, markName) as AbsPath;
}

function refuseTarget({ system, target, closed, of }: BackupRequest): void {
  const real = realOf(system, target);
  const inside = closed.find((root) => isBelow(system.realPath(root) ?? root, real));
  if (inside !== undefined) {
    throw new ReeveError("REFUSED", `${target}: lies in ${inside}, which is what is copied`, {
      hint: "name a folder outside the repository",
    });
  }
  const kind = system.info(real as AbsPath)?.kind;
  if (kind === undefined) return;
  if (kind !== "directory") {
    throw new ReeveError("REFUSED", `${target}: is no folder`, { hint: "name a folder, or one that is not there yet" });
  }
  const mark = system.readText(markOf(target));
  if (mark === undefined && (system.list(target) ?? []).length > 0) {
    throw new ReeveError("REFUSED", `${target}: holds other files and no backup`, {
      hint: `name a folder of its own: reeve state backup ${shellWord(join(target, "reeve"))}`,
    });
  }
  if (mark !== undefined && ownerOf(mark, markOf(target)) !== of) {
    throw new ReeveError("REFUSED", `${target}: holds the backup of another repository or checkout`, {
      hint: "name a folder of its own",
    });
  }
}

function ownerOf(mark: string, path: string): unknown {
  try {
    const value = parseStrict(mark, { path });
    return typeof value === "object" && value !== null && "of" in value ? value.of : undefined;
  } catch {
    return undefined;
  }
}

function writeMark({ system, target, of }: BackupRequest): void {
  const writer = system.beginFile(markOf(target), { mode: 0o600, replace: true });
  writer.write(Buffer.from(`${JSON.stringify({ version: 1, of }, null, 1)}\n`));
  writer.commit();
}

/** The path with the links of what exists of it resolved. */
function realOf(system: System, path: string): string {
  const real = system.realPath(path as AbsPath);
  if (real !== undefined) return real;
  return dirname(path) === path ? path : join(realOf(system, dirname(path)), basename(path));
}

function isBelow(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below === "" || !(below === ".." || below.startsWith("../") || below.startsWith("/"));
}

/** Equal is what has one hash; two sizes are two contents without reading them. */
function isEqual(request: BackupRequest, { path }: ClaimedFile): boolean {
  const { system, tree, target } = request;
  refuseLinks(request, path);
  const copied = join(target, path) as AbsPath;
  const there = system.info(copied);
  if (there === undefined || there.size !== system.info(tree.locate(path))?.size) return false;
  const hashes = [copied, tree.locate(path)].map((where) => hashPieces(system, system.readPieces(where)).sha256);
  return hashes[0] === hashes[1];
}

/** A link in the copy would lead what is written out of it. */
function refuseLinks({ system, target }: BackupRequest, path: string): void {
  const names = path.split("/");
  for (const [at] of names.entries()) {
    const where = join(target, ...names.slice(0, at + 1)) as AbsPath;
    const kind = system.info(where)?.kind;
    if (kind === undefined) return;
    if (kind === (at === names.length - 1 ? "file" : "directory")) continue;
    throw new ReeveError("REFUSED", `${where}: is a ${kind}, and no copy is written over or through it`, {
      hint: `look at it (ls -ld ${shellWord(where)}), move it away, and run the command again`,
    });
  }
}

/** Answers how many bytes. What grows while it is copied is copied as far as it was. */
function copy(request: BackupRequest, { path, entry }: ClaimedFile): number {
  const grows = entry.holds === "log" || entry.holds === "store";
  const { system, tree, target } = request;
  const where = tree.locate(path);
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const before = system.info(where);
    if (before === undefined) return 0;
    const writer = system.beginFile(join(target, path) as AbsPath, { mode: before.mode & 0o700, replace: true });
    let bytes = 0;
    try {
      for (const piece of system.readPieces(where, before.size)) {
        writer.write(piece);
        bytes += piece.length;
      }
      const after = system.info(where);
      const isStill = after?.mtimeMs === before.mtimeMs || (grows && (after?.size ?? 0) >= before.size);
      if (bytes === before.size && after?.inode === before.inode && isStill) {
        writer.commit();
        return bytes;
      }
    } finally {
      writer.discard();
    }
  }
  throw unsteady(path);
}
