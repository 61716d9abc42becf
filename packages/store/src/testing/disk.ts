import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Call } from "./fault.ts";

/**
 * A disk as a process's calls change it, in memory: folders hold names, names lead to files, links and folders, and each
 * knows what is durable and what was done since its last sync. It takes what the shim of `fault.c` recorded.
 */
export interface Disk {
  readonly root: Inode;
  /** Changes of names that no sync of their folder has made durable, in order. */
  readonly pending: readonly NameChange[];
  /** What an absolute path leads to now; `undefined` for a file that was unlinked while it is open. */
  find(path: string): Inode | undefined;
  /** Does one call. Throws for a call it does not know, so that none is passed over. */
  apply(call: Call): void;
}

/** A file, link or folder. */
export interface Inode {
  readonly id: number;
  readonly kind: "file" | "folder" | "link";
  /** A link's. */
  readonly target: string;
  /** What a file holds for certain, and what it holds now: that and the pending changes. */
  durable: Content;
  current: Content;
  pending: DataChange[];
  /** The numbers of the calls that changed what it holds, from 1. */
  readonly changes: number[];
  /** A folder's. */
  readonly durableNames: Map<string, Inode>;
  readonly names: Map<string, Inode>;
}

/** What a file holds; never changed in place. */
export interface Content {
  readonly bytes: Buffer;
  readonly mode: number;
  /** The number of the call that changed it last, from 1; 0 when none did. What came before need not be there. */
  readonly touched: number;
}

/** A change of a file that its next sync makes durable. */
export type DataChange = { readonly at: number } & (
  | { readonly kind: "write"; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly size: number }
  | { readonly kind: "mode"; readonly mode: number }
  | { readonly kind: "times" }
);

/** A change of names, atomic in itself: a rename has two effects, every other one has one. */
export interface NameChange {
  readonly effects: readonly NameEffect[];
}

export interface NameEffect {
  readonly folder: Inode;
  readonly name: string;
  /** What the name leads to then. */
  readonly inode: Inode | undefined;
}

/** The disk as it lies at `root` now, all of it durable. */
export function readDisk(root: string): Disk {
  let lastId = 0;
  const make = (kind: Inode["kind"], content: Content, target = ""): Inode => {
    lastId += 1;
    const names = { durableNames: new Map<string, Inode>(), names: new Map<string, Inode>() };
    return { id: lastId, kind, target, durable: content, current: content, pending: [], changes: [], ...names };
  };
  const top = readInode(root, make);
  const state: DiskState = { path: root, root: top, pending: [], calls: 0, make };
  return {
    root: top,
    get pending() {
      return state.pending;
    },
    find: (path) => inodeAt(state, path),
    apply: (call) => applyCall(state, call),
  };
}

/** What a file holds after a change. */
export function changed(content: Content, change: DataChange): Content {
  const touched = change.at;
  switch (change.kind) {
    case "write": {
      const { bytes: old, mode } = content;
      const bytes = Buffer.alloc(Math.max(old.length, change.offset + change.bytes.length));
      old.copy(bytes);
      change.bytes.copy(bytes, change.offset);
      return { bytes, mode, touched };
    }
    case "truncate": {
      const bytes = Buffer.alloc(change.size);
      content.bytes.copy(bytes);
      return { bytes, mode: content.mode, touched };
    }
    case "mode":
      return { bytes: content.bytes, mode: change.mode, touched };
    case "times":
      return { bytes: content.bytes, mode: content.mode, touched };
  }
}

type MakeInode = (kind: Inode["kind"], content: Content, target?: string) => Inode;

interface DiskState {
  readonly path: string;
  readonly root: Inode;
  pending: NameChange[];
  calls: number;
  readonly make: MakeInode;
}

const nothing: Buffer = Buffer.alloc(0);

function readInode(path: string, make: MakeInode): Inode {
  const info = lstatSync(path);
  const mode = info.mode & 0o7777;
  if (info.isSymbolicLink()) return make("link", { bytes: nothing, mode, touched: 0 }, readlinkSync(path));
  if (!info.isDirectory()) return make("file", { bytes: readFileSync(path), mode, touched: 0 });
  const folder = make("folder", { bytes: nothing, mode, touched: 0 });
  for (const name of readdirSync(path)) {
    const inode = readInode(join(path, name), make);
    folder.names.set(name, inode);
    folder.durableNames.set(name, inode);
  }
  return folder;
}

/** Calls that change nothing that lies on a disk. */
const harmless: ReadonlySet<string> = new Set(["open", "read", "mark", "chown"]);

function applyCall(state: DiskState, call: Call): void {
  state.calls += 1;
  if (harmless.has(call.name)) return;
  if (call.name === "overwrite") changeNames(state, { ...call, name: "create" });
  const data = dataChangeOf(call, state.calls);
  if (data !== undefined) {
    const inode = inodeAt(state, call.path);
    if (inode !== undefined) changeData(inode, data);
  } else if (call.name === "fsync" || call.name === "fdatasync") {
    const inode = inodeAt(state, call.path);
    if (inode !== undefined) syncInode(state, inode, call.name === "fdatasync");
  } else {
    changeNames(state, call);
  }
}

function inodeAt({ path: root, root: top }: DiskState, path: string): Inode | undefined {
  const parts = relative(root, path).split(sep).filter(Boolean);
  return parts.reduce<Inode | undefined>((inode, name) => inode?.names.get(name), top);
}

function dataChangeOf({ name, more, offset }: Call, at: number): DataChange | undefined {
  switch (name) {
    case "write":
      return { kind: "write", offset: offset ?? -1, bytes: Buffer.from(more, "hex"), at };
    case "ftruncate":
      return { kind: "truncate", size: Number(more), at };
    case "overwrite":
      return { kind: "truncate", size: 0, at };
    case "chmod":
      return { kind: "mode", mode: Number(more), at };
    case "times":
      return { kind: "times", at };
    default:
      return undefined;
  }
}

function changeData(inode: Inode, given: DataChange): void {
  const atEnd = given.kind === "write" && given.offset < 0;
  const change = atEnd ? { ...given, offset: inode.current.bytes.length } : given;
  inode.current = changed(inode.current, change);
  inode.changes.push(change.at);
  if (inode.kind === "folder") inode.durable = inode.current;
  else inode.pending.push(change);
}

/** A file's sync keeps its bytes (and all else it is, unless only its data is synced); a folder's keeps its names. */
function syncInode(state: DiskState, inode: Inode, dataOnly: boolean): void {
  const stays = (change: DataChange): boolean => dataOnly && (change.kind === "mode" || change.kind === "times");
  for (const change of inode.pending) if (!stays(change)) inode.durable = changed(inode.durable, change);
  inode.pending = inode.pending.filter(stays);
  if (inode.kind !== "folder") return;
  const isSynced = ({ effects }: NameChange): boolean => effects.some(({ folder }) => folder === inode);
  for (const { effects } of state.pending.filter(isSynced)) {
    for (const { folder, name, inode: made } of effects) setName(folder.durableNames, name, made);
  }
  state.pending = state.pending.filter((change) => !isSynced(change));
}

function setName(names: Map<string, Inode>, name: string, inode: Inode | undefined): void {
  if (inode === undefined) names.delete(name);
  else names.set(name, inode);
}

function changeNames(state: DiskState, call: Call): void {
  const effects = effectsOf(state, call);
  for (const { folder, name, inode } of effects) setName(folder.names, name, inode);
  if (effects.length > 0) state.pending.push({ effects });
}

/** A call that failed when it was made (a name that was taken, or was not there) has none. */
function effectsOf(state: DiskState, { name, path, more }: Call): NameEffect[] {
  const spot = spotOf(state, path);
  if (spot === undefined) return [];
  const there = spot.folder.names.get(spot.name);
  const made = (inode: Inode): NameEffect[] => (there === undefined ? [{ ...spot, inode }] : []);
  const content: Content = { bytes: nothing, mode: Number(more), touched: state.calls };
  switch (name) {
    case "create":
      return made(state.make("file", content));
    case "mkdir":
      return made(state.make("folder", content));
    case "symlink":
      return made(state.make("link", { ...content, mode: 0o777 }, more));
    case "link": {
      const inode = inodeAt(state, more);
      return inode === undefined ? [] : made(inode);
    }
    case "unlink":
    case "rmdir":
      return there === undefined ? [] : [{ ...spot, inode: undefined }];
    case "rename": {
      const inode = inodeAt(state, more);
      const from = spotOf(state, more);
      if (inode === undefined || from === undefined) return [];
      return [
        { ...from, inode: undefined },
        { ...spot, inode },
      ];
    }
    default:
      throw new Error(`the disk knows no call ${name}`);
  }
}

function spotOf(state: DiskState, path: string): { folder: Inode; name: string } | undefined {
  const at = path.lastIndexOf("/");
  const folder = inodeAt(state, path.slice(0, at));
  return folder === undefined ? undefined : { folder, name: path.slice(at + 1) };
}
