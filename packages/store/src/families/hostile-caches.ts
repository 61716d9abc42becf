import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRandom } from "../testing/random.ts";
import type { Fuzzing, FuzzTally } from "./hostile-bytes.ts";
import { changedBytes } from "./hostile-input.ts";
import { isStrictJson } from "./reference-reader.ts";
import { itemOf } from "./store-world.ts";
import { differing, findingsOf } from "./subject.ts";

/** Changes the index of a store that has one: whatever it says, the store's answers stay the same. */
export async function findIndexMisreadings({ api, folder, seed, inputs, most }: Fuzzing): Promise<FuzzTally> {
  const random = newRandom(seed);
  const tally: FuzzTally = { inputs: 0, distinct: 0, findings: [] };
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "jobs.jsonl");
  const store = api.openStore({ path, key: "id" });
  await store.putAll([1, 2, 3, 4].map((n) => ({ ...itemOf(`k${n}`, n, 66_000) })));
  await store.put({ ...itemOf("k5", 5) });
  await store.remove("k2");
  const expected = JSON.stringify([...store.keys()]);
  await store.close();
  const index = readFileSync(`${path}.idx`);
  const seen = new Set<string>();
  for (; tally.inputs < inputs && tally.findings.length < most; tally.inputs += 1) {
    const bytes = changedBytes(index, random);
    seen.add(bytes.toString("latin1"));
    writeFileSync(`${path}.idx`, bytes);
    const found = await findingsOf(async () => {
      const opened = api.openStore({ path, key: "id", readOnly: true });
      const answers = [opened.size, JSON.stringify([...opened.keys()]), opened.has("k2"), opened.problems.length];
      const texts = ["k1", "k3", "k5"].map((key) => opened.get(key)?.["n"]);
      await opened.close();
      return differing("the store with this index", [...answers, ...texts], [4, expected, false, 0, 1, 3, 5]);
    });
    tally.findings.push(...found.map((finding) => `index ${tally.inputs} of seed ${seed}: ${finding}`));
  }
  tally.distinct = seen.size;
  if (statSync(`${path}.idx`).size === 0 && tally.inputs < 2) tally.findings.push("there was no index");
  return tally;
}

/** Changes a document: it is damaged, or newer, or holds strictly what it says. */
export async function findDocumentMisreadings({ api, folder, seed, inputs, most }: Fuzzing): Promise<FuzzTally> {
  const random = newRandom(seed);
  const tally: FuzzTally = { inputs: 0, distinct: 0, findings: [] };
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "state.json");
  const document = api.openDocument({ path, steps: [(members) => members], parse: (members) => members });
  const good = Buffer.from('{\n  "version": 2,\n  "n": 1,\n  "list": [\n    "é",\n    {}\n  ]\n}\n');
  const seen = new Set<string>();
  for (; tally.inputs < inputs && tally.findings.length < most; tally.inputs += 1) {
    let bytes: Buffer = good;
    for (let count = 1 + random.below(3); count > 0; count -= 1) bytes = changedBytes(bytes, random);
    seen.add(bytes.toString("latin1"));
    writeFileSync(path, bytes);
    const found = await findingsOf(async () => {
      const state = document.read();
      const told = state.kind === "loaded" ? state.value : state.kind;
      return differing("the document", told, expectedOf(bytes));
    });
    const where = `document ${tally.inputs} of seed ${seed} (${JSON.stringify(bytes.toString("latin1"))})`;
    tally.findings.push(...found.map((finding) => `${where}: ${finding}`));
  }
  tally.distinct = seen.size;
  return tally;
}

function expectedOf(bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "damaged";
  }
  const value: unknown = isStrictJson(text) ? JSON.parse(text) : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "damaged";
  const { version, writtenBy, ...members } = value as Record<string, unknown>;
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) return "damaged";
  return version > 2 ? "newer" : members;
}
