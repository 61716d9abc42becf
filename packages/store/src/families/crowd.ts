import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ended } from "../testing/child.ts";
import { neutralEnvironment } from "../testing/folder.ts";
import { newRandom } from "../testing/random.ts";
import {
  keyOfEntry,
  keysOfWriter,
  notesOf,
  type ReaderOrders,
  readAcknowledged,
  type WriterOrders,
} from "./crowd-member.ts";
import type { Engine } from "./engine.ts";
import { type Item, isWhole } from "./store-world.ts";
import { differing } from "./subject.ts";

/** How many processes work on one store, and how. */
export interface Crowd {
  readonly writers: number;
  readonly readers: number;
  /** Entries of each writer. */
  readonly count: number;
  readonly durability: "fsync" | "os";
  readonly compactEvery: number;
  /** How often each writer is killed and started again. */
  readonly kills: number;
  readonly seed: number;
}

export interface CrowdTally {
  acknowledged: number;
  kills: number;
  reads: number;
  readonly findings: string[];
}

/** Lets the processes work until every writer is done, and looks at what is left. */
export async function findCollisions(engine: Engine, path: string, crowd: Crowd): Promise<CrowdTally> {
  const tally: CrowdTally = { acknowledged: 0, kills: 0, reads: 0, findings: [] };
  const readers = Array.from({ length: crowd.readers }, (_, index) => {
    const child = start(engine, "read", { path, reopens: index % 2 === 1 } satisfies ReaderOrders);
    return { child, output: collect(child) };
  });
  const writers = Array.from({ length: crowd.writers }, (_, writer) => liveOn(engine, path, { crowd, writer, tally }));
  await Promise.all(writers);
  for (const { child, output } of readers) {
    child.stdin?.end();
    const { stdout, stderr } = await output;
    tally.findings.push(...linesOf(stderr).map((line) => `a reader: ${line}`));
    if (stdout === "") tally.findings.push("a reader ended early");
    else tally.reads += (JSON.parse(stdout) as { reads: number }).reads;
  }
  for (let writer = 0; writer < crowd.writers; writer += 1)
    tally.acknowledged += readAcknowledged(notesOf(path, writer));
  tally.findings.push(...(await judgeEnd(engine, path, crowd)));
  return tally;
}

interface Life {
  readonly crowd: Crowd;
  readonly writer: number;
  readonly tally: CrowdTally;
}

/** Starts a writer again and again: it is killed when it has put some more entries, wherever it is just then. */
async function liveOn(engine: Engine, path: string, { crowd, writer, tally }: Life): Promise<void> {
  const { durability, count, compactEvery, kills, seed } = crowd;
  const random = newRandom(seed * 1000 + writer);
  for (let life = 0; ; life += 1) {
    const orders: WriterOrders = { path, durability, writer, count, compactEvery, seed: random.below(1_000_000) };
    const child = start(engine, "write", orders);
    let left = life < kills ? 1 + random.below(Math.ceil((1.5 * count) / (kills + 1))) : Number.POSITIVE_INFINITY;
    child.stdout?.on("data", (dots: Buffer) => {
      left -= dots.length;
      if (left <= 0) child.kill("SIGKILL");
    });
    const { stderr } = await collect(child);
    tally.findings.push(...linesOf(stderr).map((line) => `writer ${writer}: ${line}`));
    const { exit, signal } = await ended(child);
    if (signal === "SIGKILL") tally.kills += 1;
    else if (exit !== 0) tally.findings.push(`writer ${writer} ended with ${exit}`);
    if (signal !== "SIGKILL") return;
  }
}

function start({ program: { file, folder } }: Engine, verb: string, orders: object): ChildProcess {
  const env = neutralEnvironment(folder);
  return spawn(process.execPath, [file, verb, JSON.stringify(orders)], { env, stdio: ["pipe", "pipe", "pipe"] });
}

/** All a child writes, when it has closed its outputs. */
function collect(child: ChildProcess): Promise<{ stdout: string; stderr: string }> {
  const texts = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => {
    texts.stdout += chunk.toString("utf8");
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    texts.stderr += chunk.toString("utf8");
  });
  return new Promise((resolve) => child.once("close", () => resolve(texts)));
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Every acknowledged entry is there, no line is torn, and nothing is left behind. */
async function judgeEnd({ api }: Engine, path: string, { writers, count }: Crowd): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const file of [path, `${path}.log`]) {
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    const torn = lines.filter((line) => !isEntry(line, file === path));
    findings.push(...torn.map((line) => `${basename(file)} holds ${JSON.stringify(line)}`));
  }
  const logged = new Set(
    [...api.openLog<{ writer: number; n: number }>({ path: `${path}.log` }).read()].map(
      ({ value }) => `${value.writer} ${value.n}`,
    ),
  );
  const store = api.openStore({ path, key: "id" });
  for (let writer = 0; writer < writers; writer += 1) {
    const acknowledged = readAcknowledged(notesOf(path, writer));
    if (acknowledged !== count) findings.push(`writer ${writer} came to ${acknowledged}`);
    for (let n = count; n > count - keysOfWriter; n -= 1) {
      const key = keyOfEntry(writer, n);
      findings.push(...differing(key, (store.get(key) as Item | undefined)?.n, n));
    }
    for (let n = 4; n <= count; n += 4)
      if (!logged.has(`${writer} ${n}`)) findings.push(`${writer} ${n} is not in the log`);
  }
  await store.compact();
  await store.close();
  const known = new RegExp(`^${basename(path)}(|\\.log|\\.notes\\.\\d+)$`);
  const strange = readdirSync(dirname(path)).filter((name) => !known.test(name));
  return strange.length === 0 ? findings : [...findings, `left behind: ${strange.join(", ")}`];
}

function isEntry(line: string, isStore: boolean): boolean {
  try {
    const value = JSON.parse(line) as Partial<Item>;
    return isStore ? isWhole(value) : typeof value.n === "number";
  } catch {
    return false;
  }
}
