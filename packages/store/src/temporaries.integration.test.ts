import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isDerivedSpelling } from "./table.ts";
import { sweepFolder, temporaryName } from "./temporaries.ts";
import { temporaryFolder } from "./testing/folder.ts";

describe("sweepFolder", () => {
  test("removes temporary files of dead writers and spares those of living ones and all other files", () => {
    const folder = temporaryFolder();
    const own = basename(temporaryName(join(folder, "a")));
    const spared = [own, "a", ".a.tmp", ".a.0.x.tmp", "a.999999999.x.tmp", ".a.999999999.x.tmp2", ".a.999999999.X.tmp"];
    for (const name of [...spared, ".a.999999999.x.tmp", ".b.c.999999999.0.tmp"]) writeFileSync(join(folder, name), "");
    sweepFolder(folder);
    expect(readdirSync(folder).sort()).toEqual([...spared].sort());
    sweepFolder(join(folder, "none"));
  });
});

describe("temporaryName", () => {
  test("is another one each time, and known to the state table as the file's own", () => {
    const names = new Set(Array.from({ length: 50 }, () => temporaryName("/d/a.json")));
    expect(names.size).toBe(50);
    for (const name of names) expect(isDerivedSpelling(name)).toBe(true);
  });
});
