import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checksum } from "../checksum.ts";
import { newRandom } from "../testing/random.ts";
import { hostileBytes } from "./hostile-input.ts";
import { type Reference, readReference } from "./reference-reader.ts";
import { type Api, differing, findingsOf } from "./subject.ts";

/** What is fuzzed, and how long. */
export interface Fuzzing {
  readonly api: Api;
  /** A folder of its own. */
  readonly folder: string;
  readonly seed: number;
  readonly inputs: number;
  /** How many lines each input begins as; left out: a few. */
  readonly lines?: number;
  /** Stop after so many findings. */
  readonly most: number;
}

export interface FuzzTally {
  inputs: number;
  distinct: number;
  readonly findings: string[];
}

/** Gives the library changed stores and logs to read, to write to and to compact, and compares with the slow reader. */
export async function findMisreadings({ api, folder, seed, inputs, lines, most }: Fuzzing): Promise<FuzzTally> {
  const random = newRandom(seed);
  const tally: FuzzTally = { inputs: 0, distinct: 0, findings: [] };
  const seen = new Set<string>();
  mkdirSync(folder, { recursive: true });
  const scene: Scene = { api, path: join(folder, "jobs.jsonl"), cut: 0 };
  for (; tally.inputs < inputs && tally.findings.length < most; tally.inputs += 1) {
    const bytes = hostileBytes(random, lines);
    scene.cut = random.below(bytes.length + 1);
    seen.add(`${bytes.length} ${checksum(bytes)}`);
    const reference = readReference(bytes);
    for (const look of [readAtOnce, others[tally.inputs % others.length] ?? readAtOnce]) {
      const found = await findingsOf(() => look(scene, bytes, reference));
      const where = `input ${tally.inputs} of seed ${seed} (${spelled(bytes)})`;
      tally.findings.push(...found.map((finding) => `${where}: ${finding}`));
    }
  }
  tally.distinct = seen.size;
  return tally;
}

function spelled(bytes: Buffer): string {
  return bytes.length > 1000 ? `${bytes.length} bytes` : JSON.stringify(bytes.toString("latin1"));
}

interface Scene {
  readonly api: Api;
  readonly path: string;
  /** Where an input is cut in two. */
  cut: number;
}

/** Looks at the bytes, which lie at the path, and tells what is wrong. */
type Look = (scene: Scene, bytes: Buffer, reference: Reference) => Promise<readonly string[]>;

/** Reading all of it. */
const readAtOnce: Look = async ({ api, path }, bytes, reference) => {
  writeFileSync(path, bytes);
  const store = api.openStore({ path, key: "id" });
  const findings = judgeStore(store, reference);
  await store.close();
  return findings;
};

/** Reading with a decoder, which sees every line. */
const readDecoded: Look = async ({ api, path }, _bytes, reference) => {
  const store = api.openStore({ path, key: "id", parse: (value) => value as Members });
  const findings = judgeStore(store, reference);
  await store.close();
  return findings;
};

/** Taking in what comes later. */
const readOn: Look = async ({ api, path, cut }, bytes, reference) => {
  writeFileSync(path, bytes.subarray(0, cut));
  const store = api.openStore({ path, key: "id" });
  const findings = [...judgeStore(store, readReference(bytes.subarray(0, cut)))];
  writeFileSync(path, bytes.subarray(cut), { flag: "a" });
  store.refresh();
  findings.push(...judgeStore(store, reference));
  await store.close();
  return findings.map((finding) => `cut at ${cut}: ${finding}`);
};

/** A log. */
const readLog: Look = async ({ api, path }, _bytes, { objects, broken }) => {
  const log = api.openLog({ path });
  const found = [...log.read()].map(({ line, value }) => ({ line, value }));
  return [
    ...differing("the log", found, objects),
    ...differing(
      "its problems",
      log.problems.map(({ line }) => line),
      broken,
    ),
  ];
};

/** Writing to it and compacting it. */
const writeOn: Look = async ({ api, path }, bytes) => {
  rmSync(`${path}.damaged`, { force: true });
  const store = api.openStore({ path, key: "id" });
  await store.put({ id: "probe", n: 1 });
  const isWhole = bytes.length === 0 || bytes.at(-1) === 0x0a;
  const line = Buffer.from(`${isWhole ? "" : "\n"}{"id":"probe","n":1}\n`);
  const after = readFileSync(path);
  const grown = Buffer.concat([bytes, line]);
  const reference = readReference(grown);
  const { entries, damaged, lines } = reference;
  const findings: string[] = [];
  if (lines <= 2 * entries.size + 64) {
    if (!after.equals(grown)) findings.push(`after a put the file is ${spelled(after)}`);
    findings.push(...judgeStore(store, reference));
  }
  await store.compact();
  findings.push(
    ...judgeFile(
      path,
      [...entries.values()].map((entry) => entry.bytes),
      "compacted",
    ),
  );
  findings.push(
    ...judgeFile(
      `${path}.damaged`,
      damaged.map((one) => one.bytes),
      "moved away",
    ),
  );
  const removed = await store.remove("probe");
  await store.close();
  const reopened = api.openStore({ path, key: "id" });
  const left = new Map([...entries].filter(([key]) => key !== "probe"));
  findings.push(...differing("removing", removed, true));
  findings.push(...judgeStore(reopened, { ...readReference(Buffer.alloc(0)), entries: left }));
  await reopened.close();
  return findings;
};

/** Each input is read at once, and then by one of these. */
const others: readonly Look[] = [readDecoded, readOn, readLog, writeOn];

type Members = Readonly<Record<string, unknown>>;

function judgeStore(store: ReturnType<Api["openStore"]>, { entries, damaged }: Reference): readonly string[] {
  const expected = [...entries].map(([key, { value }]) => [key, value]);
  return [
    ...differing("the size", store.size, entries.size),
    ...differing("the keys", [...store.keys()], [...entries.keys()]),
    ...differing("the store", [...store.entries()], expected),
    ...differing(
      "its problems",
      store.problems.map(({ line }) => line),
      damaged.map(({ line }) => line),
    ),
    ...["absent", "toString"].filter((key) => store.has(key)).map((key) => `${key} is there`),
  ];
}

/** A file of just these lines, or none where there are none. */
function judgeFile(path: string, lines: readonly Buffer[], how: string): readonly string[] {
  const expected = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
  const found = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  return found.equals(expected) ? [] : [`${how} is ${spelled(found)}, not ${spelled(expected)}`];
}
