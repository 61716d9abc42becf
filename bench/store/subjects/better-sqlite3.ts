import { join } from "node:path";
import type { Durability, Sources, Subject } from "../job.ts";
import { loadPeer } from "../packages.ts";
import type { JobRecord } from "../records.ts";

interface Statement {
  run(...values: unknown[]): unknown;
  get(...values: unknown[]): unknown;
  all(): readonly unknown[];
}

interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  pragma(text: string): unknown;
  transaction(run: () => void): () => void;
  close(): void;
}

interface Row {
  readonly line: string;
}

const sql = {
  table: "create table if not exists entries (id text primary key, line text not null) without rowid",
  put: "insert into entries values (?, ?) on conflict (id) do update set line = excluded.line",
  get: "select line from entries where id = ?",
  all: "select line from entries",
  count: "select count(*) as entries from entries",
};

function parse(row: unknown): JobRecord {
  return JSON.parse((row as Row).line) as JobRecord;
}

/** A table by key, in WAL mode, every statement prepared. */
export async function loadBetterSqlite3(sources: Sources): Promise<Subject> {
  const { default: Database } = await loadPeer<{ default: new (path: string) => Database }>(sources, "better-sqlite3");
  const open = (folder: string, durability: Durability): Database => {
    const database = new Database(join(folder, "jobs.db"));
    database.pragma("journal_mode = WAL");
    database.pragma(`synchronous = ${durability === "fsync" ? "FULL" : "NORMAL"}`);
    return database;
  };
  return {
    fill: (folder, entries) => {
      const database = open(folder, "fsync");
      database.exec(sql.table);
      const put = database.prepare(sql.put);
      database.transaction(() => {
        for (const entry of entries) put.run(entry.id, JSON.stringify(entry));
      })();
      database.pragma("wal_checkpoint(TRUNCATE)");
      database.close();
    },
    append: (folder, durability) => {
      const database = open(folder, durability);
      database.exec(sql.table);
      const put = database.prepare(sql.put);
      return {
        put: (entry) => {
          put.run(entry.id, JSON.stringify(entry));
          return undefined;
        },
        end: async () => {
          const { entries } = database.prepare(sql.count).get() as { entries: number };
          database.close();
          return entries;
        },
      };
    },
    open: (folder) => {
      const rows = open(folder, "os").prepare(sql.all).all();
      return new Map(rows.map(parse).map((entry) => [entry.id, entry])).size;
    },
    reopen: (folder, key) => parse(open(folder, "os").prepare(sql.get).get(key)).rev,
    getter: (folder) => {
      const get = open(folder, "os").prepare(sql.get);
      return (key) => parse(get.get(key));
    },
    compact: (folder) => {
      const database = open(folder, "fsync");
      return () => database.exec("vacuum");
    },
  };
}
