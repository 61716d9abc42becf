import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures, Job, LockSubject, Work } from "./job.ts";
import { runSection } from "./section.ts";

type WorkOf<Kind extends Work["kind"]> = Extract<Work, { kind: Kind }>;

function requireHold(subject: LockSubject): NonNullable<LockSubject["hold"]> {
  if (subject.hold === undefined) throw new Error("the subject cannot hold a lock");
  return subject.hold;
}

function lockIn(folder: string): string {
  return join(folder, "jobs.lock");
}

/** `us`: microseconds to take a free lock and give it back, after as many times that are not counted. */
export async function lock(subject: LockSubject, work: WorkOf<"lock">, { folder }: Job): Promise<Figures> {
  const { cycle } = subject;
  if (cycle === undefined) throw new Error("the subject cannot take a lock");
  const path = lockIn(folder);
  const repeat = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const given = cycle(path);
      if (given !== undefined) await given;
    }
  };
  await repeat(work.times);
  const began = performance.now();
  await repeat(work.times);
  return { us: ((performance.now() - began) * 1000) / work.times };
}

/** This program again, for another part of the same work. */
function spawnPart(job: Job, work: Work): ChildProcess {
  const [, program = ""] = process.argv;
  const part: Job = { ...job, work };
  return spawn(process.execPath, [program, JSON.stringify(part)], { stdio: ["pipe", "pipe", "inherit"] });
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
}

/** Takes the lock, says so, and keeps it until killed. */
export async function hold(subject: LockSubject, _work: WorkOf<"hold">, { folder }: Job): Promise<Figures> {
  await requireHold(subject)(lockIn(folder), () => {
    process.stdout.write("held\n");
    return new Promise<void>((resolve) => process.stdin.on("end", resolve).resume());
  });
  return {};
}

/** How long somebody has waited for the lock when its holder is killed: the pauses between looks have grown by then. */
const waitedMs = 400;

/** `ms`: from the `kill -9` of the holder until somebody who waits has the lock. */
export async function takeover(subject: LockSubject, _work: WorkOf<"takeover">, job: Job): Promise<Figures> {
  const holder = spawnPart(job, { kind: "hold" });
  await new Promise((resolve) => holder.stdout?.once("data", resolve));
  let killed = 0;
  setTimeout(() => {
    killed = performance.now();
    holder.kill("SIGKILL");
  }, waitedMs);
  let taken = 0;
  await requireHold(subject)(lockIn(job.folder), () => {
    taken = performance.now();
  });
  if (killed === 0) throw new Error("the lock was taken from a living holder");
  return { ms: taken - killed };
}

/** One process of the torture: takes the lock again and again, and dies in one of twenty sections. */
export async function torment(subject: LockSubject, work: WorkOf<"torment">, { folder }: Job): Promise<Figures> {
  const enter = requireHold(subject);
  let sections = 0;
  do {
    sections += 1;
    await enter(lockIn(folder), () => runSection(folder, `${process.pid}.${sections}`));
  } while (Date.now() < work.until);
  return { sections };
}

async function keepRunning(job: Job, until: number): Promise<number> {
  let deaths = 0;
  do {
    const { code, signal } = await ended(spawnPart(job, { kind: "torment", until }));
    if (signal === "SIGKILL") deaths += 1;
    else if (code !== 0) throw new Error(`a process of the torture ended with ${code ?? signal}`);
  } while (Date.now() < until);
  return deaths;
}

function readLines(path: string): readonly string[] {
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

/**
 * Several processes, killed and started again, until the time is over. `violations`: sections that somebody else was in, and
 * acquisitions the counter they all raise does not have. `stall`: the longest time in ms that nobody had the lock.
 */
export async function torture(_subject: LockSubject, work: WorkOf<"torture">, job: Job): Promise<Figures> {
  const { folder } = job;
  for (const name of ["owner", "counter", "acquired", "violated"]) writeFileSync(join(folder, name), "");
  const until = Date.now() + work.milliseconds;
  const running = Array.from({ length: work.workers }, () => keepRunning(job, until));
  const deaths = (await Promise.all(running)).reduce((sum, one) => sum + one, 0);
  const times = readLines(join(folder, "acquired")).map(Number);
  const lost = Math.abs(times.length - Number(readFileSync(join(folder, "counter"), "utf8")));
  return {
    acquisitions: times.length,
    deaths,
    violations: readLines(join(folder, "violated")).length + lost,
    stall: Math.max(0, ...times.map((time, at) => time - (times[at - 1] ?? time))),
  };
}
