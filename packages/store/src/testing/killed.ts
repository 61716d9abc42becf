import { changed, type Disk, type Inode, readDisk } from "./disk.ts";
import type { Call } from "./fault.ts";
import { collectTree, keyOf, type Look, type Tree, writeTree } from "./tree.ts";

/** What lies on a disk after something happened, to be put on a real one. */
export interface DiskState {
  /** After how many calls. */
  readonly at: number;
  readonly label: string;
  readonly tree: Tree;
  /** The same for states that hold the same. */
  readonly key: string;
  /** Puts it in place of whatever lies at the root. */
  restore(root: string): void;
}

/**
 * Every state a process leaves that is killed before any of its calls or within any of its writes, for a run that began
 * with what lies at `root` now. Nothing is lost but what it had not written yet.
 */
export function openKilled(root: string): (calls: readonly Call[]) => Generator<DiskState> {
  const disk = readDisk(root);
  return (calls) => statesOf(disk, calls);
}

/** A state and how to put it back. */
export function diskState(tree: Tree, at: number, label: string): DiskState {
  return { at, label, tree, key: keyOf(tree), restore: (root) => writeTree(root, tree) };
}

/** What a call is called in a label. */
export function nameOf(call: Call | undefined): string {
  return call === undefined ? "the end" : `${call.name} ${call.path || call.more}`;
}

/** Does a call leave the disk as it is? */
export function isHarmless({ name }: Call): boolean {
  return name === "open" || name === "read";
}

/** What lies on a disk from which nothing is lost. */
export function collectNow(disk: Disk): Tree {
  return collectTree(disk.root, now);
}

const now: Look = { names: ({ names }) => names, content: ({ current }) => current };

function* statesOf(disk: Disk, calls: readonly Call[]): Generator<DiskState> {
  for (let at = 0; at <= calls.length; at += 1) {
    const call = calls[at];
    if (call === undefined || !isHarmless(call)) {
      yield diskState(collectNow(disk), at, `killed before call ${at + 1}, ${nameOf(call)}`);
    }
    if (call === undefined) return;
    if (call.name === "write") yield* tornStates(disk, call, at);
    disk.apply(call);
  }
}

function* tornStates(disk: Disk, call: Call, at: number): Generator<DiskState> {
  const file = disk.find(call.path);
  if (file === undefined) return;
  const bytes = Buffer.from(call.more, "hex");
  for (const length of tearsOf(bytes.length)) {
    const offset = call.offset ?? file.current.bytes.length;
    const content = changed(file.current, { kind: "write", offset, bytes: bytes.subarray(0, length), at: 0 });
    const look: Look = { ...now, content: (inode: Inode) => (inode === file ? content : inode.current) };
    const label = `killed within call ${at + 1}, ${nameOf(call)}, after ${length} of ${bytes.length} bytes`;
    yield diskState(collectTree(disk.root, look), at, label);
  }
}

/** After the first byte, in the middle, before the last byte. */
function tearsOf(length: number): number[] {
  return [...new Set([1, length >> 1, length - 1])].filter((at) => at > 0 && at < length);
}
