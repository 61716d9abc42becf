import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Appender, Durability, Subject } from "../job.ts";
import type { JobRecord } from "../records.ts";

const name = "jobs.jsonl";

function fill(folder: string, entries: Iterable<JobRecord>): void {
  const file = openSync(join(folder, name), "w");
  let text = "";
  for (const entry of entries) {
    text += `${JSON.stringify(entry)}\n`;
    if (text.length > 1 << 20) {
      writeSync(file, text);
      text = "";
    }
  }
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
}

/** Nothing but the write, and the sync where it is asked for. */
function append(folder: string, durability: Durability): Appender {
  const file = openSync(join(folder, name), "a");
  const isSynced = durability === "fsync";
  return {
    put: (entry) => {
      writeSync(file, `${JSON.stringify(entry)}\n`);
      if (isSynced) fdatasyncSync(file);
      return undefined;
    },
    end: async () => {
      closeSync(file);
      return readMap(folder).size;
    },
  };
}

/** The usual reader: the whole text, split, every line parsed, kept by key. */
function readMap(folder: string): Map<string, JobRecord> {
  const entries = new Map<string, JobRecord>();
  for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
    if (line === "") continue;
    const entry = JSON.parse(line) as JobRecord;
    entries.set(entry.id, entry);
  }
  return entries;
}

/** Writes what a compaction leaves, which is at hand already, syncs and renames. */
function compact(folder: string): () => void {
  const lines = [...readMap(folder).values()].map((entry) => `${JSON.stringify(entry)}\n`);
  const bytes = Buffer.from(lines.join(""));
  return () => {
    const temporary = join(folder, "jobs.tmp");
    const file = openSync(temporary, "w");
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
    closeSync(file);
    renameSync(temporary, join(folder, name));
  };
}

/** A file made exclusively, and removed. */
function cycle(path: string): undefined {
  closeSync(openSync(path, "wx"));
  unlinkSync(path);
}

export const plain: Subject = { fill, append, open: (folder) => readMap(folder).size, compact, cycle };

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

async function takeNaively(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    // Somebody has it.
  }
  try {
    const holder = Number(await readFile(path, "utf8"));
    if (holder > 0 && isDead(holder)) await unlink(path);
  } catch {
    // Gone meanwhile.
  }
  return false;
}

/** The takeover most programs write: read who holds it, see that it is dead, remove, take. It shows what the torture finds. */
export const naive: Subject = {
  hold: async (path, run) => {
    while (!(await takeNaively(path))) await new Promise((resolve) => setTimeout(resolve, 1));
    await run();
    // Somebody may have taken it for a dead one's and removed it.
    rmSync(path, { force: true });
  },
};
