import { closeSync, cpSync, fsyncSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Appender, Durability, Figures, Job, KeptSubject, Work } from "./job.ts";
import { keyOf, keysIn, listPuts, makeFresh, pickKeys } from "./records.ts";

type WorkOf<Kind extends Work["kind"]> = Extract<Work, { kind: Kind }>;

function cannot(what: string): never {
  throw new Error(`the subject cannot ${what}`);
}

function expectCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} entries instead of ${expected}`);
}

/** Milliseconds a piece of work takes. */
async function time(run: () => Promise<unknown> | unknown): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** A fixture of the job's own, on the disk before anything is timed. */
function copyFixture({ fixture = cannot("do without a fixture") }: Job, folder: string): void {
  cpSync(fixture, folder, { recursive: true });
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = openSync(join(entry.parentPath, entry.name), "r+");
    fsyncSync(file);
    closeSync(file);
  }
}

function makeFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder);
  return folder;
}

export async function fill(subject: KeptSubject, work: WorkOf<"fill">, { folder }: Job): Promise<Figures> {
  if (subject.fill === undefined) cannot("be filled");
  await subject.fill(folder, listPuts(work.lines));
  if (work.indexed === true) await (subject.index?.(folder) ?? cannot("index"));
  return { lines: work.lines };
}

interface Puts {
  readonly entries: number;
  readonly first?: number;
  readonly callers: number | "queued";
}

/** `"queued"`: nobody waits before all are asked for. Otherwise so many callers, each waiting for each of its puts. */
async function putAll(appender: Appender, { entries, first, callers }: Puts): Promise<number> {
  const records = makeFresh(entries, first);
  if (callers === "queued") return time(() => Promise.all(records.map((entry) => appender.put(entry))));
  let next = 0;
  const call = async (): Promise<void> => {
    for (let entry = records[next++]; entry !== undefined; entry = records[next++]) {
      const acknowledged = appender.put(entry);
      if (acknowledged !== undefined) await acknowledged;
    }
  };
  return time(() => Promise.all(Array.from({ length: callers }, call)));
}

interface AppendOptions extends Puts {
  readonly durability: Durability;
  readonly folder: string;
  readonly already: number;
}

async function appendIn(subject: KeptSubject, options: AppendOptions): Promise<Figures> {
  const { durability, folder, already, entries } = options;
  const appender = await (subject.append?.(folder, durability) ?? cannot("append"));
  const milliseconds = await putAll(appender, options);
  expectCount("after appending", await appender.end(), already + entries);
  return { rate: (entries * 1000) / milliseconds };
}

/** So many entries that the code is compiled, and no more where each takes long. */
function enoughToWarm({ durability, callers }: WorkOf<"append">): number {
  if (callers === "queued") return Number.POSITIVE_INFINITY;
  return durability === "fsync" && callers === 1 ? 500 : 2500;
}

/** A queue is over before its code is compiled to the end: it runs as often as it takes. */
const warmRounds = 3;

/** `rate`: entries a second, from the first put to the last acknowledgement. The code has run before. */
export async function append(subject: KeptSubject, work: WorkOf<"append">, { folder }: Job): Promise<Figures> {
  const options = { ...work, already: 0 };
  const entries = Math.min(work.entries, enoughToWarm(work));
  for (let round = 0; round < (work.callers === "queued" ? warmRounds : 1); round += 1) {
    await appendIn(subject, { ...options, entries, folder: makeFolder(folder, `warm-${round}`) });
  }
  return appendIn(subject, { ...options, folder: makeFolder(folder, "timed") });
}

/** `rate`: entries a second, queued and not synced, added to a file that is there already. */
export async function grow(subject: KeptSubject, work: WorkOf<"grow">, job: Job): Promise<Figures> {
  const { entries, lines } = work;
  const usual = { entries, callers: "queued", durability: "os" } as const;
  await appendIn(subject, { ...usual, already: 0, folder: makeFolder(job.folder, "warm") });
  const folder = makeFolder(job.folder, "timed");
  copyFixture(job, folder);
  const already = keysIn(lines);
  return appendIn(subject, { ...usual, already, first: already, folder });
}

/** The fixture in place, or a copy for a subject that writes its file again when it opens it. */
function placeFixture(subject: KeptSubject, job: Job): string {
  if (subject.rewritesAtOpen !== true) return job.fixture ?? cannot("do without a fixture");
  const folder = makeFolder(job.folder, "copy");
  copyFixture(job, folder);
  return folder;
}

/** `ms`: opening so that every entry was looked at. Nothing has run before. */
export async function open(subject: KeptSubject, work: WorkOf<"open">, job: Job): Promise<Figures> {
  const folder = placeFixture(subject, job);
  let entries = 0;
  const ms = await time(async () => {
    entries = await (subject.open?.(folder, job.folder) ?? cannot("open"));
  });
  expectCount("after opening", entries, keysIn(work.lines));
  return { ms };
}

/** `ms`: opening in whatever way is quickest and answering for one key. The fixture itself is opened: an index knows its file. */
export async function reopen(subject: KeptSubject, work: WorkOf<"reopen">, { fixture = "" }: Job): Promise<Figures> {
  const index = Math.floor(keysIn(work.lines) / 3);
  let rev = 0;
  const ms = await time(async () => {
    rev = await (subject.reopen?.(fixture, keyOf(index)) ?? cannot("reopen"));
  });
  expectCount("the entry's rev counts its puts", rev, keysIn(work.lines) + index);
  return { ms };
}

/** `ms`: that many lookups of keys in no order, after a tenth of them. */
export async function get(subject: KeptSubject, work: WorkOf<"get">, job: Job): Promise<Figures> {
  const lookup = await (subject.getter?.(placeFixture(subject, job), job.folder) ?? cannot("get"));
  const keys = pickKeys(work.lookups, keysIn(work.lines));
  for (const key of keys.slice(0, Math.ceil(keys.length / 10))) lookup(key);
  let matching = 0;
  const ms = await time(() => {
    for (const key of keys) if (lookup(key).id === key) matching += 1;
  });
  expectCount("asked for by key", matching, keys.length);
  return { ms };
}

/** `ms`: one compaction, after one of another copy. */
export async function compact(subject: KeptSubject, work: WorkOf<"compact">, job: Job): Promise<Figures> {
  const once = async (name: string): Promise<number> => {
    const folder = makeFolder(job.folder, name);
    copyFixture(job, folder);
    return time(await (subject.compact?.(folder) ?? cannot("compact")));
  };
  await once("warm");
  const ms = await once("timed");
  const left = await subject.open?.(join(job.folder, "timed"), job.folder);
  if (left !== undefined) expectCount("after compacting", left, keysIn(work.lines));
  return { ms };
}
