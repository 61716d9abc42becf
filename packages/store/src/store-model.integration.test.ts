import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeLine } from "./line.ts";
import { answersOf, type Job, openTestStore, parseJob } from "./store.fixture.ts";
import type { Store } from "./store-interface.ts";
import { memoryFolder } from "./testing/folder.ts";

/** What a store must answer: a map that keeps the order of insertion, and the damaged lines that lie in the file. */
interface Model {
  readonly entries: Map<string, Job>;
  damaged: number;
  /** All that was ever damaged, in order. */
  moved: string;
}

interface Scene {
  readonly path: string;
  readonly model: Model;
  readonly stores: Store<Job>[];
  /** Whether the file's last line lacks its newline. */
  isTorn: boolean;
}

type Step = (scene: Scene, which: number) => Promise<void>;

const id = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "d", "__proto__", "é😀", "x\ny", "constructor") },
  fc.string({ unit: "binary", minLength: 1, maxLength: 4 }),
);
const job: fc.Arbitrary<Job> = fc.record({ id, n: fc.integer() }, { requiredKeys: ["id"] });

function storeOf({ stores }: Scene, which: number): Store<Job> {
  const store = stores[which];
  if (store === undefined) throw new Error("there is no such store");
  return store;
}

/** Every write ends a torn line first. */
function endTorn(scene: Scene): void {
  scene.isTorn = false;
}

const put = job.map((value): [string, Step] => [
  `put ${encodeLine(value, "id")}`,
  async (scene, which) => {
    await storeOf(scene, which).put(value);
    scene.model.entries.set(value.id, value);
    endTorn(scene);
  },
]);

const putAll = fc.array(job, { maxLength: 5 }).map((values): [string, Step] => [
  `putAll ${values.length}`,
  async (scene, which) => {
    await storeOf(scene, which).putAll(values);
    for (const value of values) scene.model.entries.set(value.id, value);
    if (values.length > 0) endTorn(scene);
  },
]);

/** Writes that are asked for together land in the order in which they were asked for. */
const overlap = fc.array(fc.tuple(job, fc.boolean()), { minLength: 2, maxLength: 6 }).map((steps): [string, Step] => [
  `overlap ${steps.length}`,
  async (scene, which) => {
    const store = storeOf(scene, which);
    const writes = steps.map(([value, isPut]) => (isPut ? store.put(value) : store.remove(value.id)));
    const expected = steps.map(([value, isPut]) => {
      if (!isPut) return scene.model.entries.delete(value.id);
      scene.model.entries.set(value.id, value);
      return undefined;
    });
    expect(await Promise.all(writes)).toEqual(expected);
    endTorn(scene);
  },
]);

const many = fc.tuple(id, fc.integer({ min: 20, max: 90 })).map(([key, count]): [string, Step] => [
  `put ${JSON.stringify(key)} ${count} times`,
  async (scene, which) => {
    for (let n = 0; n < count; n += 1) await storeOf(scene, which).put({ id: key, n });
    // A loop of appends keeps the lock until its caller does something else.
    await new Promise(setImmediate);
    scene.model.entries.set(key, { id: key, n: count - 1 });
    endTorn(scene);
  },
]);

const remove = id.map((key): [string, Step] => [
  `remove ${JSON.stringify(key)}`,
  async (scene, which) => {
    expect(await storeOf(scene, which).remove(key)).toBe(scene.model.entries.delete(key));
    endTorn(scene);
  },
]);

const refused = job.map((value): [string, Step] => [
  "a put that is refused",
  async (scene, which) => {
    const values = [value, { id: "bad", n: "no number" } as unknown as Job];
    await expect(storeOf(scene, which).putAll(values)).rejects.toMatchObject({ code: "BAD_VALUE" });
  },
]);

const compact = fc.constant<[string, Step]>([
  "compact",
  async (scene, which) => {
    const report = await storeOf(scene, which).compact();
    expect(report.linesAfter).toBe(scene.model.entries.size);
    endTorn(scene);
  },
]);

const reopen = fc.constant<[string, Step]>([
  "reopen",
  async (scene, which) => {
    await storeOf(scene, which).close();
    scene.stores[which] = openScene(scene.path, which);
  },
]);

/** What lies in the file is another line each time: of two that are the same, one might have been moved already. */
const damage = fc
  .constantFrom(
    "bad #",
    '{"id":"a","n":"#"}',
    '{"id":"a","id":"#"}',
    "[#]",
    '{"id":"","n":#}',
    "\0#",
    '{"n":#}',
    '{"id":#}',
  )
  .map((form): [string, Step] => [
    `damage ${form}`,
    async (scene) => {
      const { path, model } = scene;
      model.damaged += 1;
      const line = form.replace("#", String(model.damaged));
      appendFileSync(path, `${scene.isTorn ? "\n" : ""}${line}\n`);
      model.moved += `${line}\n`;
      endTorn(scene);
    },
  ]);

const tear = fc.constantFrom('{"id":"a","n":#', "{#", '{"id":"#"').map((form): [string, Step] => [
  `tear ${form}`,
  async (scene) => {
    const { path, model } = scene;
    if (scene.isTorn) return;
    model.damaged += 1;
    const line = form.replace("#", String(model.damaged));
    appendFileSync(path, line);
    model.moved += `${line}\n`;
    scene.isTorn = true;
  },
]);

const step = fc.oneof(
  { weight: 8, arbitrary: put },
  { weight: 3, arbitrary: putAll },
  { weight: 3, arbitrary: overlap },
  { weight: 3, arbitrary: many },
  { weight: 6, arbitrary: remove },
  { weight: 1, arbitrary: refused },
  { weight: 2, arbitrary: compact },
  { weight: 2, arbitrary: reopen },
  { weight: 2, arbitrary: damage },
  { weight: 1, arbitrary: tear },
);

function openScene(path: string, which: number): Store<Job> {
  return openTestStore<Job>(path, { parse: parseJob, durability: which === 0 ? "os" : "fsync" });
}

/** The file's own lines, read by nothing of this library but the rule that the last line wins. */
function lastLines(text: string): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const line of text.split("\n")) {
    if (!/^\{"id":"(?:[^"\\]|\\.)+"(?:,"n":-?\d+|,"\$deleted":true)?\}$/.test(line)) continue;
    const value = JSON.parse(line) as { id: string; $deleted?: true };
    if (value.$deleted === true) entries.delete(value.id);
    else entries.set(value.id, value);
  }
  return entries;
}

async function run(steps: readonly (readonly [readonly [string, Step], number])[]): Promise<number> {
  const path = join(memoryFolder(), "jobs.jsonl");
  const model: Model = { entries: new Map(), damaged: 0, moved: "" };
  const scene: Scene = { path, model, stores: [openScene(path, 0), openScene(path, 1)], isTorn: false };
  for (const [[name, act], which] of steps) {
    await act(scene, which);
    // A lock is kept for a while for whoever appends in a loop.
    await new Promise(setImmediate);
    if (/^(?:damage|tear)/.test(name)) storeOf(scene, which).refresh();
    const damagedPath = `${path}.damaged`;
    const moved = existsSync(damagedPath) ? readFileSync(damagedPath, "utf8") : "";
    expect(model.moved.startsWith(moved), name).toBe(true);
    const left = model.moved.slice(moved.length).split("\n").length - 1;
    for (const at of [which, 1 - which]) {
      const store = storeOf(scene, at);
      if (at !== which) store.refresh();
      expect(store.refresh(), name).toBe(false);
      const { problems, ...answers } = answersOf(store);
      expect(answers, `${name}, by ${at === which ? "itself" : "the other"}`).toEqual({
        size: model.entries.size,
        entries: [...model.entries],
      });
      expect(problems.length, name).toBe(left);
    }
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    expect([...lastLines(text)], name).toEqual([...model.entries]);
    if (name.startsWith("put ")) expect(text.split("\n").length - 1).toBeLessThanOrEqual(2 * model.entries.size + 64);
  }
  await Promise.all(scene.stores.map((store) => store.close()));
  return existsSync(`${path}.damaged`) ? 1 : 0;
}

describe("a store", () => {
  test("answers as a map does, whatever is done to it, by two at once, and so does its file", {
    timeout: 300_000,
  }, async () => {
    let compacted = 0;
    const named = fc.tuple(step, fc.nat({ max: 1 }));
    const steps = fc.array(named, { minLength: 1, maxLength: 30, size: "max" });
    const shown = (all: readonly (readonly [readonly [string, Step], number])[]): string =>
      all.map(([[name], which]) => `${which}: ${name}`).join("\n");
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        try {
          compacted += await run(all);
        } catch (error) {
          throw new Error(`after\n${shown(all)}`, { cause: error });
        }
      }),
      { numRuns: 120 },
    );
    expect(compacted).toBeGreaterThan(10);
  });
});
