import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, resultOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const file = ".ai/repo/notes.md";
const stamp = ".ai/local/state/newest-run.json";
const id = "20300101T000000Z-1a2b3c4d";

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Where what was there before a conversion is kept, for this repository's main working tree. */
function keptIn(scene: Scene): string {
  return `${scene.folder}/user/repositories/${sha256(scene.at(".git")).slice(0, 16)}/secrets/conversions/main`;
}

/** A layer as a newer Reeve leaves it that has converted one file and made another. */
function makeConverted(): Scene & { readonly env: Scene["env"] } {
  const scene = makeScene({ layer: true });
  const folder = keptIn(scene);
  fs.mkdirSync(`${folder}/images`, { recursive: true, mode: 0o700 });
  fs.writeFileSync(`${folder}/images/${sha256("old\n")}`, "old\n", { mode: 0o600 });
  const ended = new Date().toISOString().replace(/\.\d+/, "");
  const episode = {
    id,
    digest: "0123456789abcdef",
    reeve: "99.0.0",
    conversions: ["notes-anew"],
    top: scene.repo,
    state: "committed",
    opened_at: ended,
    ended_at: ended,
    files: [
      { path: file, before: sha256("old\n"), mode: 0o640, after: [sha256("new\n")] },
      { path: ".ai/repo/made.md", before: null, mode: null, after: [sha256("made\n")] },
    ],
    left: [],
    stamp_before: null,
    pruned: false,
  };
  fs.writeFileSync(`${folder}/episodes.jsonl`, `${JSON.stringify(episode)}\n`, { mode: 0o600 });
  scene.write(file, "new\n");
  scene.write(".ai/repo/made.md", "made\n");
  const run = { version: 1, reeve: "99.0.0", digest: episode.digest, episode: id, committed_at: ended, kept: true };
  scene.write(stamp, JSON.stringify(run));
  const env = { REEVE_HOME: `${scene.folder}/user` };
  return { ...scene, reeve: (args, given) => scene.reeve(args, { ...given, env: { ...env, ...given?.env } }) };
}

describe("reeve state journal", () => {
  test("is empty where nothing was ever converted, and writes nothing", () => {
    const scene = makeScene({ layer: true });
    expect(resultOf(scene.reeve(["state", "journal", "--json"]))).toEqual({ episodes: [], pending: [] });
    expect(scene.reeve(["state", "journal"]).stdout).toBe("no conversion was ever needed here, and no plan waits\n");
    expect(fs.existsSync(`${scene.folder}/home/.local`)).toBe(false);
    expect(failureOf(makeScene().reeve(["state", "journal", "--json"]))).toMatchObject({ code: "NO_LAYER" });
  });

  test("shows each episode and how to undo it", () => {
    const scene = makeConverted();
    const [episode] = resultOf(scene.reeve(["state", "journal", "--json"]))["episodes"] as readonly unknown[];
    expect(episode).toMatchObject({ id, reeve: "99.0.0", state: "committed", left: [], pruned: false });
    expect(episode).toMatchObject({ files: [file, ".ai/repo/made.md"] });
    expect(scene.reeve(["state", "journal"]).stdout).toBe(
      `${id}  committed, 2 files, by Reeve 99.0.0: notes-anew\n  undo: reeve state rollback ${id}\n`,
    );
  });

  test("names an unfinished plan's paths", () => {
    const scene = makeScene({ layer: true });
    const change = { kind: "mkdir", path: scene.at("made"), root: scene.repo, shown: scene.at("made") };
    const steps = [{ ...change, before: { kind: "absent" } }];
    scene.write(".ai/local/run/journal.json", JSON.stringify({ version: 1, steps }));
    const { pending } = resultOf(scene.reeve(["state", "journal", "--json"]));
    expect(pending).toEqual([scene.at("made")]);
    expect(scene.exists("made")).toBe(false);
  });
});

describe("a layer that a newer Reeve converted", () => {
  test("is read, and not written until the conversion is undone", () => {
    const scene = makeConverted();
    const decide = ["decision", "add", "x", "--why", "y"];
    expect(scene.reeve(["status"]).exit).toBe(0);
    expect(scene.reeve(["history"]).exit).toBe(0);
    const refused = failureOf(scene.reeve([...decide, "--json"]));
    expect(refused).toMatchObject({ code: "STATE_NEWER", exit: 15, hint: expect.stringContaining(`rollback ${id}`) });
    expect(scene.ledger()).toEqual([]);
    const planned = resultOf(scene.reeve(["state", "rollback", id, "--dry-run", "--json"]));
    expect(planned).toEqual({ dry_run: true, episode: id, restored: [file, ".ai/repo/made.md"], left: [] });
    expect(scene.read(file)).toBe("new\n");
    const done = scene.reeve(["state", "rollback", id]);
    expect(done.stdout).toBe(`put back ${file}\nput back .ai/repo/made.md\n${id}: put back 2 files\n`);
    expect([scene.read(file), fs.statSync(scene.at(file)).mode & 0o777]).toEqual(["old\n", 0o640]);
    expect([scene.exists(".ai/repo/made.md"), scene.exists(stamp)]).toEqual([false, false]);
    expect(scene.reeve(decide).exit).toBe(0);
    expect(scene.reeve(["state", "journal"]).stdout).toContain(`${id}  put back, 2 files`);
  });

  test("keeps what was changed by hand since, and says where its earlier content is", () => {
    const scene = makeConverted();
    scene.write(file, "by hand\n");
    const { stdout, exit } = scene.reeve(["state", "rollback", id]);
    const image = `${keptIn(scene)}/images/${sha256("old\n")}`;
    expect(exit).toBe(0);
    expect(stdout).toBe(
      `put back .ai/repo/made.md\n${file} was changed after its conversion and is left as it is; as it was before: ${image}\n${id}: put back 1 file\n`,
    );
    expect([scene.read(file), fs.readFileSync(image, "utf8")]).toEqual(["by hand\n", "old\n"]);
    expect(scene.reeve(["state", "journal"]).stdout).toContain(`  left: ${file}; before: ${image}\n`);
  });
});

describe("reeve state rollback", () => {
  test("refuses what is no episode, and one whose time is over", () => {
    const scene = makeConverted();
    const refuse = (args: readonly string[]): unknown =>
      failureOf(scene.reeve(["state", "rollback", ...args, "--json"]));
    expect(refuse(["nothing"])).toMatchObject({ code: "NOT_FOUND", hint: "reeve state journal" });
    expect(refuse(["../../x"])).toMatchObject({ code: "NOT_FOUND" });
    expect(refuse([])).toMatchObject({ code: "USAGE" });
    const record = `${keptIn(scene)}/episodes.jsonl`;
    fs.writeFileSync(record, fs.readFileSync(record, "utf8").replace('"pruned":false', '"pruned":true'));
    expect(refuse([id])).toMatchObject({ code: "REFUSED", message: expect.stringContaining("seven days") });
  });

  test.each(["../outside", ".ai/../../outside", ".ai/./../../outside", "src/auth/callback.ts", ".ai//x"])(
    "takes a record that names %s for none",
    (path) => {
      const scene = makeConverted();
      fs.writeFileSync(`${scene.folder}/outside`, "new\n");
      const record = `${keptIn(scene)}/episodes.jsonl`;
      fs.writeFileSync(record, fs.readFileSync(record, "utf8").replace(file, path));
      expect(failureOf(scene.reeve(["state", "rollback", id, "--json"]))).toMatchObject({ code: "NOT_FOUND" });
      expect(fs.readFileSync(`${scene.folder}/outside`, "utf8")).toBe("new\n");
      expect(scene.read(file)).toBe("new\n");
    },
  );

  test("touches nothing that lies outside through a link", () => {
    const scene = makeConverted();
    fs.mkdirSync(`${scene.folder}/outside`);
    fs.renameSync(scene.at(".ai/repo/made.md"), `${scene.folder}/outside/made.md`);
    fs.symlinkSync(`${scene.folder}/outside`, scene.at(".ai/repo/folder"));
    const record = `${keptIn(scene)}/episodes.jsonl`;
    const elsewhere = fs.readFileSync(record, "utf8").replace("repo/made.md", "repo/folder/made.md");
    fs.writeFileSync(record, elsewhere);
    expect(failureOf(scene.reeve(["state", "rollback", id, "--json"]))).toMatchObject({ exit: 15 });
    expect(fs.readFileSync(`${scene.folder}/outside/made.md`, "utf8")).toBe("made\n");
    expect(scene.read(file)).toBe("new\n");
  });
});
