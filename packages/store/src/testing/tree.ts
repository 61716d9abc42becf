import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { checksum } from "../checksum.ts";
import type { Content, Inode } from "./disk.ts";

/** What lies at a path. */
export interface Node {
  /** The same for all names of one file. */
  readonly id: number;
  readonly kind: Inode["kind"];
  readonly target: string;
  readonly bytes: Buffer;
  /** A file's. */
  readonly mode: number;
  /** The number of the call that touched it last, and of all calls that did; of what was read from a real disk, none. */
  readonly touched: number;
  readonly changes: readonly number[];
}

/** Nodes by their path from the root, which has none itself; a folder before what lies in it. */
export type Tree = ReadonlyMap<string, Node>;

/** How a disk is looked at. */
export interface Look {
  readonly names: (folder: Inode) => ReadonlyMap<string, Inode>;
  readonly content: (file: Inode) => Content;
}

/** What can be reached from a folder. */
export function collectTree(top: Inode, look: Look): Tree {
  const tree = new Map<string, Node>();
  const visit = (folder: Inode, prefix: string): void => {
    for (const [name, inode] of look.names(folder)) {
      const path = prefix + name;
      const { id, kind, target, changes } = inode;
      tree.set(path, { id, kind, target, changes, ...look.content(inode) });
      if (kind === "folder") visit(inode, `${path}/`);
    }
  };
  visit(top, "");
  return tree;
}

const sums = new WeakMap<Buffer, string>();

function sumOf(bytes: Buffer): string {
  const known = sums.get(bytes);
  if (known !== undefined) return known;
  const sum = `${bytes.length} ${checksum(bytes)}`;
  sums.set(bytes, sum);
  return sum;
}

/** The same text for trees that hold the same. */
export function keyOf(tree: Tree): string {
  const lines: string[] = [];
  for (const [path, { kind, target, bytes, mode }] of tree) {
    lines.push(kind === "file" ? `${path} ${mode} ${sumOf(bytes)}` : `${path} ${kind} ${target}`);
  }
  return lines.sort().join("\n");
}

/** What lies at a place on the real disk. */
export function readTree(root: string, prefix = "", tree: Map<string, Node> = new Map()): Tree {
  for (const name of readdirSync(join(root, prefix))) {
    const path = prefix + name;
    const full = join(root, path);
    const info = lstatSync(full);
    const mode = info.mode & 0o7777;
    const node = { id: info.ino, target: "", bytes: nothing, mode, touched: 0, changes: [] };
    if (info.isSymbolicLink()) tree.set(path, { ...node, kind: "link", target: readlinkSync(full) });
    else if (info.isDirectory()) tree.set(path, { ...node, kind: "folder" });
    else tree.set(path, { ...node, kind: "file", bytes: readFileSync(full) });
    if (info.isDirectory()) readTree(root, `${path}/`, tree);
  }
  return tree;
}

/** Puts a tree in place of whatever lies at the root. */
export function writeTree(root: string, tree: Tree): void {
  mkdirSync(root, { recursive: true });
  emptyFolder(root);
  const written = new Map<number, string>();
  for (const [path, { id, kind, target, bytes, mode }] of tree) {
    const full = `${root}/${path}`;
    if (kind === "folder") {
      mkdirSync(full);
    } else if (kind === "link") {
      symlinkSync(target, full);
    } else if (written.has(id)) {
      linkSync(written.get(id) ?? full, full);
    } else {
      writeFileSync(full, bytes);
      if (mode !== usualMode) chmodSync(full, mode);
      written.set(id, full);
    }
  }
}

const nothing: Buffer = Buffer.alloc(0);
const usualMode = 0o666 & ~process.umask();

/** A quicker `rm -r`, for tens of thousands of small trees. */
function emptyFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      emptyFolder(path);
      rmdirSync(path);
    } else {
      unlinkSync(path);
    }
  }
}
