import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryFolder } from "../testing/folder.ts";
import { buildEngine } from "./engine.ts";
import { findMisreadings } from "./hostile-bytes.ts";
import { findDocumentMisreadings, findIndexMisreadings } from "./hostile-caches.ts";
import { say, scale, seed, spelledCount } from "./scale.ts";

describe("hostile bytes", () => {
  test("are read as the plainest reader reads them, and written to and compacted like that", {
    timeout: 600_000,
  }, async () => {
    const folder = memoryFolder();
    const { api } = await buildEngine(folder);
    const fuzzing = { api, seed, most: 10 };
    const small = await findMisreadings({ ...fuzzing, folder: join(folder, "small"), inputs: 103_000 * scale });
    const large = await findMisreadings({ ...fuzzing, folder: join(folder, "large"), inputs: 60 * scale, lines: 7000 });
    const distinct = small.distinct + large.distinct;
    say(`hostile bytes: ${spelledCount(distinct)} stores that differ, seed ${seed}; each was read in two ways`);
    expect([...small.findings, ...large.findings]).toEqual([]);
    expect(distinct).toBeGreaterThanOrEqual(100_000);
  });

  test("in an index change no answer, and in a document are damage or what they say", {
    timeout: 300_000,
  }, async () => {
    const folder = memoryFolder();
    const { api } = await buildEngine(folder);
    const fuzzing = { api, seed, most: 10 };
    const index = await findIndexMisreadings({ ...fuzzing, folder: join(folder, "index"), inputs: 2500 * scale });
    const document = await findDocumentMisreadings({ ...fuzzing, folder: join(folder, "doc"), inputs: 10_000 * scale });
    say(
      `hostile bytes: ${spelledCount(index.distinct)} indexes and ${spelledCount(document.distinct)} documents that differ, seed ${seed}`,
    );
    expect([...index.findings, ...document.findings]).toEqual([]);
    expect(index.distinct).toBeGreaterThan(900);
  });

  test.each([
    ["an entry", '{"id":"long","text":"', '"}', ["first", "long", "last"], []],
    ["nothing that can be read", '{"id":"long","text":"', "", ["first", "last"], [2]],
  ])(
    "of 64 MiB on one line are %s, and cost nothing else",
    { timeout: 120_000 },
    async (_what, start, end, keys, damaged) => {
      const folder = memoryFolder();
      const { api } = await buildEngine(folder);
      const path = join(folder, "jobs.jsonl");
      const long = start + "x".repeat(64 * 1024 * 1024) + end;
      writeFileSync(path, `{"id":"first"}\n${long}\n{"id":"last"}\n`);
      const store = api.openStore({ path, key: "id" });
      expect([[...store.keys()], store.problems.map(({ line }) => line)]).toEqual([keys, damaged]);
      await store.put({ id: "probe" });
      await store.compact();
      expect([...store.keys()]).toEqual([...keys, "probe"]);
      expect(store.get("last")).toEqual({ id: "last" });
      expect(statSync(damaged.length > 0 ? `${path}.damaged` : path).size).toBeGreaterThan(64 * 1024 * 1024);
      await store.close();
    },
  );
});
