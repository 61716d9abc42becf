import { join } from "node:path";
import type { Sources, Subject } from "../job.ts";
import { loadPeer } from "../packages.ts";
import type { JobRecord } from "../records.ts";
import { plain } from "./plain.ts";

type Kept = JobRecord & { readonly _id: string };

interface Datastore {
  loadDatabaseAsync(): Promise<void>;
  insertAsync(entry: Kept): Promise<unknown>;
  countAsync(query: object): Promise<number>;
  compactDatafileAsync(): Promise<void>;
}

type Make = new (options: { filename: string }) => Datastore;

function toKept(entry: JobRecord): Kept {
  return { _id: entry.id, ...entry };
}

function* mapKept(entries: Iterable<JobRecord>): Generator<Kept> {
  for (const entry of entries) yield toKept(entry);
}

/** Its file is lines of JSON, the last one of an `_id` wins; loading writes it again without the others. */
export async function loadNedb(sources: Sources): Promise<Subject> {
  const { default: Datastore } = await loadPeer<{ default: Make }>(sources, "@seald-io/nedb");
  const load = async (folder: string): Promise<Datastore> => {
    const store = new Datastore({ filename: join(folder, "jobs.jsonl") });
    await store.loadDatabaseAsync();
    return store;
  };
  return {
    rewritesAtOpen: true,
    fill: (folder, entries) => plain.fill?.(folder, mapKept(entries)),
    append: async (folder) => {
      const store = await load(folder);
      return { put: (entry) => store.insertAsync(toKept(entry)), end: () => store.countAsync({}) };
    },
    open: async (folder) => (await load(folder)).countAsync({}),
    compact: async (folder) => {
      const store = await load(folder);
      return () => store.compactDatafileAsync();
    },
  };
}
