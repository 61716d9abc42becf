import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AbsPath } from "./paths.ts";
import { beginFile, beginHash, readPieces } from "./pieces.ts";

let folder: string;

beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve pieces ")));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const at = (name: string): AbsPath => path.join(folder, name) as AbsPath;

describe("readPieces", () => {
  test("gives all bytes in order, or as many as asked for, in pieces that stay as they are", () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, n) => n % 251));
    fs.writeFileSync(at("file"), bytes);
    expect(Buffer.concat([...readPieces(at("file"))]).equals(bytes)).toBe(true);
    expect([...readPieces(at("file"), 70_000)].map((piece) => piece.length)).toEqual([65_536, 4464]);
    expect([...readPieces(at("file"), 0)]).toEqual([]);
  });

  test.each(["link", "folder", "pipe", "absent"])("refuses a %s, without waiting for it", (name) => {
    fs.writeFileSync(at("file"), "a");
    fs.symlinkSync("file", at("link"));
    fs.mkdirSync(at("folder"));
    expect(spawnSync("mkfifo", [at("pipe")]).status).toBe(0);
    expect(() => [...readPieces(at(name))]).toThrow(expect.objectContaining({ code: "UNREADABLE" }));
  });
});

describe("beginHash", () => {
  test("is the SHA-256 of the pieces together", () => {
    const hash = beginHash();
    for (const text of ["a", "b", "c"]) hash.update(Buffer.from(text));
    expect(hash.digest()).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

describe("beginFile", () => {
  test("a file has its name only when it is complete, and exactly the mode", () => {
    const writer = beginFile(at("deep/file"), { mode: 0o640, replace: false });
    writer.write(Buffer.from("one "));
    expect(fs.existsSync(at("deep/file"))).toBe(false);
    writer.write(Buffer.from("two"));
    writer.commit();
    expect(fs.readFileSync(at("deep/file"), "utf8")).toBe("one two");
    expect([fs.statSync(at("deep/file")).mode & 0o777, fs.statSync(at("deep")).mode & 0o777]).toEqual([0o640, 0o700]);
    expect(fs.readdirSync(at("deep"))).toEqual(["file"]);
  });

  test("what is discarded leaves nothing, and what was there stays", () => {
    fs.writeFileSync(at("file"), "old");
    const writer = beginFile(at("file"), { mode: 0o600, replace: true });
    writer.write(Buffer.from("new"));
    writer.discard();
    expect(fs.readdirSync(folder)).toEqual(["file"]);
    expect(fs.readFileSync(at("file"), "utf8")).toBe("old");
    expect(() => writer.write(Buffer.from("x"))).toThrow(expect.objectContaining({ code: "BAD_VALUE" }));
  });

  test("a place that is taken while the file is written is not overwritten", () => {
    const writer = beginFile(at("file"), { mode: 0o600, replace: false });
    writer.write(Buffer.from("new"));
    fs.writeFileSync(at("file"), "theirs");
    expect(() => writer.commit()).toThrow(expect.objectContaining({ code: "REFUSED" }));
    expect(fs.readdirSync(folder)).toEqual(["file"]);
    expect(fs.readFileSync(at("file"), "utf8")).toBe("theirs");
  });

  test("links and folders are never replaced", () => {
    fs.symlinkSync("nowhere", at("link"));
    fs.mkdirSync(at("folder"));
    for (const name of ["link", "folder"])
      expect(() => beginFile(at(name), { mode: 0o600, replace: true })).toThrow(
        expect.objectContaining({ code: "REFUSED" }),
      );
  });

  test("takes away what a writer that was killed left, and nothing of another file", () => {
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    for (const name of [`.file.${dead}.1.tmp`, `.file2.${dead}.1.tmp`]) fs.writeFileSync(at(name), "half");
    beginFile(at("file"), { mode: 0o600, replace: false }).commit();
    expect(fs.readdirSync(folder).sort()).toEqual([`.file2.${dead}.1.tmp`, "file"]);
  });
});
