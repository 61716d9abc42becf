import { type Content, changed, type DataChange, type Disk, type Inode, type NameChange, readDisk } from "./disk.ts";
import type { Call } from "./fault.ts";
import { type DiskState, diskState, isHarmless, nameOf } from "./killed.ts";
import { newRandom, type Random } from "./random.ts";
import { collectTree } from "./tree.ts";

/** What a power cut left. */
export type LostState = DiskState;

/** How a disk loses. */
export interface LostCacheOptions {
  /** Also keep the size of a file whose bytes are lost: there are zeros then. */
  readonly zeros?: boolean;
}

/**
 * Every state a disk that forgets what was not synced may be in after a power cut at any point, for a run that began with
 * what lies at `root` now. Names made, moved and removed since their folder was last synced may be kept or lost, those
 * that no rename ties together independently of each other. Of what was written to a file since its last sync there may
 * be all, nothing, a beginning, half of the last write and, with zeros, all but one write. Where there are too many ways to
 * combine all that, the plainest ones and a sample of the others are given.
 */
export function openLostCache(
  root: string,
  { zeros = false }: LostCacheOptions = {},
): (calls: readonly Call[]) => Generator<LostState> {
  const disk = readDisk(root);
  return (calls) => statesOf(disk, calls, zeros);
}

function* statesOf(disk: Disk, calls: readonly Call[], zeros: boolean): Generator<LostState> {
  const random = newRandom(1);
  for (let at = 0; at <= calls.length; at += 1) {
    const call = calls[at];
    if (call === undefined || !isHarmless(call)) {
      const label = `power cut before call ${at + 1}, ${nameOf(call)}`;
      yield* statesNow(disk, { at, label, random, zeros });
    }
    if (call !== undefined) disk.apply(call);
  }
}

interface Moment {
  readonly at: number;
  readonly label: string;
  readonly random: Random;
  readonly zeros: boolean;
}

function* statesNow(disk: Disk, { at, label, random, zeros }: Moment): Generator<LostState> {
  const names = groupsOf(disk.pending).map(outcomesOf);
  const files = filesIn(disk).map((file) => ({ file, contents: contentsOf(file, zeros) }));
  const sizes = [...names.map(({ length }) => length), ...files.map(({ contents }) => contents.length)];
  const seen = new Set<string>();
  for (const choice of choicesOf(sizes, random)) {
    const overlay = new Map<Inode, Map<string, Inode | undefined>>();
    names.forEach((outcomes, index) => {
      for (const { folder, name, inode } of outcomes[choice[index] ?? 0]?.values() ?? []) {
        const own = overlay.get(folder) ?? new Map<string, Inode | undefined>();
        overlay.set(folder, own.set(name, inode));
      }
    });
    const held = new Map(files.map(({ file, contents }, index) => [file, contents[choice[names.length + index] ?? 0]]));
    const tree = collectTree(disk.root, {
      names: (folder) => overlaid(folder.durableNames, overlay.get(folder)),
      content: (inode) => held.get(inode) ?? inode.durable,
    });
    const state = diskState(tree, at, `${label}, choice ${choice.join(".")} of ${sizes.join(".")}`);
    if (seen.has(state.key)) continue;
    seen.add(state.key);
    yield state;
  }
}

function overlaid(
  names: ReadonlyMap<string, Inode>,
  changes: ReadonlyMap<string, Inode | undefined> | undefined,
): ReadonlyMap<string, Inode> {
  if (changes === undefined) return names;
  const result = new Map(names);
  for (const [name, inode] of changes) {
    if (inode === undefined) result.delete(name);
    else result.set(name, inode);
  }
  return result;
}

/** Beyond this many ways to combine the choices at one moment there is a sample. */
const mostChoices = 96;

/** One index for each number of ways; the first way of each is that nothing was kept, the last that all was. */
function* choicesOf(sizes: readonly number[], random: Random): Generator<readonly number[]> {
  if (sizes.reduce((product, size) => product * size, 1) <= mostChoices) {
    yield* combine(sizes);
    return;
  }
  const none = sizes.map(() => 0);
  const all = sizes.map((size) => size - 1);
  yield none;
  yield all;
  for (const [index, size] of sizes.entries()) {
    for (let way = 0; way < size; way += 1) {
      yield none.with(index, way);
      yield all.with(index, way);
    }
  }
  for (let count = 0; count < mostChoices / 2; count += 1) yield sizes.map((size) => random.below(size));
}

function* combine(sizes: readonly number[]): Generator<readonly number[]> {
  const [size, ...rest] = sizes;
  if (size === undefined) {
    yield [];
    return;
  }
  for (let way = 0; way < size; way += 1) for (const others of combine(rest)) yield [way, ...others];
}

/** Changes that share a name, directly or through others, in order. */
function groupsOf(pending: readonly NameChange[]): NameChange[][] {
  let groups: { readonly spots: Set<string>; readonly changes: NameChange[] }[] = [];
  for (const change of pending) {
    const spots = change.effects.map(spotOf);
    const touched = groups.filter((group) => spots.some((spot) => group.spots.has(spot)));
    const merged = {
      spots: new Set([...touched.flatMap((group) => [...group.spots]), ...spots]),
      changes: [...touched.flatMap(({ changes }) => changes), change],
    };
    groups = [...groups.filter((group) => !touched.includes(group)), merged];
  }
  return groups.map(({ changes }) => changes.sort((left, right) => pending.indexOf(left) - pending.indexOf(right)));
}

type Effect = NameChange["effects"][number];

function spotOf({ folder, name }: Effect): string {
  return `${folder.id}/${name}`;
}

/** What the names of a group lead to, for every way to keep some of its changes; the first keeps none, the last all. */
function outcomesOf(changes: readonly NameChange[]): readonly ReadonlyMap<string, Effect>[] {
  const outcomes = new Map<string, ReadonlyMap<string, Effect>>();
  for (const kept of [...subsetsOf(changes)].reverse()) {
    const outcome = new Map<string, Effect>();
    for (const { effects } of kept) for (const effect of effects) outcome.set(spotOf(effect), effect);
    const key = [...outcome].map(([spot, { inode }]) => `${spot}=${inode?.id}`);
    const spelled = key.sort().join();
    if (!outcomes.has(spelled)) outcomes.set(spelled, outcome);
  }
  return [...outcomes.values()].reverse();
}

/** From none to all. Of more than four changes: every beginning, and all but one. */
function* subsetsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  if (items.length <= 4) {
    for (let bits = 0; bits < 1 << items.length; bits += 1)
      yield items.filter((_, index) => (bits & (1 << index)) !== 0);
    return;
  }
  for (let length = 0; length < items.length; length += 1) yield items.slice(0, length);
  for (const left of items) yield items.filter((item) => item !== left);
  yield items;
}

/** The files with unsynced changes that any of the names, old or new, leads to. */
function filesIn(disk: Disk): Inode[] {
  const found = new Set<Inode>();
  const seen = new Set<Inode>();
  const visit = (inode: Inode | undefined): void => {
    if (inode === undefined || seen.has(inode)) return;
    seen.add(inode);
    if (inode.kind === "file" && inode.pending.length > 0) found.add(inode);
    for (const below of inode.durableNames.values()) visit(below);
    for (const below of inode.names.values()) visit(below);
  };
  visit(disk.root);
  for (const { effects } of disk.pending) for (const { inode } of effects) visit(inode);
  return [...found];
}

const known = new WeakMap<Inode, { readonly from: Content; readonly count: number; readonly contents: Content[] }>();

/** What a file may hold; the first is what is durable, the last is everything. */
function contentsOf(file: Inode, zeros: boolean): readonly Content[] {
  const { durable, pending } = file;
  const cached = known.get(file);
  if (cached !== undefined && cached.from === durable && cached.count === pending.length) return cached.contents;
  const contents = new Map<string, Content>();
  for (const changes of [pending, [], ...waysToLose(pending), ...(zeros ? waysToZero(pending) : [])]) {
    const content = changes.reduce(changed, durable);
    const key = `${content.mode} ${content.bytes.toString("latin1")}`;
    if (!contents.has(key)) contents.set(key, content);
  }
  const [all = durable, ...others] = contents.values();
  const result = [...others, all];
  known.set(file, { from: durable, count: pending.length, contents: result });
  return result;
}

/** A beginning of the changes, and the next one half. */
function* waysToLose(pending: readonly DataChange[]): Generator<readonly DataChange[]> {
  for (const index of sampled(pending.length)) {
    const before = pending.slice(0, index);
    yield before;
    yield [...before, ...pending.slice(index, index + 1).flatMap(halved)];
  }
}

/** The size is kept and some bytes are not. */
function* waysToZero(pending: readonly DataChange[]): Generator<readonly DataChange[]> {
  yield pending.map(zeroed);
  for (const index of sampled(pending.length)) {
    const before = pending.slice(0, index);
    const change = pending.slice(index, index + 1);
    const after = pending.slice(index + 1);
    yield [...before, ...after];
    yield [...before, ...change.map(zeroed), ...after];
    yield [...before, ...change.flatMap(lateHalf)];
  }
}

/** All of them, or the first ones, the last ones and some between. */
function sampled(count: number): number[] {
  const indexes = Array.from({ length: count }, (_, index) => index);
  return indexes.filter((index) => index < 4 || index >= count - 6 || index % Math.ceil(count / 8) === 0);
}

function zeroed(change: DataChange): DataChange {
  return change.kind === "write" ? { ...change, bytes: Buffer.alloc(change.bytes.length) } : change;
}

function halved(change: DataChange): readonly DataChange[] {
  if (change.kind !== "write") return [];
  return [{ ...change, bytes: change.bytes.subarray(0, change.bytes.length >> 1) }];
}

/** The disk took the second half first. */
function lateHalf(change: DataChange): readonly DataChange[] {
  if (change.kind !== "write") return [];
  const bytes = Buffer.from(change.bytes);
  return [{ ...change, bytes: bytes.fill(0, 0, bytes.length >> 1) }];
}
