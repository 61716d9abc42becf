import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openFileWriter } from "./file-writer.ts";
import { platform } from "./platform.ts";
import { modeOf, temporaryFolder } from "./testing/folder.ts";

const refused = expect.objectContaining({ name: "StoreError", code: "REFUSED_PATH" });

describe("openFileWriter", () => {
  test("gives a file its name only when it is complete, and exactly the mode", () => {
    const folder = temporaryFolder();
    const path = join(folder, "deep", "file");
    const writer = openFileWriter(path, { mode: 0o640, replace: false });
    writer.write(Buffer.from("one "));
    expect(existsSync(path)).toBe(false);
    writer.write(Buffer.from("two"));
    writer.commit();
    expect(readFileSync(path, "utf8")).toBe("one two");
    expect([modeOf(path), modeOf(join(folder, "deep"))]).toEqual([0o640, 0o700]);
    expect(readdirSync(join(folder, "deep"))).toEqual(["file"]);
  });

  test("leaves nothing of what is discarded, and what was there as it was", () => {
    const folder = temporaryFolder();
    const path = join(folder, "file");
    writeFileSync(path, "old");
    const writer = openFileWriter(path, { mode: 0o600, replace: true });
    writer.write(Buffer.from("new"));
    writer.discard();
    writer.discard();
    expect(readdirSync(folder)).toEqual(["file"]);
    expect(readFileSync(path, "utf8")).toBe("old");
    for (const late of [() => writer.write(Buffer.from("x")), () => writer.commit()]) {
      expect(late).toThrow(expect.objectContaining({ code: "BAD_VALUE", path }));
    }
  });

  test.each([true, false])("does not write over a name that is taken meanwhile (hard links: %s)", (hardLinks) => {
    const folder = temporaryFolder();
    const path = join(folder, "file");
    const before = platform.hardLinks;
    platform.hardLinks = hardLinks;
    try {
      const writer = openFileWriter(path, { mode: 0o600, replace: false });
      writer.write(Buffer.from("new"));
      writeFileSync(path, "theirs");
      expect(() => writer.commit()).toThrow(refused);
      expect(readdirSync(folder)).toEqual(["file"]);
      expect(readFileSync(path, "utf8")).toBe("theirs");
    } finally {
      platform.hardLinks = before;
    }
  });

  test("never takes the place of a link or a folder, nor of a file unless it may", () => {
    const folder = temporaryFolder();
    symlinkSync("nowhere", join(folder, "link"));
    mkdirSync(join(folder, "folder"));
    writeFileSync(join(folder, "file"), "mine");
    const begin = (name: string, replace: boolean) => () =>
      openFileWriter(join(folder, name), { mode: 0o600, replace });
    for (const name of ["link", "folder"]) expect(begin(name, true), name).toThrow(refused);
    expect(begin("file", false)).toThrow(refused);
    expect(readdirSync(folder).sort()).toEqual(["file", "folder", "link"]);
  });

  test("takes away what a writer that was killed left, and nothing of another file", () => {
    const folder = temporaryFolder();
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    for (const name of [`.file.${dead}.1.tmp`, `.file2.${dead}.1.tmp`]) writeFileSync(join(folder, name), "half");
    openFileWriter(join(folder, "file"), { mode: 0o600, replace: false }).commit();
    expect(readdirSync(folder).sort()).toEqual([`.file2.${dead}.1.tmp`, "file"]);
  });
});
