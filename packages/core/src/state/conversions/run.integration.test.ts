import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { treeOf } from "../../../../store/src/testing/folder.ts";
import { type Conversion, type Conversions, digestOf } from "./conversion.ts";
import { newerFiles, olderFiles, placeIn, steps, whereIs, writeLayer } from "./conversions.fixture.ts";
import { imagePath, imagesFolder, readEpisodes, writeEpisode } from "./episode.ts";
import { needsConversion } from "./needed.ts";
import { locate } from "./place.ts";
import { planConversions } from "./plan.ts";
import { pruneEpisodes } from "./prune.ts";
import { conversions as ownConversions } from "./registry.ts";
import { findEpisode, planRollback, putBack } from "./rollback.ts";
import { runConversions } from "./run.ts";
import { markerPath, readStamp, stampPath } from "./stamp.ts";

function openScene(files: Readonly<Record<string, string>> = olderFiles): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "conversions-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeLayer(root, files);
  return root;
}

/** The layer's own files, by the state table's paths, without what belongs to conversions and locks. */
function layerOf(root: string): Record<string, string> {
  const shared = Object.entries(treeOf(join(root, "top"))).map(([path, text]) => [path, text] as const);
  const own = Object.entries(treeOf(join(root, "git/reeve/checkouts/main")));
  const all = [...shared, ...own.map(([path, text]) => [`.ai/local/${path}`, text] as const)];
  return Object.fromEntries(all.filter(([path, text]) => text !== "/" && path !== stampPath));
}

const failing: Conversion = {
  id: "fails",
  describe: "Fails on everything.",
  touches: "local",
  plan() {
    throw new Error("no such form");
  },
};

const restless: Conversion = {
  id: "restless",
  describe: "Adds a line each time it looks.",
  touches: "local",
  plan: (files) => [
    { kind: "write", path: ".ai/repo/untouched.txt", bytes: `${files.readText(".ai/repo/untouched.txt")}more\n` },
  ],
};

/** Converts as far as the crash before the commit. */
async function leaveOpen(root: string, version = "2.0.0"): Promise<string> {
  const place = placeIn(root, version);
  await runConversions(place, steps);
  const [episode] = readEpisodes(place);
  if (episode === undefined) throw new Error("there is no episode");
  rmSync(whereIs(root, stampPath));
  writeFileSync(whereIs(root, markerPath), JSON.stringify({ episode: episode.id }));
  await writeEpisode(place, { ...episode, state: "open", ended_at: null });
  return episode.id;
}

describe("planConversions", () => {
  test("sees what was planned before, on one overlay, and writes nothing", () => {
    const root = openScene();
    const before = treeOf(root);
    const { changes, wanted } = planConversions(placeIn(root, "1.0.0"), steps);
    expect(wanted).toEqual(["old-to-new", "words-to-flags", "notes-as-lines"]);
    const after = changes.map(({ path, after: image }) => [path, image && Buffer.from(image.bytes).toString("utf8")]);
    expect(Object.fromEntries(after)).toEqual({
      ".ai/repo/old/one.txt": undefined,
      ".ai/repo/old/deep/two.txt": undefined,
      ".ai/local/state/notes.txt": undefined,
      ".ai/repo/new/one.txt": "tidy: true\n",
      ".ai/repo/new/deep/two.txt": "tidy: false\n",
      ".ai/local/state/notes.jsonl": newerFiles[".ai/local/state/notes.jsonl"],
    });
    expect(treeOf(root)).toEqual(before);
  });

  test("wants nothing on what the steps leave, also of Reeve's own", () => {
    const root = openScene(newerFiles);
    expect(planConversions(placeIn(root, "1.0.0"), steps)).toEqual({ changes: [], wanted: [] });
    expect(planConversions(placeIn(root, "1.0.0"), ownConversions)).toEqual({ changes: [], wanted: [] });
  });

  test("does not follow links, and keeps a file's mode when it moves", () => {
    const root = openScene();
    mkdirSync(join(root, "elsewhere"));
    writeFileSync(join(root, "elsewhere/three.txt"), "tidy: yes\n");
    symlinkSync(join(root, "elsewhere"), whereIs(root, ".ai/repo/old/link"));
    chmodSync(whereIs(root, ".ai/repo/old/one.txt"), 0o640);
    const { changes } = planConversions(placeIn(root, "1.0.0"), steps);
    expect(changes.filter(({ path }) => path.includes("link"))).toEqual([]);
    expect(changes.find(({ path }) => path.endsWith("new/one.txt"))?.after?.mode).toBe(0o640);
  });
});

describe("runConversions", () => {
  test("converts, commits once and has nothing to do again", async () => {
    const root = openScene();
    const place = placeIn(root, "2.0.0");
    expect(await needsConversion(place, steps)).toBe(true);
    const notices = await runConversions(place, steps);
    expect(layerOf(root)).toEqual(newerFiles);
    const [episode] = readEpisodes(place);
    expect(episode).toMatchObject({
      state: "committed",
      reeve: "2.0.0",
      digest: digestOf(place.system, steps),
      left: [],
    });
    expect(notices).toEqual([expect.stringContaining(`reeve state rollback ${episode?.id}`)]);
    expect(readStamp(place)).toMatchObject({ reeve: "2.0.0", episode: episode?.id });
    const done = treeOf(root);
    expect(await needsConversion(place, steps)).toBe(false);
    expect(await runConversions(place, steps)).toEqual([]);
    expect(treeOf(root)).toEqual(done);
  });

  test("keeps every pre-image outside the working tree and readable by its owner alone", async () => {
    const root = openScene();
    const place = placeIn(root, "2.0.0");
    await runConversions(place, steps);
    const kept = (readEpisodes(place)[0]?.files ?? []).flatMap((file) => {
      const path = imagePath(place, file);
      return path === undefined ? [] : [[file.path, readFileSync(path, "utf8"), place.system.info(path)?.mode]];
    });
    const wanted = Object.entries(olderFiles).filter(([path]) => !path.includes("untouched"));
    expect(kept.sort()).toEqual(wanted.map(([path, text]) => [path, text, 0o600]).sort());
    expect(imagesFolder(place).startsWith(join(root, "user"))).toBe(true);
    expect(place.system.info(imagesFolder(place))?.mode).toBe(0o700);
  });

  test("writes a stamp and no episode where there was nothing to convert, and none for no steps", async () => {
    const root = openScene(newerFiles);
    const place = placeIn(root, "2.0.0");
    expect(await needsConversion(place, [])).toBe(false);
    expect(await runConversions(place, steps)).toEqual([]);
    expect(readStamp(place)).toMatchObject({ episode: null, kept: false });
    expect(readEpisodes(place)).toEqual([]);
    expect(await needsConversion(place, steps)).toBe(false);
  });

  test.each<[string, Conversions]>([
    ["fails", [...steps, failing]],
    ["restless", [...steps, restless]],
  ])("changes nothing when the step '%s' is not as it should be, and names it", async (id, conversions) => {
    const root = openScene();
    const before = treeOf(root);
    await expect(runConversions(placeIn(root, "2.0.0"), conversions)).rejects.toMatchObject({
      code: "INTERNAL",
      message: expect.stringContaining(`'${id}'`),
    });
    expect(treeOf(root)).toEqual(before);
  });

  test("changes nothing when the pre-images cannot be kept", async () => {
    const root = openScene();
    writeFileSync(join(root, "user"), "a file\n");
    const before = treeOf(root);
    await expect(runConversions(placeIn(root, "2.0.0"), steps)).rejects.toMatchObject({ name: "StoreError" });
    expect(treeOf(root)).toEqual(before);
  });

  test("takes up an open episode of the same steps, with the true originals", async () => {
    const root = openScene();
    const id = await leaveOpen(root);
    const place = placeIn(root, "2.0.1");
    expect(await needsConversion(place, steps)).toBe(true);
    expect(await runConversions(place, steps)).toEqual([expect.stringContaining(id)]);
    expect(readEpisodes(place)).toMatchObject([{ id, state: "committed" }]);
    await putBack(place, findEpisode(place, id));
    expect(layerOf(root)).toEqual(olderFiles);
  });

  test("keeps what somebody wrote into an open episode as an original of its own", async () => {
    const root = openScene();
    const id = await leaveOpen(root);
    writeFileSync(whereIs(root, ".ai/local/state/notes.txt"), "third\n");
    const place = placeIn(root, "2.0.0");
    await runConversions(place, steps);
    expect(layerOf(root)[".ai/local/state/notes.jsonl"]).toBe('{"text":"third"}\n');
    await putBack(place, findEpisode(place, id));
    expect(layerOf(root)).toEqual({ ...olderFiles, ".ai/local/state/notes.txt": "third\n" });
  });

  test("puts an open episode of other steps back before its own begin", async () => {
    const root = openScene();
    const id = await leaveOpen(root);
    const older = placeIn(root, "1.0.0");
    expect(await needsConversion(older, [])).toBe(true);
    expect(await runConversions(older, [])).toEqual([expect.stringContaining(id)]);
    expect(layerOf(root)).toEqual(olderFiles);
    expect(readEpisodes(older)).toMatchObject([{ id, state: "put-back", left: [] }]);
    expect(await needsConversion(older, [])).toBe(false);
    await runConversions(placeIn(root, "2.0.0"), steps);
    expect(layerOf(root)).toEqual(newerFiles);
  });

  test("leaves a file that was changed after its conversion, and names it and its pre-image", async () => {
    const root = openScene();
    const id = await leaveOpen(root);
    writeFileSync(whereIs(root, ".ai/repo/new/one.txt"), "tidy: perhaps\n");
    const notices = await runConversions(placeIn(root, "1.0.0"), []);
    const place = placeIn(root, "1.0.0");
    const file = findEpisode(place, id).files.find(({ path }) => path === ".ai/repo/new/one.txt");
    expect(file?.before).toBeNull();
    expect(notices).toEqual([expect.stringContaining(id), expect.stringContaining(".ai/repo/new/one.txt was changed")]);
    expect(layerOf(root)).toEqual({ ...olderFiles, ".ai/repo/new/one.txt": "tidy: perhaps\n" });
  });

  test("goes on without a marker's episode whose record is gone, and says so", async () => {
    const root = openScene();
    await leaveOpen(root);
    rmSync(join(root, "user"), { recursive: true });
    const place = placeIn(root, "1.0.0");
    expect(await runConversions(place, [])).toEqual([expect.stringContaining("is gone")]);
    expect(layerOf(root)).toEqual(newerFiles);
    expect(await needsConversion(place, [])).toBe(false);
  });

  test("looks again at tracked files that git brought back in their older form", async () => {
    const root = openScene();
    const place = placeIn(root, "2.0.0");
    await runConversions(place, steps);
    writeLayer(root, { ".ai/repo/old/four.txt": "tidy: yes\n" });
    expect(await needsConversion(place, steps)).toBe(true);
    await runConversions(place, steps);
    expect(layerOf(root)).toEqual({ ...newerFiles, ".ai/repo/new/four.txt": "tidy: true\n" });
    expect(readEpisodes(place).map(({ state }) => state)).toEqual(["committed", "committed"]);
  });
});

describe("the stamp", () => {
  test("stops an older Reeve with other steps, and no other", async () => {
    const root = openScene();
    await runConversions(placeIn(root, "2.0.0"), steps);
    const before = treeOf(root);
    for (const version of ["1.9.9", "2.0.0-rc.1", "0.1.0"]) {
      const older = placeIn(root, version);
      expect(await needsConversion(older, [])).toBe(true);
      await expect(runConversions(older, [])).rejects.toMatchObject({
        code: "STATE_NEWER",
        hint: expect.stringMatching(/reeve state rollback \S+$/),
      });
      expect(await needsConversion(older, steps)).toBe(false);
    }
    expect(treeOf(root)).toEqual(before);
    await runConversions(placeIn(root, "2.1.0"), [...steps].reverse());
    expect(treeOf(root)).toEqual(before);
  });

  test("that does not parse is none, and one of a form of the future is left", async () => {
    const root = openScene();
    const place = placeIn(root, "2.0.0");
    writeFileSync(whereIs(root, stampPath), "{");
    await runConversions(place, steps);
    expect(layerOf(root)).toEqual(newerFiles);
    writeFileSync(whereIs(root, stampPath), '{"version": 2, "writtenBy": "Reeve 9.0.0"}\n');
    await expect(needsConversion(place, steps)).rejects.toMatchObject({ code: "STATE_NEWER" });
  });
});

describe("putBack", () => {
  test("undoes a committed episode as a whole, modes and stamp too, so that an older Reeve goes on", async () => {
    const root = openScene();
    chmodSync(whereIs(root, ".ai/repo/old/one.txt"), 0o640);
    const place = placeIn(root, "2.0.0");
    await runConversions(place, steps);
    const [episode] = readEpisodes(place);
    const older = placeIn(root, "1.0.0");
    const { restored, left } = await putBack(older, findEpisode(older, episode?.id ?? ""));
    expect([restored.length, left]).toEqual([6, []]);
    expect(layerOf(root)).toEqual(olderFiles);
    expect(place.system.info(locate(place, ".ai/repo/old/one.txt"))?.mode).toBe(0o640);
    expect(existsSync(whereIs(root, stampPath))).toBe(false);
    expect(await needsConversion(older, [])).toBe(false);
    expect(await needsConversion(place, steps)).toBe(true);
  });

  test("keeps the edit and the pre-image, and says where both are", async () => {
    const root = openScene();
    const place = placeIn(root, "2.0.0");
    await runConversions(place, steps);
    const [episode] = readEpisodes(place);
    if (episode === undefined) throw new Error("there is no episode");
    mkdirSync(dirname(whereIs(root, ".ai/repo/old/one.txt")), { recursive: true });
    writeFileSync(whereIs(root, ".ai/repo/old/one.txt"), "by hand\n");
    const planned = planRollback(place, episode);
    const { left } = await putBack(place, episode);
    expect(left).toEqual(planned.left);
    expect(left).toMatchObject([{ path: ".ai/repo/old/one.txt", reason: "was changed after its conversion" }]);
    expect(readFileSync(left[0]?.pre_image ?? "", "utf8")).toBe("tidy: yes\n");
    expect(layerOf(root)).toEqual({ ...olderFiles, ".ai/repo/old/one.txt": "by hand\n" });
    expect(readEpisodes(place)).toMatchObject([{ state: "committed", left: [".ai/repo/old/one.txt"] }]);
    rmSync(whereIs(root, ".ai/repo/old/one.txt"));
    await putBack(place, findEpisode(place, episode.id));
    expect(layerOf(root)).toEqual(olderFiles);
    expect(readEpisodes(place)).toMatchObject([{ state: "put-back", left: [] }]);
  });

  test("leaves what has no good pre-image any more, or is no file any more", async () => {
    const root = openScene();
    const place = placeIn(root, "2.0.0");
    await runConversions(place, steps);
    const [episode] = readEpisodes(place);
    if (episode === undefined) throw new Error("there is no episode");
    const notes = episode.files.find(({ path }) => path.endsWith("notes.txt"));
    if (notes === undefined) throw new Error("there is no such file");
    writeFileSync(imagePath(place, notes) ?? "", "something else\n");
    mkdirSync(whereIs(root, ".ai/repo/old/one.txt"), { recursive: true });
    const { left } = await putBack(place, episode);
    expect(left.map(({ path, reason }) => [path, reason])).toEqual([
      [".ai/local/state/notes.txt", expect.stringContaining("gone or damaged")],
      [".ai/repo/old/one.txt", "is no file any more"],
    ]);
    expect(layerOf(root)[".ai/repo/old/deep/two.txt"]).toBe("tidy: no\n");
  });
});

describe("pruneEpisodes", () => {
  test("removes pre-images seven days after the commit, and not before", async () => {
    const root = openScene();
    const start = Date.parse("2030-01-01T00:00:00Z");
    const at = (days: number): ReturnType<typeof placeIn> =>
      placeIn(root, "2.0.0", new Date(start + days * 86_400_000));
    await runConversions(at(0), steps);
    await pruneEpisodes(at(6.9));
    expect(at(0).system.list(imagesFolder(at(0)))).toHaveLength(3);
    expect([await needsConversion(at(6.9), steps), await needsConversion(at(7), steps)]).toEqual([false, true]);
    await runConversions(at(7), steps);
    expect(at(0).system.list(imagesFolder(at(0)))).toEqual([]);
    expect(await needsConversion(at(7), steps)).toBe(false);
    const [episode] = readEpisodes(at(7));
    expect(episode).toMatchObject({ state: "committed", pruned: true });
    expect(() => planRollback(at(7), findEpisode(at(7), episode?.id ?? ""))).toThrow(/seven days/);
  });
});
