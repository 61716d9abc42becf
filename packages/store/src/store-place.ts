import { readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { infoOf } from "./atomic.ts";
import { StoreError } from "./errors.ts";
import { namesIn } from "./temporaries.ts";

/** A store's file, and which shape its lines have. */
export interface StorePlace {
  readonly path: string;
  readonly shape: number;
}

/**
 * Where a store of a shape lies: shape 1 is `jobs.jsonl`, shape 2 `jobs.v2.jsonl`. `path` is either the name without a shape
 * or already the shape's own. Throws `BAD_VALUE` when it is another shape's.
 */
export function placeStore(path: string, shape: number | undefined): StorePlace {
  const { stem, shape: named } = partsOf(basename(path));
  const wanted = shape ?? named ?? 1;
  if (!Number.isSafeInteger(wanted) || wanted < 1) {
    throw new StoreError("BAD_VALUE", `${path}: a shape is a whole number from 1, not ${wanted}`, { path });
  }
  if (named !== undefined && named !== wanted) {
    throw new StoreError("BAD_VALUE", `${path}: is the name of shape ${named}, and shape ${wanted} is asked for`, {
      path,
    });
  }
  if (wanted === 1 || named !== undefined) return { path, shape: wanted };
  return { path: join(dirname(path), nameOf(stem, wanted)), shape: wanted };
}

/**
 * Refuses a file whose other shapes lie beside it: an older one with `OLD_FORMAT`, for it is never read and must be set aside
 * first; a newer one with `NEWER`.
 */
export function refuseOtherShapes({ path, shape }: StorePlace, setAside: string | undefined): void {
  const folder = dirname(path);
  const { stem } = partsOf(basename(path));
  for (const name of namesIn(folder)) {
    if (!name.startsWith(stem) || !name.endsWith(".jsonl")) continue;
    const other = partsOf(name);
    const found = other.shape ?? 1;
    if (other.stem !== stem || found === shape || name !== nameOf(stem, found)) continue;
    throw otherShapeError({ path, shape }, { path: join(folder, name), shape: found }, setAside);
  }
}

/** Refuses a member that cannot be the key. */
export function refuseKeyMember(path: string, key: string): void {
  if (typeof key === "string" && key !== "" && !key.startsWith("$")) return;
  const message = `${path}: the key member must be a name that is not empty and does not begin with $`;
  throw new StoreError("BAD_VALUE", message, { path });
}

/** Refuses what is no regular file. What is not there yet is fine. */
export function refuseNoFile(path: string): void {
  const info = infoOf(path);
  if (info === undefined || info.isFile()) return;
  if (info.isSymbolicLink()) {
    const target = readlinkSync(path);
    throw new StoreError("REFUSED_PATH", `${path}: is a symbolic link to ${target}`, {
      path,
      hint: "open the file it leads to by its own path",
    });
  }
  const what = info.isDirectory() ? "a folder" : "neither a file nor a folder";
  throw new StoreError("REFUSED_PATH", `${path}: is ${what}`, { path });
}

function otherShapeError(own: StorePlace, other: StorePlace, setAside: string | undefined): StoreError {
  const details = { shape: own.shape, found: other.shape };
  if (other.shape > own.shape) {
    const message = `${own.path}: a newer version keeps this store in ${other.path} (shape ${other.shape}; this one writes ${own.shape})`;
    return new StoreError("NEWER", message, { path: other.path, hint: "use the newer version", details });
  }
  const message = `${other.path}: has shape ${other.shape}, which is not read (${own.path} has shape ${own.shape})`;
  const hint = setAside ?? `mv ${quoted(other.path)} ${quoted(freeName(`${other.path}.old`))}`;
  return new StoreError("OLD_FORMAT", message, { path: other.path, hint, details });
}

function freeName(path: string): string {
  for (let turn = 1; ; turn += 1) {
    const name = turn === 1 ? path : `${path}-${turn}`;
    if (infoOf(name) === undefined) return name;
  }
}

function partsOf(name: string): { stem: string; shape: number | undefined } {
  const [, stem, digits] = /^(.*)\.v([1-9]\d{0,8})\.jsonl$/s.exec(name) ?? [];
  if (stem !== undefined && digits !== undefined) return { stem, shape: Number(digits) };
  return { stem: name.replace(/\.jsonl$/, ""), shape: undefined };
}

function nameOf(stem: string, shape: number): string {
  return shape === 1 ? `${stem}.jsonl` : `${stem}.v${shape}.jsonl`;
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
