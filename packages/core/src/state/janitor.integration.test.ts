import * as fs from "node:fs";
import * as path from "node:path";
import { defineStateTable, type StateEntry, type StateTable } from "@reeve/store/table";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "../git/fixture.ts";
import { findRepository } from "../git/repository.ts";
import { ensureHome } from "../layer/home.ts";
import { type Layer, openLayer } from "../layer/layer.ts";
import { clean, planClean } from "./janitor.ts";

const now = new Date("2030-06-01T00:00:00Z");

function entry(given: Pick<StateEntry, "path"> & Partial<StateEntry>): StateEntry {
  return {
    purpose: "A test's.",
    because: "A test's.",
    owner: "test",
    writer: "reeve",
    holds: "directory",
    portability: "derived",
    scope: "checkout",
    invalidates: [],
    why: "No view.",
    ...given,
  };
}

const table: StateTable = defineStateTable({
  roots: {
    config: [".ai/repo/"],
    records: [".ai/local/state/"],
    local: [".ai/local/cache/", ".ai/local/tmp/", ".ai/local/run/", ".ai/local/shots/"],
    identity: [".ai/local/identity/"],
    secrets: [".ai/local/secrets/"],
  },
  entries: [
    entry({ path: ".ai/local/cache/", retention: { days: 30 } }),
    entry({ path: ".ai/local/cache/forever/" }),
    entry({ path: ".ai/local/cache/short/", retention: { days: 1 } }),
    entry({ path: ".ai/local/tmp/", retention: { days: 2 } }),
    entry({ path: ".ai/local/shots/", retention: { keep: 2 } }),
    entry({ path: ".ai/local/run/" }),
    entry({ path: ".ai/local/run/trace.*", holds: "log", retention: { days: 5, keep: 3 } }),
    entry({ path: ".ai/local/state/", portability: "carry" }),
  ],
});

let scene: Scene;
let main: Checkout;
let layer: Layer;

beforeEach(async () => {
  scene = makeScene();
  main = scene.make("with layer");
  const system = { ...main.system(), now: () => now };
  const repository = findRepository(system, main.top);
  main.write({ ".ai/manifest.yaml": "version: 1\n" });
  await ensureHome({ system, repository, seeds: {} });
  layer = openLayer({ system, repository, version: "1.0.0", caches: false, dry: false });
});
afterEach(() => scene.remove());

/** Writes a file of the checkout's own half that was last changed so many days ago. */
function put(name: string, daysAgo: number, text = "x"): void {
  const where = path.join(layer.home.path, name);
  fs.mkdirSync(path.dirname(where), { recursive: true });
  fs.writeFileSync(where, text);
  const then = now.getTime() / 1000 - daysAgo * 86_400;
  fs.utimesSync(where, then, then);
}

function namesBelow(folder: string): readonly string[] {
  const all = fs.readdirSync(path.join(layer.home.path, folder), { recursive: true, withFileTypes: true });
  return all
    .filter((found) => !found.isDirectory())
    .map((found) => path.relative(layer.home.path, path.join(found.parentPath, found.name)))
    .sort();
}

describe("planClean and clean", () => {
  test("remove what is older than its entry keeps it, each file by its nearest entry, and nothing else", async () => {
    put("cache/old.json", 31);
    put("cache/deep/old.json", 400, "four");
    put("cache/young.json", 29);
    put("cache/short/two-days.json", 2);
    put("cache/forever/ancient.json", 4000);
    put("cache/old.json.lock", 400);
    put("tmp/left", 3);
    put("tmp/today", 0);
    put("run/journal-of-old", 4000);
    put("state/ledger.jsonl", 4000);
    put("secrets/key", 4000);
    put("elsewhere/undeclared", 4000);
    const before = namesBelow(".");
    const planned = planClean(layer, table);
    expect(namesBelow(".")).toEqual(before);
    expect(planned.targets.map(({ path: name, size, why }) => [name, size, why]).sort()).toEqual([
      [".ai/local/cache/deep/old.json", 4, "not changed for 400 days, kept for 30"],
      [".ai/local/cache/old.json", 1, "not changed for 31 days, kept for 30"],
      [".ai/local/cache/short/two-days.json", 1, "not changed for 2 days, kept for 1"],
      [".ai/local/tmp/left", 1, "not changed for 3 days, kept for 2"],
    ]);
    expect(await clean(layer, planned)).toEqual(planned);
    const gone = planned.targets.map(({ path: name }) => name.slice(".ai/local/".length));
    expect(namesBelow(".")).toEqual(before.filter((name) => !gone.includes(name)));
  });

  test("keep the newest so many, of a folder as of a family", async () => {
    for (const [index, name] of ["a", "b", "c", "d"].entries()) put(`shots/${name}.png`, index);
    for (const days of [1, 2, 3, 4, 6]) put(`run/trace.${days}`, days);
    put("run/tracer", 100);
    await clean(layer, planClean(layer, table));
    expect(namesBelow("shots")).toEqual(["shots/a.png", "shots/b.png"]);
    expect(namesBelow("run").filter((name) => name.includes("trace"))).toEqual([
      "run/trace.1",
      "run/trace.2",
      "run/trace.3",
      "run/tracer",
    ]);
  });

  test("never follow a link, nor remove one", async () => {
    const outside = path.join(scene.root, "outside");
    fs.mkdirSync(outside);
    fs.writeFileSync(path.join(outside, "old"), "x");
    fs.utimesSync(path.join(outside, "old"), 0, 0);
    fs.symlinkSync(outside, path.join(layer.home.path, "cache", "folder"));
    fs.symlinkSync(path.join(outside, "old"), path.join(layer.home.path, "cache", "file"));
    fs.symlinkSync(outside, path.join(layer.home.path, "shots"));
    expect(planClean(layer, table)).toEqual({ targets: [], problems: [] });
  });

  test("go on after a target that cannot be removed, and name it", async () => {
    put("cache/deep/old", 31);
    put("cache/old", 31);
    const planned = planClean(layer, table);
    const folder = path.join(layer.home.path, "cache", "deep");
    fs.renameSync(folder, path.join(scene.root, "outside"));
    fs.symlinkSync(path.join(scene.root, "outside"), folder);
    const { targets, problems } = await clean(layer, planned);
    expect(targets.map(({ path: name }) => name)).toEqual([".ai/local/cache/old"]);
    expect(problems.map(({ path: name }) => name)).toEqual([".ai/local/cache/deep/old"]);
    expect(fs.readdirSync(path.join(scene.root, "outside"))).toEqual(["old"]);
  });

  test("find nothing where there is nothing", () => {
    expect(planClean(layer, table)).toEqual({ targets: [], problems: [] });
  });
});

describe("temporary files", () => {
  test("of processes that are gone go, from every folder, and no other", async () => {
    const dead = 2 ** 22 + 1;
    put(`state/.current.yaml.${dead}.ab12.tmp`, 0);
    put(`cache/deep/.x.${dead}.ab12.tmp`, 4000);
    put(`cache/.x.${process.pid}.ab12.tmp`, 0);
    put("cache/.x.tmp", 0);
    main.write({ [`.ai/repo/deep/.rule.md.${dead}.ab12.tmp`]: "x", ".ai/repo/deep/rule.md": "x" });
    const planned = planClean(layer, table);
    expect(planned.targets.map(({ path: found }) => found).sort()).toEqual([
      `.ai/local/cache/deep/.x.${dead}.ab12.tmp`,
      `.ai/local/state/.current.yaml.${dead}.ab12.tmp`,
      `.ai/repo/deep/.rule.md.${dead}.ab12.tmp`,
    ]);
    expect(await clean(layer, planned)).toEqual(planned);
    expect(fs.readdirSync(path.join(main.top, ".ai/repo/deep"))).toEqual(["rule.md"]);
    expect(namesBelow(".").filter((name) => name.endsWith(".tmp"))).toEqual([
      `cache/.x.${process.pid}.ab12.tmp`,
      "cache/.x.tmp",
    ]);
  });
});
