import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";
import { newRandom } from "../testing/random.ts";
import { type Item, isWhole, itemOf } from "./store-world.ts";
import type { Api } from "./subject.ts";

/** What a writer is told. Whatever is acknowledged to it, it writes down in a plain file of its own before it goes on. */
export interface WriterOrders {
  readonly path: string;
  readonly durability: "fsync" | "os";
  readonly writer: number;
  /** How many entries it is to have put in the end, over all its lives. */
  readonly count: number;
  /** After about so many of its puts it compacts the store. */
  readonly compactEvery: number;
  readonly seed: number;
}

export interface ReaderOrders {
  readonly path: string;
  /** Opens the store anew each time rather than taking in what is new. */
  readonly reopens: boolean;
}

/** Each writer has so many keys, which no other one writes. */
export const keysOfWriter = 3;

export function keyOfEntry(writer: number, n: number): string {
  return `w${writer}.${n % keysOfWriter}`;
}

/** Where a writer keeps what was acknowledged to it. */
export function notesOf(path: string, writer: number): string {
  return `${path}.notes.${writer}`;
}

/** The number of the last entry that was acknowledged; a line cut short by a kill is none. */
export function readAcknowledged(notes: string): number {
  return existsSync(notes) ? Number(readFileSync(notes, "utf8").split("\n").at(-2) ?? 0) : 0;
}

/** Puts entries until all are put, prints a dot for each and a line for whatever is wrong. */
export async function writeEntries(api: Api, orders: WriterOrders): Promise<void> {
  const { path, durability, writer, count, compactEvery, seed } = orders;
  const random = newRandom(seed);
  const notes = notesOf(path, writer);
  const store = api.openStore<Item>({ path, key: "id", durability, parse });
  const log = api.openLog({ path: `${path}.log`, durability });
  const begun = readAcknowledged(notes);
  for (const finding of judgeOwn(store, { writer, acknowledged: begun, isRestarted: true })) say(finding);
  for (let n = begun + 1; n <= count; n += 1) {
    await store.put(itemOf(keyOfEntry(writer, n), n, random.below(40)));
    if (n % 4 === 0) await log.append({ n, writer });
    appendFileSync(notes, `${n}\n`);
    if (random.below(compactEvery) === 0) await store.compact();
    if (n % 8 === 0) store.refresh();
    for (const finding of judgeOwn(store, { writer, acknowledged: n, isRestarted: false })) say(finding);
    writeSync(1, ".");
  }
  await store.close();
  await log.close();
}

/** What is asked of a store of items. */
interface ItemStore {
  get(key: string): Item | undefined;
}

function parse(value: unknown): Item {
  if (!isWhole(value as Partial<Item>)) throw new Error("is no whole entry");
  return value as Item;
}

interface Own {
  readonly writer: number;
  readonly acknowledged: number;
  /** An entry that was under way when its writer was killed may be there. */
  readonly isRestarted: boolean;
}

/** Every key of the writer must hold what was acknowledged last. */
function judgeOwn(store: ItemStore, { writer, acknowledged, isRestarted }: Own): readonly string[] {
  const findings: string[] = [];
  for (let n = acknowledged; n > Math.max(0, acknowledged - keysOfWriter); n -= 1) {
    const found = store.get(keyOfEntry(writer, n))?.n;
    const isNext = isRestarted && found === acknowledged + 1 && keyOfEntry(writer, found) === keyOfEntry(writer, n);
    if (found !== n && !isNext) findings.push(`${keyOfEntry(writer, n)} is ${found}, and ${n} was acknowledged`);
  }
  return findings;
}

/** Reads until its input ends; prints how often it read, how often something was new, and whatever is wrong. */
export async function readEntries(api: Api, { path, reopens }: ReaderOrders): Promise<void> {
  let isOver = false;
  process.stdin.on("end", () => {
    isOver = true;
  });
  process.stdin.resume();
  const open = () => api.openStore<Item>({ path, key: "id", readOnly: true, parse });
  const seen = new Map<string, number>();
  const tally = { reads: 0, changes: 0 };
  let store = open();
  while (!isOver) {
    if (reopens) void store.close();
    if (reopens) store = open();
    const changed = reopens || store.refresh();
    tally.reads += 1;
    if (changed) {
      tally.changes += 1;
      for (const finding of judgeSeen(store, seen)) say(finding);
    }
    await new Promise(setImmediate);
  }
  process.stdout.write(JSON.stringify(tally));
}

/** No key is lost or goes back, and no line is damaged. */
function judgeSeen(store: ReturnType<Api["openStore"]>, seen: Map<string, number>): readonly string[] {
  const findings = store.problems.map(({ line, reason }) => `line ${line} is damaged: ${reason}`);
  const entries = new Map([...store.entries()].map(([key, value]) => [key, Number((value as unknown as Item).n)]));
  for (const [key, n] of seen) {
    const now = entries.get(key);
    if (now === undefined || now < n) findings.push(`${key} was ${n} and is ${now}`);
  }
  for (const [key, n] of entries) seen.set(key, n);
  return findings;
}

function say(finding: string): void {
  writeSync(2, `${finding}\n`);
}
