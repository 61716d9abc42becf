import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ensureDir, removeFile, writeFileAtomic } from "./atomic.ts";
import { modeOf, temporaryFolder, treeOf } from "./testing/folder.ts";

describe("writeFileAtomic", () => {
  test("creates and replaces, and leaves no temporary file", async () => {
    const folder = temporaryFolder();
    await writeFileAtomic(join(folder, "a"), "one");
    await writeFileAtomic(join(folder, "a"), Buffer.from([0xff, 0, 1]));
    expect(readFileSync(join(folder, "a"))).toEqual(Buffer.from([0xff, 0, 1]));
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  test("keeps the mode of the file that is there, and sets an exact one whatever the umask", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a");
    writeFileSync(path, "x");
    chmodSync(path, 0o640);
    await writeFileAtomic(path, "y");
    expect(modeOf(path)).toBe(0o640);
    await writeFileAtomic(path, "z", { mode: 0o666 });
    expect(modeOf(path)).toBe(0o666);
    await writeFileAtomic(join(folder, "new"), "z", { mode: 0o600 });
    expect(modeOf(join(folder, "new"))).toBe(0o600);
    await writeFileAtomic(join(folder, "plain"), "z");
    expect(modeOf(join(folder, "plain"))).toBe(0o644 & ~process.umask());
  });

  test("gives a new inode, so that a reader keeps a complete old file and a hard link its content", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a"), "old");
    linkSync(join(folder, "a"), join(folder, "b"));
    const before = statSync(join(folder, "a")).ino;
    await writeFileAtomic(join(folder, "a"), "new");
    expect(statSync(join(folder, "a")).ino).not.toBe(before);
    expect(readFileSync(join(folder, "b"), "utf8")).toBe("old");
  });

  test("refuses a symbolic link, or replaces the file it leads to when asked", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "old");
    symlinkSync("file", join(folder, "link"));
    await expect(writeFileAtomic(join(folder, "link"), "new")).rejects.toMatchObject({
      code: "REFUSED_PATH",
      path: join(folder, "link"),
    });
    await writeFileAtomic(join(folder, "link"), "new", { symlink: "follow" });
    expect(treeOf(folder)).toEqual({ file: "new", link: "-> file" });
  });

  test("refuses a dangling link and a loop of links even when asked to follow", async () => {
    const folder = temporaryFolder();
    symlinkSync("nowhere", join(folder, "dangling"));
    symlinkSync("loop", join(folder, "loop"));
    for (const name of ["dangling", "loop"]) {
      const write = writeFileAtomic(join(folder, name), "x", { symlink: "follow" });
      await expect(write).rejects.toMatchObject({ code: "REFUSED_PATH" });
    }
    expect(readdirSync(folder).sort()).toEqual(["dangling", "loop"]);
  });

  test("refuses a folder and a pipe without waiting, and changes nothing", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "folder"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const name of ["folder", "pipe"]) {
      await expect(writeFileAtomic(join(folder, name), "x")).rejects.toMatchObject({ code: "REFUSED_PATH" });
    }
    expect(readdirSync(folder).sort()).toEqual(["folder", "pipe"]);
  });

  test("names the path when the folder is missing or a file is in its place", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "x");
    const missing = join(folder, "none", "a");
    await expect(writeFileAtomic(missing, "x")).rejects.toMatchObject({ code: "NOT_FOUND", path: missing });
    const below = join(folder, "file", "a");
    await expect(writeFileAtomic(below, "x")).rejects.toMatchObject({ code: "REFUSED_PATH", path: below });
  });

  test("writes under names of the greatest length, also of many bytes a character", async () => {
    const folder = temporaryFolder();
    const names = ["n".repeat(255), "é".repeat(127), "😀".repeat(63)];
    for (const name of names) await writeFileAtomic(join(folder, name), "x");
    expect(readdirSync(folder).sort()).toEqual([...names].sort());
    await expect(writeFileAtomic(join(folder, "n".repeat(256)), "x")).rejects.toMatchObject({ code: "REFUSED_PATH" });
  });
});

describe("removeFile", () => {
  test("answers whether something was there, takes a link and not what it leads to", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "x");
    symlinkSync("file", join(folder, "link"));
    expect(await removeFile(join(folder, "link"))).toBe(true);
    expect(await removeFile(join(folder, "link"))).toBe(false);
    expect(treeOf(folder)).toEqual({ file: "x" });
  });

  test("refuses a folder", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "d"));
    await expect(removeFile(join(folder, "d"))).rejects.toMatchObject({ code: "REFUSED_PATH" });
  });
});

describe("ensureDir", () => {
  test("makes what is missing with the mode and leaves what is there", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "a"), { mode: 0o755 });
    await ensureDir(join(folder, "a", "b", "c"), { mode: 0o700 });
    expect([modeOf(join(folder, "a")), modeOf(join(folder, "a/b")), modeOf(join(folder, "a/b/c"))]).toEqual([
      0o755, 0o700, 0o700,
    ]);
    await ensureDir(join(folder, "a"), { mode: 0o700 });
    expect(modeOf(join(folder, "a"))).toBe(0o755);
  });

  test("goes through a link to a folder and refuses what is in the way", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    symlinkSync("nowhere", join(folder, "dangling"));
    writeFileSync(join(folder, "file"), "x");
    await ensureDir(join(folder, "link", "below"));
    expect(treeOf(folder)["real/below"]).toBe("/");
    for (const name of ["dangling", "file"]) {
      await expect(ensureDir(join(folder, name, "x"))).rejects.toMatchObject({ code: "REFUSED_PATH" });
      await expect(ensureDir(join(folder, name))).rejects.toMatchObject({ code: "REFUSED_PATH" });
    }
  });
});
