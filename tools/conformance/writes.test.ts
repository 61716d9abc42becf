import { describe, expect, test } from "vitest";
import { parseModule } from "../source/module.ts";
import { deriveWrites } from "./writes.ts";

function writes(text: string): string[] {
  return deriveWrites(parseModule("packages/core/src/x.ts", text)).map(({ symbol, line }) => `${line} ${symbol}`);
}

describe("deriveWrites", () => {
  test.each(
    [
      "writeFile",
      "appendFile",
      "rename",
      "mkdir",
      "mkdtemp",
      "symlink",
      "link",
      "unlink",
      "rm",
      "rmdir",
      "copyFile",
      "cp",
      "truncate",
      "ftruncate",
      "chmod",
      "fchmod",
      "lchmod",
      "chown",
      "fchown",
      "lchown",
      "utimes",
      "futimes",
      "lutimes",
    ].flatMap((name) => [name, `${name}Sync`]),
  )("names %s, imported by name", (name) => {
    expect(writes(`\nimport { ${name} } from "node:fs";`)).toEqual([`2 ${name}`]);
  });

  test.each([
    ['import { writeFileSync as w } from "fs";', "writeFileSync"],
    ['import { writeFile } from "node:fs/promises";', "writeFile"],
    ['import { writeFile } from "fs/promises";', "writeFile"],
    ['import { createWriteStream } from "node:fs";', "createWriteStream"],
    ['import * as fs from "node:fs"; fs.writeFileSync("a", "");', "writeFileSync"],
    ['import fs from "node:fs"; fs.rmSync("a");', "rmSync"],
    ['import { promises } from "node:fs"; await promises.mkdir("a");', "mkdir"],
    ['import { promises as disk } from "node:fs"; await disk.mkdir("a");', "mkdir"],
    ['import { default as disk } from "node:fs"; disk.mkdirSync("a");', "mkdirSync"],
    ['import * as fs from "node:fs"; await fs.promises.rename("a", "b");', "rename"],
    ['import * as fs from "node:fs"; fs["writeFileSync"]("a", "");', "writeFileSync"],
    ['import * as fs from "node:fs"; fs?.writeFileSync("a", "");', "writeFileSync"],
    ['import * as fs from "node:fs"; (fs as Disk).writeFileSync("a", "");', "writeFileSync"],
    ['import * as fs from "node:fs"; fs!.writeFileSync("a", "");', "writeFileSync"],
    ['import * as fs from "node:fs"; const write = fs.writeFileSync;', "writeFileSync"],
    ['import * as fs from "node:fs"; use(fs.writeFileSync);', "writeFileSync"],
    ['import * as fs from "node:fs"; fs.writeFileSync.call(null, "a", "");', "writeFileSync"],
    ['import * as fs from "node:fs"; const { rmSync: remove } = fs;', "rmSync"],
    ['import * as fs from "node:fs"; const { rmSync: remove = other } = fs;', "rmSync"],
    ['import * as fs from "node:fs"; const { ["rmSync"]: remove } = fs;', "rmSync"],
    ['import * as fs from "node:fs"; const disk = fs; disk.rmSync("a");', "rmSync"],
    ['import * as fs from "node:fs"; let disk; disk = fs; disk.rmSync("a");', "rmSync"],
    ['use(() => disk.rmSync("a")); const disk = more; const more = fs; import fs from "node:fs";', "rmSync"],
    ['const fs = require("node:fs"); fs.rmSync("a");', "rmSync"],
    ['require("fs").rmSync("a");', "rmSync"],
    ['process.getBuiltinModule("node:fs").rmSync("a");', "rmSync"],
    ['const { rmSync } = process.getBuiltinModule("node:fs");', "rmSync"],
    ['const fs = await import("node:fs"); fs.rmSync("a");', "rmSync"],
    ['(await import("node:fs/promises")).rm("a");', "rm"],
    ['const { rm } = (await import("node:fs")).promises;', "rm"],
    ['export { rmSync } from "node:fs";', "rmSync"],
    ['export { rmSync as remove } from "node:fs";', "rmSync"],
  ])("names what `%s` writes with", (text, symbol) => {
    expect(writes(text)).toEqual([`1 ${symbol}`]);
  });

  test.each([
    'import * as fs from "node:fs"; use(fs);',
    'import * as fs from "node:fs"; use({ fs });',
    'import * as fs from "node:fs"; export { fs };',
    'import * as fs from "node:fs"; export default fs;',
    'import * as fs from "node:fs"; fs[name]("a");',
    'import * as fs from "node:fs"; const { ...rest } = fs;',
    'import * as fs from "node:fs"; const { [name]: some } = fs;',
    'import * as fs from "node:fs"; const { promises: { rm } } = fs;',
    'import * as fs from "node:fs"; system.disk = fs;',
    'import * as fs from "node:fs"; function run(disk = fs) {}',
    'import * as fs from "node:fs"; (real ? fs : other).rmSync("a");',
    'import("node:fs").then((disk) => disk.rmSync("a"));',
    'const loading = import("node:fs");',
    'export * from "node:fs";',
    'export * as disk from "node:fs";',
    'export { promises } from "node:fs";',
    'export { default } from "node:fs";',
  ])("tells where `%s` hands the whole module on", (text) => {
    expect(writes(text)).toEqual(["1 fs"]);
  });

  test.each([
    ['import { openSync } from "node:fs"; openSync("a", "w");', "openSync"],
    ['import { openSync } from "node:fs"; openSync("a", "r+");', "openSync"],
    ['import { openSync } from "node:fs"; openSync("a", flags);', "openSync"],
    ['import { openSync } from "node:fs"; openSync("a", constants.O_RDONLY | constants.O_CREAT);', "openSync"],
    ['import { openSync } from "node:fs"; const open = openSync;', "openSync"],
    ['import { openSync } from "node:fs"; use(openSync);', "openSync"],
    ['import { openSync as o } from "node:fs"; o("a", "a");', "openSync"],
    ['import { open } from "node:fs/promises"; await open("a", "w");', "open"],
    ['import * as fs from "node:fs"; fs.openSync("a", "wx");', "openSync"],
    ['import * as fs from "node:fs"; use(fs.openSync);', "openSync"],
    ['const { openSync } = require("node:fs"); openSync("a", "w");', "openSync"],
    ['export { openSync } from "node:fs";', "openSync"],
  ])("names an opening that may write in `%s`", (text, symbol) => {
    expect(writes(text)).toEqual([`1 ${symbol}`]);
  });

  test.each([
    'import { openSync } from "node:fs"; openSync("a");',
    'import { openSync } from "node:fs"; openSync("a", "r");',
    'import { constants, openSync } from "node:fs"; openSync("a", constants.O_RDONLY | constants.O_NOFOLLOW);',
    'import * as fs from "node:fs"; fs.openSync("a", fs.constants.O_RDONLY);',
    'import * as fs from "node:fs"; (fs as Disk).openSync("a", "r");',
    'import { open } from "node:fs/promises"; await open("a", "r");',
    'import { readFileSync, statSync, readlinkSync, writeSync, opendirSync } from "node:fs";',
    'import * as fs from "node:fs"; fs.readFileSync("a"); fs.promises.readFile("a"); fs.constants.O_CREAT;',
    'import * as fs from "node:fs"; const { readFileSync } = fs; const disk = fs;',
    'import type { WriteStream } from "node:fs";',
    'import { type WriteStream } from "node:fs";',
    'import type * as fs from "node:fs"; let disk: typeof fs;',
    'import * as fs from "node:fs"; let disk: typeof fs.writeFileSync;',
    'import { rmSync } from "./mine.ts"; rmSync("a");',
    'const named = { writeFileSync: 1, fs: 2 }; named.fs; import * as fs from "node:fs";',
    'const said = "fs.writeFileSync"; // fs.writeFileSync',
    "system.writeFile(path); store.rm(key);",
  ])("finds nothing in `%s`", (text) => {
    expect(writes(text)).toEqual([]);
  });
});
