import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Durability, Sources, Subject } from "../job.ts";
import type { JobRecord } from "../records.ts";
import { plain } from "./plain.ts";

type Library = typeof import("@reeve/store");

/** The built library with its usual options; the files it opens are lines in its own form. */
export async function loadReeve({ library }: Sources): Promise<Subject> {
  const { openStore, withLock } = (await import(pathToFileURL(library).href)) as Library;
  const open = (folder: string, durability: Durability = "fsync") =>
    openStore<JobRecord>({ path: join(folder, "jobs.jsonl"), key: "id", durability });
  /** Whatever index lies beside the file, or is left by another run, is not looked at. */
  const scan = (folder: string, scratch: string) =>
    openStore<JobRecord>({ path: join(folder, "jobs.jsonl"), key: "id", indexPath: join(scratch, "none.idx") });
  const require = (entry: JobRecord | undefined): JobRecord => {
    if (entry === undefined) throw new Error("an entry is missing");
    return entry;
  };
  return {
    fill: (folder, entries) => plain.fill?.(folder, entries),
    index: (folder) => open(folder).close(),
    append: (folder, durability) => {
      const store = open(folder, durability);
      return {
        put: (entry) => store.put(entry),
        end: async () => {
          const { size } = store;
          await store.close();
          return size;
        },
      };
    },
    open: (folder, scratch) => scan(folder, scratch).size,
    reopen: (folder, key) => require(open(folder).get(key)).rev,
    getter: (folder, scratch) => {
      const store = scan(folder, scratch);
      return (key) => require(store.get(key));
    },
    compact: (folder) => {
      const store = open(folder);
      return async () => {
        await store.compact();
      };
    },
    cycle: (path) => withLock(path, {}, async () => {}),
    hold: (path, run) => withLock(path, { waitMs: 30_000 }, async () => run()),
  };
}
