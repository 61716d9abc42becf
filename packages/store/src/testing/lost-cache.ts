import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { checksum } from "../checksum.ts";
import type { Call } from "./fault.ts";

/**
 * A disk that may forget what was not synced. It takes the calls a process made, and tells every state a power cut after
 * each of them could leave: names made, moved and removed since their folder was last synced may be lost or kept, one
 * independently of the other; and so may bytes and modes since their file was.
 */
interface Inode {
  readonly kind: "file" | "folder" | "link";
  readonly target: string;
  durable: { bytes: Buffer; mode: number };
  current: { bytes: Buffer; mode: number };
}

type Names = Map<string, Inode>;

/** A change of names, atomic in itself, not yet durable. */
interface Pending {
  readonly folders: readonly string[];
  readonly apply: (names: Names) => void;
}

/** What a power cut left, to be put on a real disk. */
export interface LostState {
  /** After how many calls. */
  readonly at: number;
  readonly label: string;
  /** Puts it in place of whatever lies at the root. */
  restore(root: string): void;
}

/** Every state the disk may be in after a power cut at any point, for a run that began with what lies at `root` now. */
export function openLostCache(root: string): (calls: readonly Call[]) => Generator<LostState> {
  const names: Names = new Map();
  readTree(root, root, names);
  return (calls) => statesOf(root, names, calls);
}

function* statesOf(root: string, initial: Names, calls: readonly Call[]): Generator<LostState> {
  const current: Names = new Map(initial);
  const durable: Names = new Map(initial);
  let pending: Pending[] = [];
  for (let at = 0; at <= calls.length; at += 1) {
    const call = calls[at];
    if (call?.name === "open") continue;
    yield* statesNow({ root, at, durable, pending });
    if (call === undefined) return;
    if (call.name === "fsync" || call.name === "fdatasync") {
      const inode = current.get(call.path);
      if (inode?.kind === "file") inode.durable = { ...inode.current };
      for (const change of pending) if (change.folders.includes(call.path)) change.apply(durable);
      pending = pending.filter((change) => !change.folders.includes(call.path));
      continue;
    }
    const change = changeOf(call, current);
    if (change === undefined) continue;
    change.apply(current);
    pending.push(change);
  }
}

interface Moment {
  readonly root: string;
  readonly at: number;
  readonly durable: Names;
  readonly pending: readonly Pending[];
}

function* statesNow({ root, at, durable, pending }: Moment): Generator<LostState> {
  const choices = new Map<string, readonly Pending[]>([
    ["no name", []],
    ["every name", pending],
  ]);
  for (const [index, change] of pending.entries()) {
    choices.set(`only name ${index}`, [change]);
    choices.set(
      `all names but ${index}`,
      pending.filter((other) => other !== change),
    );
  }
  const seen = new Set<string>();
  for (const [label, kept] of choices) {
    const names: Names = new Map(durable);
    for (const change of kept) change.apply(names);
    for (const data of ["durable", "current", "half"] as const) {
      const state = snapshot(names, data);
      const spelled = JSON.stringify(
        [...state].map(([path, node]) => [path, { ...node, bytes: checksum(node.bytes) }]),
      );
      if (seen.has(spelled)) continue;
      seen.add(spelled);
      yield { at, label: `after call ${at}: ${label}, ${data} bytes`, restore: (into) => writeTree(root, into, state) };
    }
  }
}

interface Node {
  readonly kind: Inode["kind"];
  readonly target: string;
  readonly bytes: Buffer;
  readonly mode: number;
}

function snapshot(names: Names, data: "durable" | "current" | "half"): Map<string, Node> {
  const state = new Map<string, Node>();
  for (const [path, { kind, target, durable, current }] of names) {
    const half = Math.ceil((durable.bytes.length + current.bytes.length) / 2);
    const bytes =
      data === "half" ? current.bytes.subarray(0, half) : data === "current" ? current.bytes : durable.bytes;
    state.set(path, { kind, target, bytes, mode: data === "durable" ? durable.mode : current.mode });
  }
  return state;
}

function changeOf({ name, path, more }: Call, current: Names): Pending | undefined {
  const folders = [dirname(path)];
  const inode = current.get(path);
  const add = (made: Inode): Pending => ({ folders, apply: (names) => void names.set(path, made) });
  switch (name) {
    case "create":
      return inode === undefined ? add(newInode("file", Number(more))) : undefined;
    case "mkdir":
      return add(newInode("folder", Number(more)));
    case "symlink":
      return add(newInode("link", 0o777, more));
    case "unlink":
    case "rmdir":
      return { folders, apply: (names) => void names.delete(path) };
    case "rename":
      return { folders: [dirname(path), dirname(more)], apply: (names) => moveName(names, more, path) };
    case "write":
      if (inode !== undefined) inode.current.bytes = Buffer.concat([inode.current.bytes, Buffer.from(more, "hex")]);
      return undefined;
    case "ftruncate":
      if (inode !== undefined) inode.current.bytes = inode.current.bytes.subarray(0, Number(more));
      return undefined;
    case "chmod":
      if (inode !== undefined) inode.current.mode = Number(more);
      return undefined;
    default:
      return undefined;
  }
}

function newInode(kind: Inode["kind"], mode: number, target = ""): Inode {
  const start = { bytes: Buffer.alloc(0), mode };
  return { kind, target, durable: { ...start }, current: { ...start } };
}

function moveName(names: Names, from: string, to: string): void {
  for (const [path, inode] of [...names]) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    names.delete(path);
    names.set(to + path.slice(from.length), inode);
  }
}

function readTree(root: string, folder: string, names: Names): void {
  names.set(folder, newInode("folder", 0o755));
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const info = lstatSync(path);
    if (info.isDirectory()) {
      readTree(root, path, names);
    } else if (info.isSymbolicLink()) {
      names.set(path, newInode("link", 0o777, readlinkSync(path)));
    } else {
      const held = { bytes: readFileSync(path), mode: info.mode & 0o7777 };
      names.set(path, { kind: "file", target: "", durable: { ...held }, current: { ...held } });
    }
  }
}

/** What has no folder to lie in is out of reach, as on a real disk. */
function writeTree(root: string, into: string, state: ReadonlyMap<string, Node>): void {
  rmSync(into, { recursive: true, force: true });
  const made = new Set<string>();
  for (const [path, node] of [...state].sort(([left], [right]) => (left < right ? -1 : 1))) {
    if (path !== root && !made.has(dirname(path))) continue;
    const target = join(into, relative(root, path));
    if (node.kind === "folder") {
      mkdirSync(target, { recursive: true });
      made.add(path);
    } else if (node.kind === "link") {
      symlinkSync(node.target, target);
    } else {
      writeFileSync(target, node.bytes);
      chmodSync(target, node.mode);
    }
  }
}
