import { readlinkSync, realpathSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { infoOf } from "./atomic.ts";
import { StoreError, toStoreError } from "./errors.ts";

/** What lies at a path, links not followed. `inode` tells a moved folder from another one of its name. */
export type Image =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly size: number; readonly mode: number }
  | { readonly kind: "directory"; readonly mode: number; readonly inode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

/** A path proven to lie inside its root. */
export interface Place {
  /** The root as given and the path below it, joined: for messages and reports. */
  readonly shown: string;
  /** The same place with every link above its last name resolved: what is touched. */
  readonly real: string;
  /** The root with every link resolved. */
  readonly realRoot: string;
}

/** Remembers which folders were already looked at, so that a plan of many files looks at each once. */
export type PlaceCache = Map<string, string>;

/**
 * Proves a path inside its root by the real path of its deepest existing folder. Refused with `REFUSED_PATH`: an absolute
 * path, `..`, `.`, an empty name, NUL, a link that leaves the root or leads nowhere, a file where a folder must be.
 */
export function readPlace(root: string, path: string, cache: PlaceCache): Place {
  const names = namesOf(root, path);
  const shown = join(root, ...names);
  const realRoot = readRoot(root, cache);
  const last = names.pop() ?? "";
  let folder = realRoot;
  for (const name of names) folder = enter(join(folder, name), { realRoot, shown, cache });
  return { shown, real: join(folder, last), realRoot };
}

/** The same place after following the link that lies there; refused unless it leads to something inside the root. */
export function followPlace(place: Place): Place {
  const real = resolved(place.real, place.shown);
  if (!isInside(place.realRoot, real)) throw refused(place.shown, "leads out of its root");
  return { ...place, real };
}

/** What lies at a path. */
export function readImage(path: string): Image {
  const info = infoOf(path);
  if (info === undefined) return { kind: "absent" };
  const mode = info.mode & 0o7777;
  if (info.isFile()) return { kind: "file", size: info.size, mode };
  if (info.isDirectory()) return { kind: "directory", mode, inode: info.ino };
  if (info.isSymbolicLink()) return { kind: "link", target: readTarget(path) };
  return { kind: "other" };
}

/** Is `path` the folder or below it? Both must be resolved. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function readTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    throw toStoreError(error, path, "read the link");
  }
}

function namesOf(root: string, path: string): string[] {
  if (!isAbsolute(root)) throw refused(root, "a root must be absolute");
  if (path.includes("\0") || root.includes("\0")) throw refused(JSON.stringify(path), "holds a NUL");
  if (isAbsolute(path) || (sep === "\\" && /[\\:]/.test(path))) throw refused(path, "must be relative to its root");
  const names = path.split("/");
  for (const name of names) {
    if (name === "" || name === "." || name === "..") {
      throw refused(path === "" ? root : path, "must be a path of plain names below its root");
    }
  }
  return names;
}

/** A root with every link resolved; refused unless it is a folder. */
export function readRoot(root: string, cache: PlaceCache): string {
  const known = cache.get(root);
  if (known !== undefined) return known;
  const real = resolved(root, root);
  if (infoOf(real)?.isDirectory() !== true) throw refused(root, "is not a folder");
  cache.set(root, real);
  return real;
}

interface Walk {
  readonly realRoot: string;
  readonly shown: string;
  readonly cache: PlaceCache;
}

/** The real path of a folder on the way; a folder that is not there yet has the path it will have. */
function enter(folder: string, { realRoot, shown, cache }: Walk): string {
  const key = `${realRoot}\0${folder}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const image = readImage(folder);
  let real = folder;
  if (image.kind === "link") {
    real = resolved(folder, shown);
    if (!isInside(realRoot, real)) throw refused(shown, `leaves its root through the link ${folder}`);
    if (infoOf(real)?.isDirectory() !== true) throw refused(shown, `${folder} is not a folder`);
  } else if (image.kind !== "absent" && image.kind !== "directory") {
    throw refused(shown, `${folder} is not a folder`);
  }
  cache.set(key, real);
  return real;
}

function resolved(path: string, shown: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const message = `${shown}: ${path} is missing or a link that leads nowhere`;
    throw new StoreError("REFUSED_PATH", message, { path: shown, cause: error });
  }
}

function refused(path: string, reason: string): StoreError {
  return new StoreError("REFUSED_PATH", `${path}: ${reason}`, { path });
}
