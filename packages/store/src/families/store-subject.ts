import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRandom } from "../testing/random.ts";
import { adoptIndex } from "./adopted-index.ts";
import { History, type Item, isWhole, itemOf, linesOf, type StoreStep, type World, worldsOf } from "./store-world.ts";
import { type Api, differing, type Moment, type Session, type Subject } from "./subject.ts";

/** A kind of store and of run. */
export interface StoreRun {
  readonly name: string;
  readonly durability: "fsync" | "os";
  /** Is there a file already, with a damaged line in it? */
  readonly hasFile: boolean;
  readonly steps: (size: number) => readonly StoreStep[];
}

const damaged = '{"id":"damaged line",';
const fileName = "jobs.jsonl";

/** Begins with a damaged line, one that is removed, and an entry that only lost its newline. */
const initialText = `${damaged}\n{"id":"kept","n":0,"text":"kept#0"}\n{"id":"gone","n":1,"text":"gone#1é"}\n{"id":"gone","$deleted":true}\n{"id":"last","n":3,"text":"last#3ééé"}`;
const initialWorld: World = new Map([
  ["kept", 0],
  ["last", 3],
]);

/** The keyed store: puts, batches, puts at once, removals, compactions and openings. */
export function storeSubject({ name, durability, hasFile, steps }: StoreRun): Subject<StoreStep> {
  const history = new History(hasFile ? initialWorld : new Map());
  const options = (root: string) => ({ path: join(root, fileName), key: "id", durability });
  return {
    name,
    steps,
    prepare: (root) => {
      if (hasFile) writeFileSync(join(root, fileName), initialText);
    },
    settle: (root, tree) => {
      adoptIndex({ store: join(root, fileName), index: join(root, `${fileName}.idx`) }, tree);
    },
    open: (api, root) => openSession(api, options(root)),
    look: (api, root) => {
      const store = api.openStore({ ...options(root), readOnly: true });
      const entries = [...store.entries()];
      void store.close();
      return JSON.stringify(entries);
    },
    isJoint: (step) => step.do === "together",
    check: async (api, root, moment) => {
      const look: Look = { api, root, options: options(root), moment, hasDamage: hasFile };
      const before = readEntries(look);
      return [
        ...before.problems,
        ...judge(before.world, { history, moment, isSynced: durability === "fsync" }),
        ...judgeDamage(look, false),
        ...(await goOn(look, before.world)),
      ];
    },
  };
}

export const storeRuns: readonly StoreRun[] = [
  { name: "a store, synced", durability: "fsync", hasFile: true, steps: (size) => mixedSteps(size, 7) },
  { name: "a new store, synced", durability: "fsync", hasFile: false, steps: (size) => mixedSteps(size, 4) },
  { name: "a store, not synced", durability: "os", hasFile: true, steps: (size) => mixedSteps(size, 5) },
  { name: "a store with an index", durability: "os", hasFile: true, steps: indexedSteps },
];

function mixedSteps(size: number, keys: number): StoreStep[] {
  const random = newRandom(size);
  const steps: StoreStep[] = [];
  let n = 10;
  const next = (): Item => {
    n += 1;
    return itemOf(`k${random.below(keys)}`, n, random.below(12));
  };
  const distinct = (count: number): Item[] => {
    const items = new Map<string, Item>();
    while (items.size < count) {
      const item = next();
      items.set(item.id, item);
    }
    return [...items.values()];
  };
  for (let at = 0; at < size; at += 1) {
    const turn = random.below(20);
    if (at % 11 === 10) steps.push({ do: "compact" });
    else if (at % 13 === 12) steps.push({ do: "reopen" });
    else if (turn < 11) steps.push({ do: "put", items: [next()] });
    else if (turn < 14) steps.push({ do: "put", items: distinct(3) });
    else if (turn < 17) steps.push({ do: "together", items: distinct(3) });
    else steps.push({ do: "remove", id: random.pick(["kept", "last", "k0", "k1", "k2"]) });
  }
  return steps;
}

/** Long entries, so that there is an index, and short ones that come and go between openings, which keep it. */
function indexedSteps(size: number): StoreStep[] {
  const long = [1, 2, 3, 4].map((n) => itemOf(`long${n}`, n, 66_000));
  const steps: StoreStep[] = [{ do: "put", items: long }, { do: "compact" }];
  for (let n = 5; steps.length < size; n += 1) {
    const item = itemOf(`new${n}`, n, 9);
    steps.push({ do: "put", items: [item] }, { do: "reopen" });
    if (n % 3 === 1) steps.push({ do: "compact" });
    if (n % 2 === 0) steps.push({ do: "remove", id: item.id }, { do: "reopen" });
  }
  return steps;
}

type StoreOptions = Parameters<Api["openStore"]>[0];

function openSession(api: Api, options: StoreOptions): Session<StoreStep> {
  let store = api.openStore(options);
  const put = (item: Item): Promise<void> => store.put({ ...item });
  return {
    run: async (step) => {
      switch (step.do) {
        case "put":
          return step.items.length === 1
            ? put(step.items[0] as Item)
            : store.putAll(step.items.map((item) => ({ ...item })));
        case "together":
          await Promise.all(step.items.map(put));
          return;
        case "remove":
          await store.remove(step.id);
          return;
        case "compact":
          await store.compact();
          return;
        case "reopen":
          await store.close();
          store = api.openStore(options);
      }
    },
  };
}

interface Look {
  readonly api: Api;
  readonly root: string;
  readonly options: StoreOptions;
  readonly moment: Moment<StoreStep>;
  readonly hasDamage: boolean;
}

interface Read {
  readonly world: World;
  readonly problems: readonly string[];
}

/** Opens the store anew and reads all of it, by every way to ask. */
function readEntries({ api, options, moment, hasDamage }: Look): Read {
  const store = api.openStore(options);
  const [size, keys] = [store.size, [...store.keys()]];
  const entries = [...store.entries()];
  const problems: string[] = [];
  for (const [key, value] of entries) {
    const item = value as Partial<Item>;
    if (!isWhole(item) || item.id !== key) problems.push(`the entry of ${key} is ${JSON.stringify(value)}`);
    if (!store.has(key)) problems.push(`${key} is listed and not there`);
  }
  const world = new Map(entries.map(([key, value]) => [key, Number((value as Item).n)]));
  problems.push(...differing("the list of keys", keys, [...world.keys()]));
  problems.push(...differing("the size", size, world.size));
  const most = (hasDamage ? 1 : 0) + (moment.underWay === undefined ? 0 : 1);
  if (!moment.isPowerCut && store.problems.length > most)
    problems.push(`there are ${store.problems.length} damaged lines`);
  void store.close();
  return { world, problems };
}

interface Bounds {
  readonly history: History;
  readonly moment: Moment<StoreStep>;
  /** What is acknowledged is on the disk. */
  readonly isSynced: boolean;
}

/** Is it what was acknowledged, and what was under way as far as that had come? */
function judge(found: World, { history, moment, isSynced }: Bounds): readonly string[] {
  const acknowledged = history.after(moment.acknowledged);
  const possible = worldsOf(acknowledged, moment.underWay);
  if (possible.some((world) => isSame(world, found))) return [];
  const wrong = `it holds ${spelled(found)} after ${spelled(acknowledged)} was acknowledged and ${JSON.stringify(moment.underWay)} begun`;
  if (!moment.isPowerCut) return [wrong];
  // Lines of one write may be lost one by one, and whole writes where no sync was asked for.
  const lines = linesOf(moment.underWay);
  const begun = (id: string): readonly (number | undefined)[] =>
    lines.flatMap((line) =>
      "removed" in line ? (line.removed === id ? [undefined] : []) : line.id === id ? [line.n] : [],
    );
  const ids = new Set([
    ...acknowledged.keys(),
    ...found.keys(),
    ...lines.map((line) => ("removed" in line ? line.removed : line.id)),
  ]);
  for (const id of ids) {
    const value = found.get(id);
    // Of an entry that never had its newline, a power cut may make a damaged line while it is given one.
    if (id === "last" && value === undefined && moment.acknowledged.length === 0) continue;
    if (acknowledged.get(id) === value || begun(id).includes(value)) continue;
    if (!isSynced && history.valuesOf(id).has(value)) continue;
    return [wrong];
  }
  return [];
}

function isSame(left: World, right: World): boolean {
  return spelled(left) === spelled(right);
}

function spelled(world: World): string {
  return JSON.stringify([...world]);
}

/** A damaged line is kept, in the file or beside it; after a compaction beside it, and once. */
function judgeDamage({ root, hasDamage, moment }: Look, isCompacted: boolean): readonly string[] {
  if (!hasDamage) return [];
  const count = (name: string): number => {
    const path = join(root, name);
    return existsSync(path)
      ? readFileSync(path, "utf8")
          .split("\n")
          .filter((line) => line === damaged).length
      : 0;
  };
  const counts = [count(fileName), count(`${fileName}.damaged`)];
  // Beside other damage, of which a power cut makes more, it may be kept twice.
  if (isCompacted && moment.isPowerCut && counts[0] === 0 && counts[1] === 2) return [];
  if (isCompacted) return differing("the damaged line, in the file and beside it", counts, [0, 1]);
  return counts[0] === 0 && counts[1] === 0 ? ["the damaged line is gone"] : [];
}

/** A put works, and so does a compaction, and neither changes anything else nor leaves anything behind. */
async function goOn(look: Look, before: World): Promise<readonly string[]> {
  const { api, options, moment } = look;
  const findings: string[] = [];
  const work = async (n: number): Promise<void> => {
    const store = api.openStore(options);
    await store.put({ ...itemOf("probe", n) });
    if (moment.isThorough) await store.put({ ...itemOf("probe", n + 1) });
    if (moment.isThorough) await store.compact();
    await store.close();
    const expected = new Map(before).set("probe", moment.isThorough ? n + 1 : n);
    const after = readEntries(look);
    findings.push(...after.problems, ...differing("after going on, it", [...after.world], [...expected]));
  };
  await work(1);
  if (!moment.isThorough) return findings;
  findings.push(...judgeDamage(look, true), ...judgeNames(look));
  await work(3);
  findings.push(...judgeDamage(look, true), ...judgeNames(look));
  return findings;
}

function judgeNames({ root }: Look): readonly string[] {
  const known = [fileName, `${fileName}.damaged`, `${fileName}.idx`];
  const strange = readdirSync(root).filter((name) => !known.includes(name));
  return strange.length === 0 ? [] : [`left behind: ${strange.join(", ")}`];
}
