import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Checkout, makeScene, type Scene } from "../git/fixture.ts";
import { type GitReading, readRepository } from "../git/reading.ts";
import { ensureHome, type HomeMode } from "../layer/home.ts";
import { type Layer, openLayer } from "../layer/layer.ts";
import { readAllHistory } from "./history.ts";
import { type NoteFrontMatter, type NoteKind, noteFolders, renderNote } from "./note.ts";
import { labelNote, listNotes, resolveNote } from "./resolve.ts";

let scene: Scene;
let main: Checkout;

beforeEach(async () => {
  scene = makeScene();
  main = scene.make("main tree");
  main.write({ ".gitignore": "/.ai/local\n", ".ai/manifest.yaml": "schema: ai-repository/v1\n" });
  main.commit("layer");
  await home(main);
});
afterEach(() => scene.remove());

async function home(checkout: Checkout, wanted?: HomeMode): Promise<void> {
  const system = checkout.system();
  const { repository } = readRepository(system, checkout.top);
  await ensureHome({ system, repository, seeds: {}, ...(wanted === undefined ? {} : { wanted }) });
}

async function linked(name: string, wanted?: HomeMode): Promise<Checkout> {
  main.git("worktree", "add", "-q", "-b", name, `../${name}`);
  const checkout = scene.at(name);
  await home(checkout, wanted);
  return checkout;
}

function open(checkout: Checkout): { readonly layer: Layer; readonly git: GitReading } {
  const system = checkout.system();
  const git = readRepository(system, checkout.top);
  return { git, layer: openLayer({ system, repository: git.repository, version: "1", caches: false, dry: false }) };
}

/** Puts a record into a checkout's home; what is not said is where that checkout stands. */
function record(
  checkout: Checkout,
  kind: NoteKind,
  changes: Partial<NoteFrontMatter> & { readonly name: string },
): string {
  const { name, ...members } = changes;
  const { layer, git } = open(checkout);
  const front: NoteFrontMatter = {
    schema_version: 1,
    created_at: "2026-09-03T10:00:00Z",
    task_id: "none",
    profile: "none",
    owner: "ada",
    repository_id: layer.repository.commonDir,
    worktree: layer.repository.top,
    branch: git.head().branch ?? "DETACHED",
    head: git.head().head ?? "NONE",
    working_tree: "clean",
    changed_files: [],
    changed_files_excluded: 0,
    ...members,
  };
  const file = `${noteFolders[kind]}${name}.md`;
  fs.writeFileSync(layer.locate(file), renderNote(front, name));
  return file;
}

async function resolve(checkout: Checkout, kind: NoteKind = "handover"): Promise<string | undefined> {
  const { layer, git } = open(checkout);
  return (await resolveNote(layer, git, kind))?.body.trim();
}

async function label(checkout: Checkout): Promise<string | undefined> {
  const { layer, git } = open(checkout);
  const note = await resolveNote(layer, git, "handover");
  return note === undefined ? undefined : labelNote(git, note);
}

describe("listNotes", () => {
  test("listNotes lists the newest first by the time inside, then by the ledger within a second", async () => {
    record(main, "handover", { name: "a-newest", created_at: "2026-09-05T10:00:00Z" });
    record(main, "handover", { name: "z-oldest", created_at: "2026-09-01T10:00:00Z" });
    const first = record(main, "handover", { name: "z-first" });
    const second = record(main, "handover", { name: "a-second" });
    const { layer } = open(main);
    const line = (handover_path: string): string =>
      `${JSON.stringify({ closed: false, event: "task.handed_over", handover_path, ts: "2026-09-03T10:00:00Z" })}\n`;
    fs.writeFileSync(layer.locate(".ai/local/state/ledger.jsonl"), line(first) + line(second));
    const names = (await listNotes(open(main).layer, "handover")).map((note) => note.body.trim());
    expect(names).toEqual(["a-newest", "a-second", "z-first", "z-oldest"]);
  });

  test("listNotes passes over what does not parse", async () => {
    record(main, "checkpoint", { name: "sound" });
    fs.writeFileSync(open(main).layer.locate(`${noteFolders.checkpoint}broken.md`), "---\n: [\n---\n");
    expect((await listNotes(open(main).layer, "checkpoint")).length).toBe(1);
  });
});

describe("resolveNote", () => {
  test("resolveNote finds nothing where nothing was left", async () => {
    expect(await resolve(main)).toBeUndefined();
  });

  test("resolveNote takes the newest of this worktree and branch, of the kind that is asked for", async () => {
    record(main, "handover", { name: "old", created_at: "2026-09-01T10:00:00Z" });
    record(main, "handover", { name: "new", created_at: "2026-09-02T10:00:00Z" });
    record(main, "handover", { name: "other branch", created_at: "2026-09-03T10:00:00Z", branch: "side" });
    record(main, "checkpoint", { name: "checkpoint" });
    expect([await resolve(main), await resolve(main, "checkpoint")]).toEqual(["new", "checkpoint"]);
  });

  test("resolveNote prefers an older record of this worktree to a newer one made elsewhere", async () => {
    record(main, "handover", { name: "here", created_at: "2026-09-01T10:00:00Z" });
    record(main, "handover", { name: "copied", created_at: "2026-09-05T10:00:00Z", worktree: "/gone" });
    expect(await resolve(main)).toBe("here");
  });

  test("resolveNote follows the branch into another worktree, and into one that was removed", async () => {
    const side = await linked("side");
    record(side, "handover", { name: "theirs" });
    record(side, "handover", { name: "theirs on main", branch: "main", created_at: "2026-09-09T10:00:00Z" });
    main.git("worktree", "remove", "--force", side.top);
    main.git("checkout", "-q", "side");
    expect(await resolve(main)).toBe("theirs");
  });

  test("resolveNote follows the branch into a worktree that keeps its records in its own folder", async () => {
    const side = await linked("side", "checkout");
    record(side, "handover", { name: "theirs" });
    side.git("checkout", "-q", "--detach");
    main.git("checkout", "-q", "side");
    expect(await resolve(main)).toBe("theirs");
  });

  test("resolveNote has no branch to follow where the head is detached", async () => {
    const side = await linked("side");
    record(side, "handover", { name: "theirs", branch: "DETACHED" });
    main.git("checkout", "-q", "--detach");
    expect(await resolve(main)).toBeUndefined();
    record(main, "handover", { name: "here" });
    expect(await resolve(main)).toBe("here");
  });
});

describe("labelNote", () => {
  test("labelNote says how a record stands to the present", async () => {
    record(main, "handover", { name: "a" });
    expect(await label(main)).toBe("exact");
    main.commit("more", { a: "1" });
    expect(await label(main)).toBe("advanced");
    main.git("reset", "-q", "--hard", "HEAD~2");
    main.commit("other", { b: "1" });
    expect(await label(main)).toBe("diverged");
  });

  test("labelNote says unknown of a commit git does not have", async () => {
    record(main, "handover", { name: "a", head: "c".repeat(40) });
    expect(await label(main)).toBe("unknown");
  });
});

describe("readAllHistory", () => {
  test("readAllHistory reads every checkout's lines by time, those of removed worktrees too", async () => {
    const line = (question: string, ts: string): string =>
      `${JSON.stringify({ event: "question.opened", question, ts })}\n`;
    const put = (checkout: Checkout, name: string, text: string): void =>
      fs.writeFileSync(open(checkout).layer.locate(`.ai/local/state/${name}`), text);
    const side = await linked("side");
    const own = await linked("own", "checkout");
    put(main, "ledger.jsonl", line("3", "2026-09-03T00:00:00Z") + line("5", "2026-09-05T00:00:00Z"));
    put(main, "ledger.20260901T000000Z.jsonl.archived", line("1", "2026-09-01T00:00:00Z"));
    put(side, "ledger.jsonl", line("2", "2026-09-02T00:00:00Z"));
    put(own, "ledger.jsonl", line("4", "2026-09-04T00:00:00Z"));
    main.git("worktree", "remove", "--force", side.top);
    const { layer, git } = open(main);
    expect(readAllHistory(layer, git).map(({ value }) => value["question"])).toEqual(["1", "2", "3", "4", "5"]);
    expect(fs.existsSync(path.join(side.top))).toBe(false);
  });
});
