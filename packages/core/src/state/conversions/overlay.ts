import type { Change } from "@reeve/store";
import { ReeveError } from "../../findings/errors.ts";
import type { ConversionChange, Overlay } from "./conversion.ts";
import { type ConversionPlace, locate, rootOf } from "./place.ts";

/** A file's content and permission bits. */
export interface FileImage {
  readonly bytes: Uint8Array;
  readonly mode: number | undefined;
}

/** What the steps together do to one file; `undefined` is absence. */
export interface FileChange {
  readonly path: string;
  readonly before: FileImage | undefined;
  readonly after: FileImage | undefined;
}

/** The disk with changes in front of it. */
export interface PlannedFiles extends Overlay {
  add(change: ConversionChange): void;
  /** Every file that differs from the disk, in code-unit order of the paths. */
  changes(): readonly FileChange[];
}

/** Opens the overlay of a checkout's layer; nothing is written. */
export function openOverlay(place: ConversionPlace): PlannedFiles {
  const planned = new Map<string, FileImage | undefined>();
  const onDisk = new Map<string, FileImage | undefined>();
  const look = (path: string): FileImage | undefined => {
    if (!onDisk.has(path)) onDisk.set(path, readFile(place, path));
    return onDisk.get(path);
  };
  const find = (path: string): FileImage | undefined => (planned.has(path) ? planned.get(path) : look(path));
  const list = (folder: string): readonly string[] => {
    const prefix = folder.endsWith("/") ? folder : `${folder}/`;
    const paths = new Set(listFiles(place, prefix));
    for (const [path, image] of planned) {
      if (!path.startsWith(prefix)) continue;
      if (image === undefined) paths.delete(path);
      else paths.add(path);
    }
    return [...paths].sort();
  };
  const move = (from: string, path: string): void => {
    const image = find(from);
    if (image === undefined) throw new ReeveError("INTERNAL", `${from}: is not there to be moved`);
    if (find(path) !== undefined) throw new ReeveError("INTERNAL", `${path}: is there already`);
    planned.set(from, undefined);
    planned.set(path, image);
  };
  return {
    read: (path) => find(path)?.bytes,
    readText: (path) => textOf(find(path)),
    list,
    add(change) {
      if (change.kind === "rename") {
        if (find(change.from) !== undefined) move(change.from, change.path);
        else for (const path of list(change.from)) move(path, change.path + path.slice(change.from.length));
      } else if (change.kind === "remove") planned.set(change.path, undefined);
      else planned.set(change.path, { bytes: bytesOf(change.bytes), mode: change.mode ?? find(change.path)?.mode });
    },
    changes: () =>
      [...planned]
        .map(([path, after]) => ({ path, before: look(path), after }))
        .filter(({ before, after }) => !isSame(before, after))
        .sort((left, right) => (left.path < right.path ? -1 : 1)),
  };
}

/** The change of a plan that replaces one image of a file by another; refused when the file is no longer the first. */
export function replaceImage(
  place: ConversionPlace,
  path: string,
  images: { readonly before: FileImage | undefined; readonly after: FileImage | undefined },
): Change {
  const { before, after } = images;
  const expect = before === undefined ? "absent" : { bytes: before.bytes };
  const target = rootOf(place, path);
  if (after === undefined) return { kind: "remove", ...target, expect };
  const mode = after.mode ?? (target.root === place.home.path ? 0o600 : undefined);
  return { kind: "write", ...target, bytes: after.bytes, expect, ...(mode === undefined ? {} : { mode }) };
}

/** What lies at a path; `undefined` for everything but a file. */
export function readFile(place: ConversionPlace, path: string): FileImage | undefined {
  const where = locate(place, path);
  const info = place.system.info(where);
  const bytes = info?.kind === "file" ? place.system.readBytes(where) : undefined;
  return bytes === undefined ? undefined : { bytes, mode: info?.mode };
}

function listFiles(place: ConversionPlace, folder: string): string[] {
  const entries = place.system.list(locate(place, folder)) ?? [];
  return entries.flatMap(({ name, kind }) => {
    if (kind === "directory") return listFiles(place, `${folder}${name}/`);
    return kind === "file" ? [`${folder}${name}`] : [];
  });
}

function bytesOf(bytes: string | Uint8Array): Uint8Array {
  return typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes;
}

function textOf(image: FileImage | undefined): string | undefined {
  return image === undefined ? undefined : Buffer.from(image.bytes).toString("utf8");
}

function isSame(left: FileImage | undefined, right: FileImage | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return Buffer.compare(left.bytes, right.bytes) === 0 && (right.mode === undefined || left.mode === right.mode);
}
