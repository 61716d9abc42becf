import { describe, expect, test } from "vitest";
import type { RepoPath } from "../system/paths.ts";
import { deriveOwnFiles, type OwnFiles } from "./attribution.ts";
import type { Commit } from "./history.ts";
import type { ReflogEntry } from "./reflog.ts";
import { parseReflog } from "./reflog.ts";

function id(name: string): string {
  return Buffer.from(name).toString("hex").padEnd(40, "0");
}

interface CommitSketch {
  readonly parents?: readonly string[];
  readonly subject?: string;
  readonly author?: string;
  /** Path to content. */
  readonly files: Readonly<Record<string, string>>;
}

function commit(name: string, side: Commit["side"], sketch: CommitSketch): Commit {
  return {
    id: id(name),
    side,
    parents: (sketch.parents ?? []).map(id),
    authorSeconds: 1,
    authorEmail: sketch.author ?? `${name}@example.org`,
    subject: sketch.subject ?? name,
    files: Object.entries(sketch.files).map(([path, blob]) => ({ path: path as RepoPath, blob })),
  };
}

function left(name: string, sketch: CommitSketch): Commit {
  return commit(name, "left", sketch);
}

function right(name: string, sketch: CommitSketch): Commit {
  return commit(name, "right", sketch);
}

/** Steps in order, each `[name of the commit HEAD comes to, git's message]`; the first is where the task starts. */
function reflog(...steps: (readonly [string, string])[]): readonly ReflogEntry[] {
  const lines = steps.map(([name, message], at) => {
    const before = at === 0 ? "0".repeat(40) : id(steps[at - 1]?.[0] ?? "");
    return `${before} ${id(name)} Ada <ada@example.org> ${100 + at} +0000\t${message}`;
  });
  return parseReflog(lines.join("\n"));
}

function own(commits: readonly Commit[], entries: readonly ReflogEntry[] | undefined): OwnFiles {
  return deriveOwnFiles({
    history: { kind: "commits", ancestor: commits.every((each) => each.side === "right"), commits },
    reflog: entries,
    base: id("base"),
    startedAt: new Date(100_000),
  });
}

function paths(commits: readonly Commit[], entries: readonly ReflogEntry[]): readonly string[] {
  const { files, basis } = own(commits, entries);
  expect(basis).toBe("reflog");
  return [...files.keys()].sort();
}

describe("deriveOwnFiles", () => {
  test("deriveOwnFiles counts each kind of commit made here and names the newest that changed a path", () => {
    const made = ["commit: x", "cherry-pick: x", "revert: x", "am: x", "commit (merge): x"];
    const names = ["c1", "c2", "c3", "c4", "c5"];
    const commits = names.toReversed().map((name) => right(name, { files: { shared: name, [name]: name } }));
    const entries = reflog(["base", "commit: b"], ...names.map((name, at) => [name, made[at] ?? ""] as const));
    const { files } = own(commits, entries);
    expect([...files.keys()].sort()).toEqual(["c1", "c2", "c3", "c4", "c5", "shared"]);
    expect(files.get("shared" as RepoPath)).toEqual({ commit: id("c5") });
  });

  test("deriveOwnFiles counts nothing of what was brought in", () => {
    for (const message of [
      "merge x: Fast-forward",
      "pull: Fast-forward",
      "merge x: Merge made by the 'ort' strategy.",
      "pull: Merge made by the 'ort' strategy.",
      "checkout: moving from a to b",
      "reset: moving to x",
      "push",
    ]) {
      const commits = [right("in", { parents: ["base"], files: { theirs: "1" } })];
      expect(paths(commits, reflog(["base", "commit: b"], ["in", message]))).toEqual([]);
    }
  });

  test("deriveOwnFiles counts a commit a tool without a name of its own made, not a jump over commits", () => {
    const entries = reflog(["base", "commit: b"], ["x", "refresh patch"]);
    expect(paths([right("x", { parents: ["base"], files: { mine: "1" } })], entries)).toEqual(["mine"]);
    const jumped = [
      right("x", { parents: ["y"], files: { a: "1" } }),
      right("y", { parents: ["base"], files: { b: "1" } }),
    ];
    expect(paths(jumped, entries)).toEqual([]);
  });

  test("deriveOwnFiles falls back to the range without a usable reflog", () => {
    const commits = [
      right("x", { files: { a: "1" } }),
      right("y", { files: { b: "1" } }),
      left("z", { files: { c: "1" } }),
    ];
    const found = own(commits, undefined);
    expect(found.basis).toBe("range");
    expect([...found.files.keys()]).toEqual(["a", "b"]);
    expect(own(commits, reflog(["base", "commit: b"], ["y", "commit: y"])).basis).toBe("range");
  });

  test("deriveOwnFiles knows nothing of a missing base and of no commits", () => {
    const input = { reflog: undefined, base: id("base"), startedAt: new Date(0) };
    expect(deriveOwnFiles({ ...input, history: { kind: "missing" } })).toEqual({ files: new Map(), basis: "range" });
    expect(own([], undefined)).toEqual({ files: new Map(), basis: "reflog" });
  });

  test("deriveOwnFiles counts of an amended earlier commit what became different, put back or new", () => {
    const commits = [
      right("amended2", { files: { kept: "1", changed: "3", added: "1" } }),
      left("base", { files: { kept: "1", changed: "1", back: "1" } }),
    ];
    const entries = reflog(["base", "commit: b"], ["amended", "commit (amend): b"], ["amended2", "commit (amend): c"]);
    expect(paths(commits, entries)).toEqual(["added", "back", "changed"]);
  });

  test("deriveOwnFiles counts all of an amended own commit, and of an amended stranger's", () => {
    const ownAmended = reflog(["base", "commit: b"], ["x", "commit: x"], ["y", "commit (amend): x"]);
    expect(paths([right("y", { files: { a: "1" } })], ownAmended)).toEqual(["a"]);
    const pulled = reflog(["base", "commit: b"], ["x", "pull: Fast-forward"], ["y", "commit (amend): x"]);
    expect(paths([right("y", { files: { a: "1" } })], pulled)).toEqual(["a"]);
  });

  test("deriveOwnFiles counts of a rebased earlier commit only paths it did not have", () => {
    const commits = [
      right("own2", { files: { mine: "1" } }),
      right("old2", { author: "o", subject: "s", files: { theirs: "merged", extra: "1" } }),
      right("trunk", { files: { trunk: "1" } }),
      left("base", { author: "o", subject: "s", files: { theirs: "1" } }),
    ];
    const entries = reflog(
      ["base", "commit: s"],
      ["own", "commit: own"],
      ["trunk", "rebase (start): checkout trunk"],
      ["old2", "rebase (pick): s"],
      ["own2", "rebase (pick): own"],
      ["own2", "rebase (finish): returning to refs/heads/x"],
    );
    expect(paths(commits, entries)).toEqual(["extra", "mine"]);
  });

  test("deriveOwnFiles counts what was fixed up into an earlier commit", () => {
    const commits = [
      right("old3", { author: "o", subject: "s", files: { kept: "1", fixed: "2" } }),
      right("trunk", { files: { trunk: "1" } }),
      left("base", { author: "o", subject: "s", files: { kept: "1", fixed: "1" } }),
    ];
    const moved = reflog(
      ["base", "commit: s"],
      ["own", "commit: fixup! s"],
      ["trunk", "rebase (start): checkout trunk"],
      ["old2", "rebase (pick): s"],
      ["old3", "rebase (fixup): s"],
      ["old3", "rebase (finish): returning to refs/heads/x"],
    );
    expect(paths(commits, moved)).toEqual(["fixed"]);
    const inPlace = reflog(
      ["base", "commit: s"],
      ["own", "commit: fixup! s"],
      ["base", "rebase (start): checkout base"],
      ["old3", "rebase (fixup): s"],
      ["old3", "rebase (finish): returning to refs/heads/x"],
    );
    expect(paths(commits, inPlace)).toEqual(["fixed"]);
  });

  test("deriveOwnFiles still counts what was amended into an earlier commit after a rebase carried it along", () => {
    const commits = [
      right("old3", { author: "o", subject: "s", files: { kept: "1", fixed: "2" } }),
      right("trunk", { files: { trunk: "1" } }),
      left("base", { author: "o", subject: "s", files: { kept: "1", fixed: "1" } }),
    ];
    const entries = reflog(
      ["base", "commit: s"],
      ["old1", "commit (amend): s"],
      ["old2", "commit (amend): s"],
      ["trunk", "rebase (start): checkout trunk"],
      ["old3", "rebase (pick): s"],
      ["old3", "rebase (finish): returning to refs/heads/x"],
    );
    expect(paths(commits, entries)).toEqual(["fixed"]);
  });

  test("deriveOwnFiles knows an earlier commit under another subject after a reword, a conflict or an edit", () => {
    const commits = [
      right("new", { author: "o", subject: "another", files: { theirs: "2" } }),
      right("trunk", { files: { trunk: "1" } }),
      left("base", { author: "o", subject: "s", files: { theirs: "2" } }),
    ];
    for (const steps of [
      [
        ["picked", "rebase (pick): s"],
        ["new", "rebase (reword): another"],
      ],
      [["new", "rebase (continue): another"]],
      [
        ["picked", "rebase (edit): s"],
        ["new", "commit (amend): another"],
      ],
    ] as const) {
      const entries = reflog(["base", "commit: s"], ["trunk", "rebase (start): checkout trunk"], ...steps, [
        "new",
        "rebase (finish): returning to refs/heads/x",
      ]);
      expect(paths(commits, entries)).toEqual([]);
    }
    const plain = reflog(["base", "commit: s"], ["trunk", "reset: moving to trunk"], ["new", "commit: another"]);
    expect(
      paths(
        [{ ...(commits[0] as Commit), files: [{ path: "theirs" as RepoPath, blob: "3" }] }, ...commits.slice(1)],
        plain,
      ),
    ).toEqual(["theirs"]);
  });

  test("deriveOwnFiles leaves out what is as it was when history is taken back and committed again", () => {
    const commits = [
      right("again", { files: { before: "1", mine: "1", changed: "2" } }),
      left("base", { files: { before: "1" } }),
      left("earlier", { files: { before: "0", changed: "1" } }),
    ];
    const entries = reflog(["base", "commit: b"], ["root", "reset: moving to HEAD~2"], ["again", "commit: again"]);
    expect(paths(commits, entries)).toEqual(["changed", "mine"]);
    const picked = reflog(["base", "commit: b"], ["root", "reset: moving to HEAD~2"], ["again", "cherry-pick: b"]);
    expect(paths(commits, picked)).toEqual(["before", "changed", "mine"]);
  });
});
