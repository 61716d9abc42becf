import { describe, expect, test } from "vitest";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { openDocumentReader, type ReaderOptions } from "./reader.ts";

const where = "/cache/parsed.json" as AbsPath;
const name = ".ai/repo/policy.yaml";
const policy = "version: 1\nledger:\n  retention_max_lines: 7\n";

/** A machine that has one file, the cache. */
function machine(text?: string): { readonly system: System; cache(): string | undefined; readonly writes: string[] } {
  const writes: string[] = [];
  let cache = text;
  const system = {
    readText: () => cache,
    writeCache: (_where: AbsPath, written: string) => {
      writes.push(written);
      cache = written;
    },
  } as unknown as System;
  return { system, writes, cache: () => cache };
}

function options(system: System, more: Partial<ReaderOptions> = {}): ReaderOptions {
  return { system, cache: where, keep: true, version: "1.0.0", ...more };
}

async function fill(text: string, version = "1.0.0"): Promise<string> {
  const made = machine();
  const reader = openDocumentReader(options(made.system, { version }));
  await reader.decode("policy", name, text);
  reader.keep();
  return made.cache() ?? "";
}

const answer = { ok: true, value: { version: 1, ledger: { retention_max_lines: 7 } } };

describe("openDocumentReader", () => {
  test("openDocumentReader answers the same with and without a cache", async () => {
    const cached = await fill(policy);
    for (const cache of [undefined, cached]) {
      const { system } = machine(cache);
      expect(await openDocumentReader(options(system)).decode("policy", name, policy)).toEqual(answer);
    }
    const without = openDocumentReader(options(machine(cached).system, { cache: undefined }));
    expect(await without.decode("policy", name, policy)).toEqual(answer);
  });

  test("openDocumentReader takes a kept document without parsing it again", async () => {
    const { system, writes } = machine((await fill(policy)).replace(":7}", ":8}"));
    const reader = openDocumentReader(options(system));
    const taken = await reader.decode("policy", name, policy);
    expect(taken).toEqual({ ok: true, value: { version: 1, ledger: { retention_max_lines: 8 } } });
    reader.keep();
    expect(writes).toEqual([]);
  });

  test("openDocumentReader parses again when one byte of the text is another", async () => {
    const { system } = machine(await fill(policy));
    const reader = openDocumentReader(options(system));
    expect(await reader.decode("policy", name, policy.replace("7", "9"))).toEqual({
      ok: true,
      value: { version: 1, ledger: { retention_max_lines: 9 } },
    });
    expect((await reader.decode("policy", name, `${policy}unknown: 1\n`)).ok).toBe(false);
  });

  test("openDocumentReader parses again when the kept text was tampered with", async () => {
    const { system } = machine((await fill(policy)).replace("retention_max_lines: 7", "retention_max_lines: 1"));
    expect(await openDocumentReader(options(system)).decode("policy", name, policy)).toEqual(answer);
  });

  test("openDocumentReader takes nothing that was kept for another kind, name or version", async () => {
    const plain = machine();
    const writer = openDocumentReader(options(plain.system));
    await writer.decode("plain", name, "version: 2\n");
    writer.keep();
    const other = openDocumentReader(options(machine(plain.cache()).system));
    expect((await other.decode("policy", name, "version: 2\n")).ok).toBe(false);

    const altered = (await fill(policy)).replace(":7}", ":8}");
    const newer = openDocumentReader(options(machine(altered).system, { version: "1.0.1" }));
    expect(await newer.decode("policy", name, policy)).toEqual(answer);
    const elsewhere = openDocumentReader(options(machine(altered).system));
    expect(await elsewhere.decode("policy", "another.yaml", policy)).toEqual(answer);
  });

  test.each([
    "",
    "null",
    "[]",
    "5",
    '"text"',
    "{",
    "\u0000\u0001",
    "{}",
    '{"reeve":"1.0.0"}',
    '{"reeve":"1.0.0","documents":null}',
    '{"reeve":"1.0.0","documents":[]}',
    '{"reeve":"1.0.0","documents":"text"}',
    `{"reeve":"1.0.0","documents":{"${name}":null}}`,
    `{"reeve":"1.0.0","documents":{"${name}":5}}`,
    `{"reeve":"1.0.0","documents":{"${name}":{"kind":"policy"}}}`,
  ])("openDocumentReader answers the same over the cache %j", async (cache) => {
    const { system } = machine(cache);
    const reader = openDocumentReader(options(system));
    expect(await reader.decode("policy", name, policy)).toEqual(answer);
  });

  test("openDocumentReader answers the same when the cache cannot be read", async () => {
    const { system } = machine();
    const failing = {
      ...system,
      readText: () => {
        throw new Error("permission denied");
      },
    };
    expect(await openDocumentReader(options(failing)).decode("policy", name, policy)).toEqual(answer);
  });

  test("openDocumentReader keeps nothing in a dry run, without a cache, or of what does not decode", async () => {
    const { system, writes } = machine();
    for (const more of [{ keep: false }, { cache: undefined }]) {
      const reader = openDocumentReader(options(system, more));
      await reader.decode("policy", name, policy);
      reader.keep();
    }
    const broken = openDocumentReader(options(system));
    await broken.decode("policy", name, "version: 3\n");
    broken.keep();
    expect(writes).toEqual([]);
  });

  test("openDocumentReader keeps what it knew beside what it parsed anew", async () => {
    const { system, writes } = machine(await fill(policy));
    const reader = openDocumentReader(options(system));
    await reader.decode("plain", "other.yaml", "a: 1\n");
    reader.keep();
    const documents = (JSON.parse(writes[0] ?? "{}") as { documents: object }).documents;
    expect(Object.keys(documents).sort()).toEqual([name, "other.yaml"]);
  });
});
