import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { OwnFiles } from "./attribution.ts";
import { deriveAncestry, deriveStanding, type Standing } from "./divergence.ts";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { type GitReading, readRepository, type Since } from "./reading.ts";

let scene: Scene;
let seed: Checkout;
let work: Checkout;
let task: Since & { readonly branch: string };
let made = 0;

/** `main` has moved on with many files since `topic` left it with one commit, where the task starts. */
beforeAll(() => {
  scene = makeScene();
  seed = scene.make("seed");
  seed.commit("shared", { "shared.txt": "1\n2\n3\n4\n5\n6\n7\n8\n" });
  seed.git("switch", "-q", "-c", "topic");
  seed.commit("earlier", { "earlier.txt": "e\n", "shared.txt": "1\n2\n3\n4\n5\n6\n7\nearlier\n" });
  seed.git("switch", "-q", "main");
  const many = Array.from({ length: 40 }, (_, at) => [`foreign/${at}.txt`, `${at}\n`]);
  seed.commit("foreign", { ...Object.fromEntries(many), "shared.txt": "foreign\n2\n3\n4\n5\n6\n7\n8\n" });
  seed.git("switch", "-q", "topic");
});
afterAll(() => scene.remove());

beforeEach(() => {
  made += 1;
  const folder = `work ${made}`;
  fs.cpSync(seed.top, path.join(scene.root, folder), { recursive: true });
  work = scene.at(folder);
  task = { base: work.head(), startedAt: scene.now(), branch: "topic" };
});

function reading(): GitReading {
  return readRepository(work.system(), work.top);
}

function own(since: Since = task): OwnFiles {
  return reading().own(since);
}

/** The own files, which the reflog must have told. */
function ownPaths(since: Since = task): readonly string[] {
  const { files, basis } = own(since);
  expect(basis).toBe("reflog");
  return [...files.keys()].sort();
}

function standing(): Standing {
  const git = reading();
  return deriveStanding({
    recorded: { branch: task.branch, head: task.base },
    current: git.head(),
    ancestor: deriveAncestry(git.history(task.base)),
    reflog: git.reflog(),
  });
}

const advanced: Standing = { label: "advanced", moved: false };
const followed: Standing = { label: "advanced", moved: true };

describe("deriveOwnFiles on commits, amends and resets", () => {
  test("deriveOwnFiles counts own commits and follows a new branch", () => {
    expect(ownPaths()).toEqual([]);
    expect(standing()).toEqual({ label: "exact", moved: false });
    work.commit("one", { "own ü/a b.txt": "1" });
    expect(standing()).toEqual(advanced);
    work.git("switch", "-q", "-c", "other/branch");
    work.commit("two", { "two.txt": "2" });
    expect(ownPaths()).toEqual(["own ü/a b.txt", "two.txt"]);
    expect(standing()).toEqual(followed);
  });

  test("deriveOwnFiles counts an amended own commit and a renamed branch", () => {
    work.commit("one", { "one.txt": "1" });
    work.write({ "two.txt": "2" });
    work.git("add", "-A");
    work.git("commit", "-q", "--amend", "-m", "both");
    work.git("branch", "-m", "renamed");
    expect(ownPaths()).toEqual(["one.txt", "two.txt"]);
    expect(standing()).toEqual(followed);
  });

  test("deriveOwnFiles counts of an amended earlier commit only what became different", () => {
    work.write({ "added.txt": "1", "earlier.txt": "changed\n" });
    work.git("add", "-A");
    work.git("commit", "-q", "--amend", "--no-edit");
    work.git("commit", "-q", "--amend", "-m", "another subject");
    expect(ownPaths()).toEqual(["added.txt", "earlier.txt"]);
    expect(standing()).toEqual(followed);
  });

  test("deriveOwnFiles does not count a commit dropped by a reset, nor files of a stash", () => {
    work.commit("dropped", { "dropped.txt": "1" });
    work.git("reset", "-q", "--hard", "HEAD~1");
    expect(ownPaths()).toEqual([]);
    work.write({ "stashed.txt": "1" });
    work.git("stash", "-q", "-u");
    work.commit("kept", { "kept.txt": "1" });
    expect(ownPaths()).toEqual(["kept.txt"]);
    work.git("stash", "pop", "-q");
    expect(ownPaths()).toEqual(["kept.txt"]);
  });

  test("deriveOwnFiles counts what was taken back softly and committed again, not what was so before", () => {
    work.commit("a", { "a.txt": "1" });
    work.commit("b", { "b.txt": "1" });
    work.git("reset", "-q", "--soft", task.base ?? "");
    work.commit("both");
    expect(ownPaths()).toEqual(["a.txt", "b.txt"]);
    work.git("reset", "-q", "--soft", "HEAD~2");
    work.commit("with the earlier one");
    expect(ownPaths()).toEqual(["a.txt", "b.txt"]);
  });

  test("deriveOwnFiles counts commits made elsewhere in this working tree once merged", () => {
    work.git("switch", "-q", "-c", "aside", "main");
    work.commit("aside", { "aside.txt": "1" });
    work.git("switch", "-q", "topic");
    expect(ownPaths()).toEqual([]);
    work.git("merge", "-q", "--no-edit", "aside");
    expect(ownPaths()).toEqual(["aside.txt"]);
  });

  test("deriveOwnFiles counts a detached commit and a new root", () => {
    work.git("checkout", "-q", "--detach");
    work.commit("detached", { "detached.txt": "1" });
    expect(ownPaths()).toEqual(["detached.txt"]);
    work.git("switch", "-q", "--orphan", "root");
    work.commit("root", { "root.txt": "1" });
    expect(ownPaths()).toEqual(["root.txt"]);
    expect(standing()).toEqual(followed);
  });
});

describe("deriveOwnFiles on rebases", () => {
  test.each(["--merge", "--apply"])(
    "deriveOwnFiles counts own commits alone after a rebase %s onto an advanced trunk",
    (how) => {
      work.commit("own", { "own.txt": "1", "shared.txt": "1\n2\n3\nown\n5\n6\n7\nearlier\n" });
      work.git("rebase", "-q", how, "main");
      expect(ownPaths()).toEqual(["own.txt", "shared.txt"]);
      expect(standing()).toEqual(followed);
    },
  );

  test("deriveOwnFiles counts nothing when only earlier commits were rebased, with a conflict or without", () => {
    work.git("rebase", "-q", "main");
    expect(ownPaths()).toEqual([]);
    work.git("reset", "-q", "--hard", "ORIG_HEAD");
    work.git("branch", "-f", "side", "main");
    const since = { base: work.head(), startedAt: scene.now() };
    work.git("switch", "-q", "side");
    work.commit("against", { "shared.txt": "all\nother\n" });
    work.git("switch", "-q", "topic");
    expect(work.try(["rebase", "-q", "side"]).exit).toBe(1);
    work.write({ "shared.txt": "solved\n" });
    work.git("add", "-A");
    work.git("rebase", "--continue");
    expect(work.git("log", "-1", "--format=%s")).toBe("earlier");
    expect(ownPaths(since)).toEqual(["shared.txt"]);
    expect([...own(since).files.values()]).toEqual([{ commit: work.git("rev-parse", "side") }]);
  });

  test("deriveOwnFiles counts of an earlier commit whose conflict was solved by a plain commit what was solved", () => {
    work.git("switch", "-q", "main");
    work.commit("against", { "shared.txt": "all\nother\n" });
    work.git("switch", "-q", "topic");
    const since = { base: work.head(), startedAt: scene.now() };
    expect(work.try(["rebase", "-q", "main"]).exit).toBe(1);
    work.write({ "shared.txt": "solved\n" });
    work.git("add", "-A");
    work.git("commit", "-q", "-m", "solved");
    work.git("rebase", "--continue");
    expect(ownPaths(since)).toEqual(["shared.txt"]);
  });

  test("deriveOwnFiles counts own work through an interactive rebase that edits, rewords and fixes up", () => {
    work.commit("own", { "own.txt": "1" });
    work.commit("fix of earlier", { "earlier.txt": "fixed\n" });
    work.commit("last", { "last.txt": "1" });
    const order = `sed -i -e '2{h;d}' -e '3{s/^pick/fixup/;G}' -e '4s/^pick/reword/'`;
    const run = work.try(["rebase", "-q", "-i", "HEAD~4"], { GIT_SEQUENCE_EDITOR: order });
    expect(run).toEqual({ exit: 0, stdout: expect.any(String) });
    expect(work.git("log", "--format=%s", "HEAD~3..")).toBe("last\nown\nearlier");
    expect(ownPaths()).toEqual(["earlier.txt", "last.txt", "own.txt"]);
    const edit = work.try(["rebase", "-q", "-i", "HEAD~3"], { GIT_SEQUENCE_EDITOR: "sed -i 1s/^pick/edit/" });
    expect(edit.exit).toBe(0);
    work.write({ "amended.txt": "1" });
    work.git("add", "-A");
    work.git("commit", "-q", "--amend", "--no-edit");
    work.git("rebase", "--continue");
    expect(ownPaths()).toEqual(["amended.txt", "earlier.txt", "last.txt", "own.txt"]);
    expect(standing()).toEqual(followed);
  });

  test("deriveOwnFiles still counts what was amended into an earlier commit after a rebase", () => {
    work.write({ "earlier.txt": "changed\n" });
    work.git("commit", "-q", "-a", "--amend", "--no-edit");
    work.git("rebase", "-q", "main");
    expect(ownPaths()).toEqual(["earlier.txt", "shared.txt"]);
  });

  test("deriveOwnFiles counts own commits alone after pull --rebase", () => {
    work.git("remote", "add", "origin", seed.top);
    work.commit("own", { "own.txt": "1" });
    work.git("pull", "-q", "--rebase", "origin", "main");
    expect(ownPaths()).toEqual(["own.txt"]);
    expect(standing()).toEqual(followed);
  });
});

describe("deriveOwnFiles on what comes from elsewhere", () => {
  test("deriveOwnFiles counts a cherry-pick, a revert and an applied patch", () => {
    work.git("switch", "-q", "-c", "aside");
    work.git("switch", "-q", "main");
    work.commit("pick me", { "picked.txt": "1" });
    work.commit("mail me", { "mailed.txt": "1" });
    fs.writeFileSync(path.join(scene.root, "patch"), `${work.git("format-patch", "-1", "--stdout")}\n`);
    work.git("switch", "-q", "topic");
    const since = { base: work.head(), startedAt: scene.now() };
    work.git("cherry-pick", "main~1");
    work.git("am", "-q", path.join(scene.root, "patch"));
    expect(ownPaths(since)).toEqual(["mailed.txt", "picked.txt"]);
    work.git("revert", "--no-edit", "HEAD~2");
    expect(ownPaths(since)).toEqual(["earlier.txt", "mailed.txt", "picked.txt", "shared.txt"]);
  });

  test("deriveOwnFiles counts nothing of a merge git completed", () => {
    work.commit("own", { "own.txt": "1" });
    work.git("merge", "-q", "--no-edit", "main");
    expect(ownPaths()).toEqual(["own.txt"]);
    expect(standing()).toEqual(advanced);
  });

  test("deriveOwnFiles counts of a merge solved here what differs from both sides", () => {
    work.commit("own", { "own.txt": "1", "shared.txt": "mine\n" });
    expect(work.try(["merge", "-q", "main"]).exit).toBe(1);
    work.write({ "shared.txt": "solved\n", "beside.txt": "slipped in\n" });
    const merge = work.commit("merged");
    const { files } = own();
    expect(ownPaths()).toEqual(["beside.txt", "own.txt", "shared.txt"]);
    expect([...files].filter(([, { commit }]) => commit === merge).map(([name]) => name)).toEqual([
      "beside.txt",
      "shared.txt",
    ]);
  });

  test("deriveOwnFiles counts nothing of a fast-forward, by merge or pull, nor of a checkout", () => {
    work.git("switch", "-q", "-c", "trunk", "main~1");
    const since = { base: work.head(), startedAt: scene.now() };
    work.git("remote", "add", "origin", seed.top);
    work.git("pull", "-q", "--ff-only", "origin", "main");
    expect(own(since)).toEqual({ files: new Map(), basis: "reflog" });
    work.commit("own", { "own.txt": "1" });
    expect(ownPaths(since)).toEqual(["own.txt"]);
    work.git("switch", "-q", "main");
    work.git("merge", "-q", "--ff-only", "trunk");
    expect(ownPaths(since)).toEqual(["own.txt"]);
  });

  test("deriveOwnFiles does not count what another working tree committed", () => {
    work.git("worktree", "add", "-q", "-b", "beside", `../beside ${made}`);
    const beside = scene.at(`beside ${made}`);
    const since = { base: beside.head(), startedAt: scene.now() };
    beside.commit("theirs", { "theirs.txt": "1" });
    work.commit("mine", { "mine.txt": "1" });
    work.git("merge", "-q", "--no-edit", "beside");
    expect(ownPaths()).toEqual(["mine.txt"]);
    const there = readRepository(beside.system(), beside.top);
    expect([...there.own(since).files.keys()]).toEqual(["theirs.txt"]);
  });
});
