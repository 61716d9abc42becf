import { join } from "node:path";
import type { Sources, Subject } from "../job.ts";
import { loadPeer } from "../packages.ts";
import type { JobRecord } from "../records.ts";

interface Database {
  put(key: string, value: JobRecord): Promise<unknown>;
  putSync(key: string, value: JobRecord): unknown;
  get(key: string): JobRecord;
  getRange(): Iterable<{ readonly key: string; readonly value: JobRecord }>;
  getCount(): number;
  readonly flushed: Promise<unknown>;
  close(): Promise<void>;
}

type Open = (options: { path: string; overlappingSync?: boolean }) => Database;

/**
 * Default options where the power may take what was acknowledged; where it may not, `overlappingSync` is off, so that a put
 * is acknowledged when it is on the disk. It joins what is put in one turn of the event loop into one transaction.
 */
export async function loadLmdb(sources: Sources): Promise<Subject> {
  const lmdb = await loadPeer<{ open: Open }>(sources, "lmdb");
  const open = (folder: string): Database => lmdb.open({ path: join(folder, "jobs.lmdb") });
  return {
    fill: async (folder, entries) => {
      const database = open(folder);
      let last: Promise<unknown> | undefined;
      let waiting = 0;
      for (const entry of entries) {
        last = database.put(entry.id, entry);
        waiting += 1;
        if (waiting % 10_000 === 0) await last;
      }
      await last;
      await database.flushed;
      await database.close();
    },
    append: (folder, durability) => {
      const isSynced = durability === "fsync";
      const path = join(folder, "jobs.lmdb");
      const database = isSynced ? lmdb.open({ path, overlappingSync: false }) : lmdb.open({ path });
      return {
        put: (entry) => database.put(entry.id, entry),
        end: async () => {
          const count = database.getCount();
          await database.close();
          return count;
        },
      };
    },
    open: (folder) => {
      const entries = new Map<string, JobRecord>();
      for (const { key, value } of open(folder).getRange()) entries.set(key, value);
      return entries.size;
    },
    reopen: (folder, key) => open(folder).get(key).rev,
    getter: (folder) => {
      const database = open(folder);
      return (key) => database.get(key);
    },
  };
}

/** The same with `putSync`, which is the quicker way for one writer who waits for the disk each time. */
export async function loadLmdbSync(sources: Sources): Promise<Subject> {
  const lmdb = await loadPeer<{ open: Open }>(sources, "lmdb");
  return {
    append: (folder) => {
      const database = lmdb.open({ path: join(folder, "jobs.lmdb"), overlappingSync: false });
      return {
        put: (entry) => {
          database.putSync(entry.id, entry);
          return undefined;
        },
        end: async () => {
          const count = database.getCount();
          await database.close();
          return count;
        },
      };
    },
  };
}
