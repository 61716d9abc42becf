import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Document, type DocumentOptions, openDocument } from "./document.ts";
import type { Members } from "./document-form.ts";
import { buildProgram, ended, runProgram, startProgram } from "./testing/child.ts";
import { modeOf, temporaryFolder } from "./testing/folder.ts";

interface Intent {
  readonly sources: readonly string[];
}

function parseIntent(members: Members): Intent {
  const { sources } = members as { sources?: unknown };
  if (!Array.isArray(sources) || !sources.every((source) => typeof source === "string")) throw new Error("no sources");
  return { sources };
}

/** Version 1 had one source, version 2 has a list. */
function listsItsSources(members: Members): Members {
  const { source, ...rest } = members;
  return source === undefined ? members : { ...rest, sources: [source] };
}

function open(path: string, more: Partial<DocumentOptions<Intent>> = {}): Document<Intent> {
  return openDocument<Intent>({ path, steps: [listsItsSources], parse: parseIntent, ...more });
}

function withoutLocks(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.includes(".lock"))
    .sort();
}

describe("read", () => {
  test("tells absent, loaded, newer and damaged apart, and changes nothing", () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    const document = open(path);
    expect(document.read()).toEqual({ kind: "absent" });
    writeFileSync(path, '{"version":2,"sources":["x"]}');
    expect(document.read()).toEqual({ kind: "loaded", value: { sources: ["x"] }, version: 2, writtenBy: undefined });
    writeFileSync(path, '{"version":3,"writtenBy":"app 9","what":"ever"}');
    expect(document.read()).toEqual({ kind: "newer", path, version: 3, known: 2, writtenBy: "app 9" });
    writeFileSync(path, '{"version":2,"sources":');
    expect(document.read()).toMatchObject({ kind: "damaged", path, line: 1 });
    expect(readdirSync(folder)).toEqual(["a.json"]);
  });

  test("climbs the ladder in memory and leaves the file", () => {
    const path = join(temporaryFolder(), "a.json");
    writeFileSync(path, '{"version":1,"source":"x"}');
    expect(open(path).read()).toMatchObject({ kind: "loaded", value: { sources: ["x"] }, version: 1 });
    expect(readFileSync(path, "utf8")).toBe('{"version":1,"source":"x"}');
  });

  test.each<[string, string | Buffer]>([
    ["empty", ""],
    ["no object", "[]"],
    ["null", "null"],
    ["without a version", '{"sources":[]}'],
    ["of version zero", '{"version":0,"sources":[]}'],
    ["of half a version", '{"version":1.5,"sources":[]}'],
    ["of a version in words", '{"version":"2","sources":[]}'],
    ["with a duplicate member", '{"version":2,"sources":[],"sources":[]}'],
    ["with trailing data", '{"version":2,"sources":[]}{}'],
    ["with a byte order mark", '\ufeff{"version":2,"sources":[]}'],
    ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
    ["refused by the parse", '{"version":2,"sources":[1]}'],
    ["refused by the parse after the ladder", '{"version":1}'],
  ])("calls a document that is %s damaged", (_case, bytes) => {
    const path = join(temporaryFolder(), "a.json");
    writeFileSync(path, bytes);
    expect(open(path).read().kind).toBe("damaged");
  });

  test("throws for a folder, and reads through a link", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "folder"));
    expect(() => open(join(folder, "folder")).read()).toThrow(expect.objectContaining({ code: "REFUSED_PATH" }));
    writeFileSync(join(folder, "real"), '{"version":2,"sources":[]}');
    symlinkSync("real", join(folder, "link"));
    expect(open(join(folder, "link")).read().kind).toBe("loaded");
    symlinkSync("nowhere", join(folder, "dangling"));
    expect(() => open(join(folder, "dangling")).read()).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  });
});

describe("update", () => {
  test("makes the document and its folder, with the version first and the exact mode", async () => {
    const path = join(temporaryFolder(), "made", "a.json");
    const update = await open(path, { mode: 0o600, writtenBy: "app 1" }).update(() => ({ sources: ["x"] }));
    expect(update).toEqual({ kind: "written", value: { sources: ["x"] } });
    const text = '{\n  "version": 2,\n  "writtenBy": "app 1",\n  "sources": [\n    "x"\n  ]\n}\n';
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(modeOf(path)).toBe(0o600);
  });

  test("does not write what is the same, another writer's name included", async () => {
    const path = join(temporaryFolder(), "a.json");
    await open(path, { writtenBy: "app 1" }).update(() => ({ sources: ["x"] }));
    utimesSync(path, 1000, 1000);
    const document = open(path, { writtenBy: "app 2" });
    expect(await document.update((current) => current)).toEqual({ kind: "unchanged", value: { sources: ["x"] } });
    expect(await document.update(() => undefined)).toEqual({ kind: "unchanged", value: { sources: ["x"] } });
    expect(statSync(path).mtimeMs).toBe(1_000_000);
    await document.update(() => ({ sources: ["y"] }));
    expect(readFileSync(path, "utf8")).toContain("app 2");
  });

  test("writes a migrated document back, and keeps the file's mode", async () => {
    const path = join(temporaryFolder(), "a.json");
    writeFileSync(path, '{"version":1,"source":"x"}', { mode: 0o640 });
    const update = await open(path).update((current) => current);
    expect(update.kind).toBe("written");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ version: 2, sources: ["x"] });
    expect(modeOf(path)).toBe(0o640);
  });

  test("never rewrites a newer document and does not ask for a value", async () => {
    const path = join(temporaryFolder(), "a.json");
    const text = '{"version":9,"writtenBy":"app 9"}';
    writeFileSync(path, text);
    let asked = false;
    const update = open(path).update(() => {
      asked = true;
      return { sources: [] };
    });
    await expect(update).rejects.toMatchObject({
      code: "NEWER",
      path,
      details: { version: 9, known: 2, writtenBy: "app 9" },
    });
    expect([asked, readFileSync(path, "utf8")]).toEqual([false, text]);
  });

  test("moves a damaged document aside with its bytes, and only when it writes", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    const bytes = Buffer.from([0x7b, 0xff]);
    writeFileSync(path, bytes);
    const document = open(path);
    await document.update((current, state) => {
      expect([current, state.kind]).toEqual([undefined, "damaged"]);
      return undefined;
    });
    expect(withoutLocks(folder)).toEqual(["a.json"]);
    const update = await document.update(() => ({ sources: [] }));
    expect(readFileSync(update.quarantined ?? "")).toEqual(bytes);
    expect(update.quarantined).toMatch(/a\.json\.corrupt-\d{8}T\d{6}\.\d{3}Z$/);
    expect(document.read().kind).toBe("loaded");
  });

  test("writes nothing when the caller throws or gives what could not be read back", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    const document = open(path);
    const throwing = document.update(() => {
      throw new RangeError("mine");
    });
    await expect(throwing).rejects.toThrow(RangeError);
    const wrong = document.update(() => ({ sources: [1 as unknown as string] }));
    await expect(wrong).rejects.toMatchObject({ code: "BAD_VALUE", path });
    const reserved = document.update(() => ({ sources: [], version: 7 }) as Intent);
    await expect(reserved).rejects.toMatchObject({ code: "BAD_VALUE", path });
    expect(withoutLocks(folder)).toEqual([]);
  });

  test("refuses to write through a link", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "real"), '{"version":2,"sources":[]}');
    symlinkSync("real", join(folder, "link"));
    const update = open(join(folder, "link")).update(() => ({ sources: ["x"] }));
    await expect(update).rejects.toMatchObject({ code: "REFUSED_PATH" });
  });

  test("writes with another codec, which sees the text it replaces", async () => {
    const path = join(temporaryFolder(), "a.txt");
    const document = open(path, {
      format: {
        parse: (text) => ({
          version: 2,
          sources: text.split("\n").filter((line) => line !== "" && !line.startsWith("#")),
        }),
        render: ({ sources }, previous) => {
          const comments = (previous ?? "").split("\n").filter((line) => line.startsWith("#"));
          return [...comments, ...(sources as string[])].join("\n");
        },
      },
    });
    writeFileSync(path, "# mine\na");
    await document.update((current) => ({ sources: [...(current?.sources ?? []), "b"] }));
    expect(readFileSync(path, "utf8")).toBe("# mine\na\nb");
  });

  test("loses no update among processes", { timeout: 120_000 }, async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    const source = `
      import { openDocument } from "./index.ts";
      const document = openDocument({ path: process.argv[2], steps: [], parse: (members) => ({ n: Number(members.n) }) });
      (async () => {
        for (let round = 0; round < 25; round += 1) await document.update((current) => ({ n: (current?.n ?? 0) + 1 }));
      })();
    `;
    const program = buildProgram(folder, source);
    const ends = await Promise.all([1, 2, 3].map(() => ended(startProgram(program, [path]))));
    expect(ends.map(({ exit }) => exit)).toEqual([0, 0, 0]);
    expect(runProgram(program, [path]).exit).toBe(0);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ version: 1, n: 100 });
  });
});

describe("restore", () => {
  test("puts back the content of the last successful write, and moves what was damaged aside", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    const document = open(path, { lastGood: true, mode: 0o600 });
    await document.update(() => ({ sources: ["one"] }));
    await document.update(() => ({ sources: ["two"] }));
    expect(modeOf(`${path}.last-good`)).toBe(0o600);
    writeFileSync(path, "broken");
    const update = await document.restore();
    expect(update).toMatchObject({ kind: "written", value: { sources: ["two"] } });
    expect(readFileSync(update.quarantined ?? "", "utf8")).toBe("broken");
    expect(document.read()).toMatchObject({ kind: "loaded", value: { sources: ["two"] } });
  });

  test("says so when there is no copy or none that reads, and keeps none unless asked", async () => {
    const path = join(temporaryFolder(), "a.json");
    const document = open(path);
    await document.update(() => ({ sources: ["one"] }));
    expect(existsSync(`${path}.last-good`)).toBe(false);
    await expect(document.restore()).rejects.toMatchObject({ code: "NOT_FOUND" });
    writeFileSync(`${path}.last-good`, "broken");
    await expect(document.restore()).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(document.read()).toMatchObject({ kind: "loaded", value: { sources: ["one"] } });
  });
});
