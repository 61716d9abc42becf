import { closeSync, mkdirSync, openSync } from "node:fs";
import { type ReaderOrders, readEntries, type WriterOrders, writeEntries } from "./crowd-member.ts";
import { fillStore } from "./filling.ts";
import { openNewborn } from "./newborn.ts";
import { type Refusal, refuseEachCall } from "./refusal.ts";
import { itemOf } from "./store-world.ts";
import type { Api } from "./subject.ts";
import { subjects } from "./subjects.ts";

/** What a child process does, by the first of its arguments. */
export function main(api: Api, args: readonly string[]): void {
  const [verb, ...rest] = args;
  const work = verbs[verb ?? ""];
  if (work === undefined) throw new Error(`there is no verb ${verb}`);
  // What it throws ends the process, for nobody catches it.
  void work(api, rest);
}

type Verb = (api: Api, args: readonly string[]) => Promise<void>;

const verbs: Readonly<Record<string, Verb>> = {
  rehearse,
  refuse,
  fill,
  exhaust,
  found,
  write: (api, [orders = ""]) => writeEntries(api, JSON.parse(orders) as WriterOrders),
  read: (api, [orders = ""]) => readEntries(api, JSON.parse(orders) as ReaderOrders),
};

/** Does the steps of a subject and says when each begins and is acknowledged. */
async function rehearse(api: Api, [name = "", size = "", root = ""]: readonly string[]): Promise<void> {
  const subject = subjects[name];
  if (subject === undefined) throw new Error(`there is no subject ${name}`);
  const session = subject.open(api, root);
  for (const [index, step] of subject.steps(Number(size)).entries()) {
    mark(`begin ${index}`);
    await session.run(step);
    mark(`end ${index}`);
  }
}

/** Refuses each call of a subject's run in turn and prints what came of it. */
async function refuse(api: Api, [name = "", size = "", root = "", refusals = "[]"]: readonly string[]): Promise<void> {
  const subject = subjects[name];
  if (subject === undefined) throw new Error(`there is no subject ${name}`);
  const tally = await refuseEachCall(api, { subject, root, size: Number(size) }, JSON.parse(refusals) as Refusal[]);
  print(tally);
}

/** Puts entries until one is refused, and prints how many were acknowledged and what was said. */
async function fill(api: Api, [path = "", durability = "fsync"]: readonly string[]): Promise<void> {
  const store = api.openStore({ path, key: "id", durability: durability === "os" ? "os" : "fsync" });
  print(await fillStore(api, (n) => store.put({ ...itemOf(`k${n}`, n, 100) })));
}

/** Puts an entry while no file can be opened, and another when there can. */
async function exhaust(api: Api, [path = ""]: readonly string[]): Promise<void> {
  const store = api.openStore({ path, key: "id" });
  const files: number[] = [];
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    // There are no more.
  }
  const refused = await fillStore(api, (n) => store.put({ ...itemOf("first", n) }));
  for (const file of files) closeSync(file);
  await store.put({ ...itemOf("second", 2) });
  print({ ...refused, keys: [...store.keys()] });
}

/** Makes new stores, logs and documents, one after the other. */
async function found(api: Api, [folder = "", count = ""]: readonly string[]): Promise<void> {
  for (let n = 0; n < Number(count); n += 1) {
    const { store, log, document } = openNewborn(api, folder, n);
    await store.put({ ...itemOf("first", n) });
    await log.append({ n });
    await document.update(() => ({ n }));
    await Promise.all([store.close(), log.close()]);
  }
}

function print(value: unknown): void {
  process.stdout.write(JSON.stringify(value));
}

/** Tells the shim how far the run is. */
function mark(text: `begin ${number}` | `end ${number}`): void {
  mkdirSync(`/.fault/mark/${text}`);
}
