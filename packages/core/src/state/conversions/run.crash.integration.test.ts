import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { recoverPlan } from "@reeve/store";
import { buildSync } from "esbuild";
import { describe, expect, test } from "vitest";
import { buildFaultShim, canInjectFaults, faultEnvironment, recordCalls } from "../../../../store/src/testing/fault.ts";
import { memoryFolder, neutralEnvironment, treeOf } from "../../../../store/src/testing/folder.ts";
import type { Conversions } from "./conversion.ts";
import { newerFiles, olderFiles, placeIn, steps, whereIs, writeLayer } from "./conversions.fixture.ts";
import { type Episode, readEpisodes } from "./episode.ts";
import { applyOptions } from "./place.ts";
import { findEpisode, putBack } from "./rollback.ts";
import { runConversions } from "./run.ts";
import { readMarker, stampPath } from "./stamp.ts";

const source = `
  import { recoverPlan } from "@reeve/store";
  import { placeIn, steps } from "./conversions.fixture.ts";
  import { applyOptions } from "./place.ts";
  import { findEpisode, putBack } from "./rollback.ts";
  import { runConversions } from "./run.ts";
  const [verb, root, episode] = process.argv.slice(2);
  const place = placeIn(root, verb === "older" ? "1.0.0" : "2.0.0");
  const work = async () => {
    await recoverPlan(applyOptions(place));
    if (verb === "back") await putBack(place, findEpisode(place, episode));
    else await runConversions(place, verb === "older" ? [] : steps);
  };
  work().catch((error) => { console.error(error); process.exitCode = 1; });
`;

type Verb = "convert" | "older" | "back";

interface Scene {
  readonly root: string;
  readonly shim: string;
  run(verb: Verb, env: Readonly<Record<string, string>>, episode?: string): "done" | "killed" | "refused";
}

function openScene(): Scene {
  const folder = memoryFolder();
  const file = join(folder, "program.cjs");
  buildSync({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    conditions: ["reeve-source"],
    outfile: file,
    logLevel: "error",
  });
  const root = join(folder, "scene");
  return {
    root,
    shim: buildFaultShim(folder),
    run(verb, env, episode = "") {
      const options = { env: { ...neutralEnvironment(folder), ...env }, encoding: "utf8" as const };
      const { status, signal, stderr } = spawnSync(process.execPath, [file, verb, root, episode], options);
      if (signal === "SIGKILL") return "killed";
      if (status !== 0 && !/StoreError|'UNREADABLE'/.test(stderr)) throw new Error(stderr);
      return status === 0 ? "done" : "refused";
    },
  };
}

function reset(root: string): void {
  rmSync(root, { recursive: true, force: true });
  writeLayer(root, olderFiles);
}

/**
 * The layer's files as they lie, with whatever a crash left among them; folders and the stamp aside, and a journal half
 * written, which the next plan of several changes sweeps.
 */
function filesOf(root: string): Record<string, string> {
  const own = Object.entries(treeOf(join(root, "git/reeve/checkouts/main")));
  const all = [
    ...Object.entries(treeOf(join(root, "top"))),
    ...own.map(([path, text]) => [`.ai/local/${path}`, text] as const),
  ];
  return Object.fromEntries(
    all.filter(([path, text]) => text !== "/" && path !== stampPath && !halfJournal.test(path)),
  );
}

const halfJournal = /^\.ai\/local\/run\/\.journal\.json\.\d+\.\w+\.tmp$/;

/** What the next writing command of a Reeve does first; answers the code of its refusal. */
async function goOn(root: string, version: string, conversions: Conversions): Promise<string> {
  const place = placeIn(root, version);
  await recoverPlan(applyOptions(place));
  try {
    await runConversions(place, conversions);
    return "done";
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

function onlyEpisode(root: string): Episode | undefined {
  return readEpisodes(placeIn(root, "2.0.0")).at(-1);
}

/** Runs a verb again and again, killed before each of its calls that changes something and within each of its writes. */
async function killEverywhere(
  scene: Scene,
  subject: { readonly verb: Verb; readonly prepare: () => string | undefined },
  look: (where: string) => Promise<void>,
): Promise<number> {
  const { root, shim, run } = scene;
  const first = subject.prepare();
  const calls = recordCalls(shim, root, (env) => expect(run(subject.verb, env, first)).toBe("done"));
  let killed = 0;
  for (const [index, { name, path }] of calls.entries()) {
    if (name === "open" || name === "fsync" || name === "fdatasync") continue;
    const episode = subject.prepare();
    const kind = name === "write" ? "torn" : "kill";
    const where = `${kind} at call ${index + 1}, ${name} ${path}`;
    expect(run(subject.verb, faultEnvironment({ shim, root, at: index + 1, kind }), episode), where).toBe("killed");
    await look(where);
    killed += 1;
  }
  return killed;
}

describe.skipIf(!canInjectFaults)("a conversion that is killed", () => {
  test("is finished by the next command of the same Reeve, and can then be undone", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { root } = scene;
    const prepare = (): undefined => reset(root) as undefined;
    const count = await killEverywhere(scene, { verb: "convert", prepare }, async (where) => {
      expect(await goOn(root, "2.0.0", steps), where).toBe("done");
      expect(filesOf(root), where).toEqual(newerFiles);
      const episode = onlyEpisode(root);
      expect(episode, where).toMatchObject({ state: "committed", pruned: false });
      const place = placeIn(root, "2.0.0");
      expect((await putBack(place, findEpisode(place, episode?.id ?? ""))).left, where).toEqual([]);
      expect(filesOf(root), where).toEqual(olderFiles);
    });
    expect(count).toBeGreaterThan(20);
  });

  test("is put back by the next command of another Reeve unless it was committed", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { root } = scene;
    const seen = { "put back": 0, "not begun": 0, committed: 0 };
    await killEverywhere(scene, { verb: "convert", prepare: () => reset(root) as undefined }, async (where) => {
      const answer = await goOn(root, "1.0.0", []);
      const isCommitted = answer === "STATE_NEWER";
      expect(isCommitted || answer === "done", where).toBe(true);
      expect(filesOf(root), where).toEqual(isCommitted ? newerFiles : olderFiles);
      const state = onlyEpisode(root)?.state;
      if (isCommitted) expect(state, where).toBe("committed");
      else expect([undefined, "abandoned", "put-back"], where).toContain(state);
      seen[isCommitted ? "committed" : state === "put-back" ? "put back" : "not begun"] += 1;
      expect(await goOn(root, "2.0.0", steps), where).toBe("done");
      expect(filesOf(root), where).toEqual(newerFiles);
    });
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });

  test("keeps an edit made between the kill and the putting back", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { root } = scene;
    const edited = ".ai/local/state/notes.jsonl";
    let kept = 0;
    await killEverywhere(scene, { verb: "convert", prepare: () => reset(root) as undefined }, async (where) => {
      await recoverPlan(applyOptions(placeIn(root, "1.0.0")));
      if (readMarker(placeIn(root, "1.0.0")) === undefined) return;
      expect(existsSync(whereIs(root, edited)), where).toBe(true);
      writeFileSync(whereIs(root, edited), "by hand\n");
      expect(await goOn(root, "1.0.0", []), where).toBe("done");
      expect(filesOf(root), where).toEqual({ ...olderFiles, [edited]: "by hand\n" });
      expect(onlyEpisode(root), where).toMatchObject({ state: "put-back", left: [edited] });
      kept += 1;
    });
    expect(kept).toBeGreaterThan(0);
  });
});

describe.skipIf(!canInjectFaults)("a conversion whose disk refuses a call", () => {
  test("is not begun, or is finished or put back by the next command", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { root, shim, run } = scene;
    reset(root);
    const calls = recordCalls(shim, root, (env) => run("convert", env));
    const seen = { done: 0, refused: 0, killed: 0 };
    for (const [index, { name, path }] of calls.entries()) {
      const kind = errnos[index % errnos.length] ?? 5;
      const where = `errno ${kind} at call ${index + 1}, ${name} ${path}`;
      reset(root);
      seen[run("convert", faultEnvironment({ shim, root, at: index + 1, kind }))] += 1;
      const isSame = index % 2 === 0;
      const answer = isSame ? await goOn(root, "2.0.0", steps) : await goOn(root, "1.0.0", []);
      const isNewer = isSame || answer === "STATE_NEWER";
      expect(isNewer || answer === "done", where).toBe(true);
      expect(filesOf(root), where).toEqual(isNewer ? newerFiles : olderFiles);
    }
    expect(seen.killed).toBe(0);
    expect(seen.refused, JSON.stringify(seen)).toBeGreaterThan(20);
  });
});

/** No space, no permission, a failing disk. */
const errnos = [28, 13, 5];

describe.skipIf(!canInjectFaults)("putting back that is killed", () => {
  test("is finished or not begun, of an open episode", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { root } = scene;
    const open = makeOpen(scene);
    const prepare = (): undefined => open() as undefined;
    await killEverywhere(scene, { verb: "older", prepare }, async (where) => {
      expect(await goOn(root, "1.0.0", []), where).toBe("done");
      expect(filesOf(root), where).toEqual(olderFiles);
      expect(onlyEpisode(root), where).toMatchObject({ state: "put-back", left: [] });
    });
  });

  test("is whole or not done, of a committed one", { timeout: 300_000 }, async () => {
    const scene = openScene();
    const { root, run } = scene;
    const prepare = (): string => {
      reset(root);
      run("convert", {});
      return onlyEpisode(root)?.id ?? "";
    };
    const seen = { undone: 0, stands: 0 };
    await killEverywhere(scene, { verb: "back", prepare }, async (where) => {
      await recoverPlan(applyOptions(placeIn(root, "1.0.0")));
      const isUndone = onlyEpisode(root)?.state === "put-back";
      expect(filesOf(root), where).toEqual(isUndone ? olderFiles : newerFiles);
      expect(await goOn(root, "1.0.0", []), where).toBe(isUndone ? "done" : "STATE_NEWER");
      seen[isUndone ? "undone" : "stands"] += 1;
    });
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });
});

/** Prepares a scene whose conversion is done and not committed, by the files a kill there left. */
function makeOpen({ root, shim, run }: Scene): () => void {
  reset(root);
  const calls = recordCalls(shim, root, (env) => run("convert", env));
  const commit = calls.findLastIndex(({ name, path }) => name.startsWith("rename") && path.includes("journal"));
  reset(root);
  run("convert", faultEnvironment({ shim, root, at: commit + 1, kind: "kill" }));
  const tree = treeOf(root);
  expect(onlyEpisode(root)?.state).toBe("open");
  return () => {
    rmSync(root, { recursive: true });
    mkdirSync(root);
    for (const [path, text] of Object.entries(tree)) {
      if (text === "/") mkdirSync(join(root, path), { recursive: true });
      else if (text.startsWith("-> ")) continue;
      else {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
    }
    expect(readFileSync(whereIs(root, ".ai/repo/new/one.txt"), "utf8")).toBe("tidy: true\n");
  };
}
