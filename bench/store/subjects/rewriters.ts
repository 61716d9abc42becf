import { fsyncSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sources, Subject } from "../job.ts";
import { loadPeer } from "../packages.ts";
import type { JobRecord } from "../records.ts";

type Entries = Record<string, JobRecord>;

/** One file of JSON that holds every entry by its key. */
function fillObject(path: string, entries: Iterable<JobRecord>): void {
  const object = Object.fromEntries([...entries].map((entry) => [entry.id, entry]));
  writeFileSync(path, JSON.stringify(object));
  fsyncSync(openSync(path, "r+"));
}

interface Low {
  readonly data: Entries;
  read(): Promise<void>;
  write(): Promise<void>;
}

type JsonFilePreset = (path: string, initial: Entries) => Promise<Low>;

/** The whole file is written again at every put. */
export async function loadLowdb(sources: Sources): Promise<Subject> {
  const lowdb = await loadPeer<{ JSONFilePreset: JsonFilePreset }>(sources, "lowdb/node");
  const open = (folder: string): Promise<Low> => lowdb.JSONFilePreset(join(folder, "jobs.json"), {});
  return {
    fill: (folder, entries) => fillObject(join(folder, "jobs.json"), entries),
    append: async (folder) => {
      const low = await open(folder);
      return {
        put: (entry) => {
          low.data[entry.id] = entry;
          return low.write();
        },
        end: async () => {
          await low.write();
          return Object.keys((await open(folder)).data).length;
        },
      };
    },
    open: async (folder) => Object.keys((await open(folder)).data).length,
  };
}

interface Conf {
  set(key: string, value: JobRecord): void;
  readonly size: number;
}

type ConfOptions = { cwd: string; configName: string; accessPropertiesByDotNotation: boolean };

/** The whole file is written again, and synced, at every put. */
export async function loadConf(sources: Sources): Promise<Subject> {
  const { default: Conf } = await loadPeer<{ default: new (options: ConfOptions) => Conf }>(sources, "conf");
  const open = (cwd: string): Conf => new Conf({ cwd, configName: "jobs", accessPropertiesByDotNotation: false });
  return {
    fill: (folder, entries) => fillObject(join(folder, "jobs.json"), entries),
    append: (folder) => {
      const conf = open(folder);
      return {
        put: (entry) => {
          conf.set(entry.id, entry);
          return undefined;
        },
        end: async () => open(folder).size,
      };
    },
    open: (folder) => open(folder).size,
  };
}
