import { readFileSync, writeSync } from "node:fs";
import type { Figures, Job, Sources, Subject, SubjectName, Work } from "./job.ts";
import { hold, lock, takeover, torment, torture } from "./locks.ts";
import { loadBetterSqlite3 } from "./subjects/better-sqlite3.ts";
import { loadLmdb, loadLmdbSync } from "./subjects/lmdb.ts";
import { loadNedb } from "./subjects/nedb.ts";
import { naive, plain } from "./subjects/plain.ts";
import { loadProperLockfile } from "./subjects/proper-lockfile.ts";
import { loadReeve } from "./subjects/reeve.ts";
import { loadConf, loadLowdb } from "./subjects/rewriters.ts";
import { append, compact, fill, get, grow, open, reopen } from "./works.ts";

const subjects: Readonly<Record<SubjectName, (sources: Sources) => Promise<Subject>>> = {
  reeve: loadReeve,
  plain: async () => plain,
  naive: async () => naive,
  "better-sqlite3": loadBetterSqlite3,
  lmdb: loadLmdb,
  "lmdb putSync": loadLmdbSync,
  nedb: loadNedb,
  lowdb: loadLowdb,
  conf: loadConf,
  "proper-lockfile": loadProperLockfile,
};

function perform(subject: Subject, work: Work, job: Job): Promise<Figures> | Figures {
  switch (work.kind) {
    case "probe":
      return {};
    case "fill":
      return fill(subject, work, job);
    case "append":
      return append(subject, work, job);
    case "grow":
      return grow(subject, work, job);
    case "open":
      return open(subject, work, job);
    case "reopen":
      return reopen(subject, work, job);
    case "get":
      return get(subject, work, job);
    case "compact":
      return compact(subject, work, job);
    case "lock":
      return lock(subject, work, job);
    case "takeover":
      return takeover(subject, work, job);
    case "hold":
      return hold(subject, work, job);
    case "torture":
      return torture(subject, work, job);
    case "torment":
      return torment(subject, work, job);
  }
}

/** The most memory this process had resident so far, in MiB. Linux counts what the parent had into `maxRSS`. */
function readPeak(): number {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (kibibytes !== undefined) return Number(kibibytes) / 1024;
  } catch {
    // No such file on this platform.
  }
  return process.resourceUsage().maxRSS / 1024;
}

/** One job, given as the only argument; the figures go to standard output as one line of JSON. */
async function main(): Promise<void> {
  const job = JSON.parse(process.argv[2] ?? "") as Job;
  const began = performance.now();
  const subject = await subjects[job.subject](job.sources);
  const load = performance.now() - began;
  const figures = await perform(subject, job.work, job);
  const { ms } = figures;
  const whole = ms === undefined ? {} : { loadedMs: load + ms };
  writeSync(1, `${JSON.stringify({ ...figures, load, ...whole, peak: readPeak() })}\n`);
  // What a subject left open must not keep the process.
  process.exit(0);
}

await main();
