import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { nodeSystem } from "../../system/node.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import { bundlePath, exportSide, importInto, makeSide, openFor, type Side } from "./bundle.fixture.ts";

/** A machine on which something happens just before a file is read for the n-th time. */
function meddled(file: string, meddle: (reading: number) => void): System {
  const system = nodeSystem();
  let readings = 0;
  return {
    ...system,
    readPieces(where, limit) {
      if (where.endsWith(file)) {
        readings += 1;
        meddle(readings);
      }
      return system.readPieces(where, limit);
    },
  };
}

function replaceFile(side: Side, file: string, text: string): void {
  fs.writeFileSync(`${side.root}/new`, text);
  fs.renameSync(`${side.root}/new`, `${side.root}/${file}`);
}

describe("exportBundle", () => {
  test("a file that changes between its reading and its packing is read again, and packed as it is then", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    there.write("c/policy.yaml", "one\n");
    // The first reading looks for secrets, the second measures, the third packs.
    const system = meddled("policy.yaml", (reading) => {
      if (reading === 3) replaceFile(there, "c/policy.yaml", "two and more\n");
    });
    await exportSide(there, file, { system });
    await importInto(here, file);
    expect(here.read("c/policy.yaml")).toBe("two and more\n");
  });

  test("a file that changes each time is refused by name, and no bundle is left", async () => {
    const [there, file] = [makeSide(), bundlePath()];
    there.write("c/policy.yaml", "0\n");
    const system = meddled("policy.yaml", (reading) => replaceFile(there, "c/policy.yaml", `${reading}\n`));
    await expect(exportSide(there, file, { system })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("c/policy.yaml: changed each of the 3 times"),
    });
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });

  test("so is one that holds still while it is measured and not while it is packed", async () => {
    const [there, file] = [makeSide(), bundlePath()];
    there.write("c/policy.yaml", "0\n");
    const packings: number[] = [];
    const system = meddled("policy.yaml", (reading) => {
      if (reading < 3 || reading % 2 === 0) return;
      packings.push(reading);
      replaceFile(there, "c/policy.yaml", `${reading}\n`);
    });
    await expect(exportSide(there, file, { system })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(packings).toEqual([3, 5, 7]);
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });

  test("lines added to a log meanwhile are not in the bundle, and no reason to read again", async () => {
    const [there, file] = [makeSide(), bundlePath()];
    there.write("r/log.jsonl", '{"n":1}\n');
    const system = meddled("log.jsonl", () => fs.appendFileSync(`${there.root}/r/log.jsonl`, '{"n":2}\n'));
    const { manifest } = await exportSide(there, file, { system, consents: { prompts: false, secrets: true } });
    expect(manifest.files.map(({ size }) => size)).toEqual([8]);
    await expect(openFor(makeSide(), file)).resolves.toMatchObject({ manifest: { classes: { records: 1 } } });
  });

  test("a file that is taken away meanwhile is left out", async () => {
    const [there, file] = [makeSide(), bundlePath()];
    there.write("c/policy.yaml", "one\n");
    there.write("c/notes/a.md", "a\n");
    const system = meddled("a.md", (reading) => {
      if (reading === 3) fs.rmSync(`${there.root}/c/notes/a.md`);
    });
    const { manifest } = await exportSide(there, file, { system });
    expect(manifest.files.map(({ path: name }) => name)).toEqual(["c/policy.yaml"]);
  });

  test("names of every length and language arrive as they were", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    const names = ["ä ö 日本.md", `${"long".repeat(40)}.md`, `${"deep/".repeat(60)}x.md`, "empty.md"];
    for (const name of names) there.write(`c/notes/${name}`, name === "empty.md" ? "" : name);
    await exportSide(there, file);
    await importInto(here, file);
    for (const name of names) expect(here.read(`c/notes/${name}`)).toBe(name === "empty.md" ? "" : name);
  });

  test("a name that another machine could not hold is passed over and named", async () => {
    const [there, file] = [makeSide(), bundlePath()];
    there.write("c/notes/a\\b.md", "a");
    fs.writeFileSync(Buffer.from(`${there.root}/c/notes/a\xff.md`, "latin1"), "a");
    const { selection, manifest } = await exportSide(there, file);
    expect(manifest.files).toEqual([]);
    expect(selection.passedOver.map(({ because }) => because)).toEqual(["name", "name"]);
  });
});

describe("secrets", () => {
  test("travel with both consents, stay with none, and identity never travels", async () => {
    const [there, here] = [makeSide(), makeSide()];
    const [without, withThem] = [bundlePath(), bundlePath()];
    there.write("s/token", "a secret");
    there.write("s/.token.42.a1.tmp", "a secret");
    there.write("i/id.json", "{}");
    const { manifest } = await exportSide(there, without);
    expect(manifest.files).toEqual([]);
    expect(manifest.left_out.map(({ path: name, because }) => [name, because])).toEqual([
      ["i/id.json", "identity"],
      ["s/token", "secret"],
    ]);
    await exportSide(there, withThem, { consents: { prompts: false, secrets: true } });
    await expect(importInto(here, withThem)).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining("holds secrets, such as s/token"),
    });
    expect(fs.readdirSync(here.root)).toEqual([]);
    expect(await importInto(here, withThem, true)).toEqual({ "s/token": "new" });
    expect(fs.statSync(`${here.root}/s/token`).mode & 0o777).toBe(0o600);
  });
});

describe("planImport", () => {
  test("joins a store: what only the bundle's side added goes to its end, once", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    const [a, b] = ['{"id":"a","n":1}\n', '{"id":"b","n":1}\n'];
    there.write("r/jobs.jsonl", a);
    await exportSide(there, file);
    expect(await importInto(here, file)).toEqual({ "r/jobs.jsonl": "new" });
    there.write("r/jobs.jsonl", a + b);
    const second = bundlePath();
    await exportSide(there, second);
    expect(await importInto(here, second)).toEqual({ "r/jobs.jsonl": "changed" });
    expect(here.read("r/jobs.jsonl")).toBe(a + b);
    expect(await importInto(here, second)).toEqual({ "r/jobs.jsonl": "same" });
  });

  test("joins a store that moved on both sides so that the last word here stands", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    there.write("r/jobs.jsonl", '{"id":"a","n":1}\n{"id":"b","n":1}\n');
    here.write("r/jobs.jsonl", '{"id":"a","n":2}\n');
    await exportSide(there, file);
    expect(await importInto(here, file)).toEqual({ "r/jobs.jsonl": "conflict" });
    expect(here.read("r/jobs.jsonl")).toBe('{"id":"a","n":1}\n{"id":"b","n":1}\n{"id":"a","n":2}\n');
  });

  test("a last line without its end is ended before others follow", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    there.write("r/log.jsonl", '{"n":1}\n{"n":2}');
    here.write("r/log.jsonl", '{"n":0}');
    await exportSide(there, file);
    await importInto(here, file);
    expect(here.read("r/log.jsonl")).toBe('{"n":0}\n{"n":1}\n{"n":2}\n');
  });

  test("a bundle exchanged for another while it is read is refused before anything is written", async () => {
    const [there, here, file, other] = [makeSide(), makeSide(), bundlePath(), bundlePath()];
    there.write("c/policy.yaml", "one\n");
    await exportSide(there, file);
    there.write("c/policy.yaml", "two\n");
    await exportSide(there, other);
    const bundle = await openFor(here, file);
    fs.copyFileSync(other, file);
    await expect(bundle.read(() => undefined)).rejects.toMatchObject({ code: "REFUSED" });
  });

  test("programs stay programs where git tracks them, and nothing else does", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    for (const name of ["c/notes/run", "r/files/run"]) {
      there.write(name, "#!/bin/sh\n");
      fs.chmodSync(`${there.root}/${name}`, 0o4755);
    }
    await exportSide(there, file);
    await importInto(here, file);
    const modeOf = (name: string): number => fs.statSync(`${here.root}/${name}`).mode & 0o7777;
    expect([modeOf("c/notes/run"), modeOf("r/files/run")]).toEqual([0o755, 0o600]);
  });
});

describe("a truncated bundle", () => {
  test("is refused wherever it ends", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    for (const name of ["a", "b", "c"]) there.write(`c/notes/${name}.md`, name.repeat(700));
    await exportSide(there, file);
    const whole = fs.readFileSync(file);
    const part = bundlePath();
    for (let length = 0; length < whole.length; length += 7) {
      fs.writeFileSync(part, whole.subarray(0, length));
      await expect(openFor(here, part), `${length} bytes`).rejects.toMatchObject({ code: "REFUSED" });
    }
  });

  test("one changed byte is refused or changes nothing that arrives", async () => {
    const [there, here, file] = [makeSide(), makeSide(), bundlePath()];
    there.write("c/notes/a.md", "some text\n".repeat(50));
    await exportSide(there, file);
    const [whole, sound] = [fs.readFileSync(file), await openFor(here, file)];
    const part = bundlePath() as AbsPath;
    for (let at = 0; at < whole.length; at += 3) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      fs.writeFileSync(part, bytes);
      const outcome = await openFor(here, part).then(
        ({ manifest }) => manifest,
        (error: { readonly code?: string }) => `${error.code}`,
      );
      if (typeof outcome === "string") expect(["REFUSED", "STATE_NEWER"], `byte ${at}`).toContain(outcome);
      else expect(outcome.files, `byte ${at}`).toEqual(sound.manifest.files);
    }
  });
});
