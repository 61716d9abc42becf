import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWholeStatus, parseStatus } from "./status.ts";

const id = "a".repeat(40);
const zero = "0".repeat(40);

/** What a file may be called: anything without NUL, neither empty nor ending in a slash. */
const names = fc.string({ unit: "binary", minLength: 1 }).filter((name) => !name.includes("\0") && !name.endsWith("/"));
const paths = fc.uniqueArray(names, { maxLength: 8 });

function bytes(...lines: string[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${line}\0`).join(""));
}

describe("parseStatus", () => {
  test("parseStatus reads branch, head, upstream and distance of a clean tree", () => {
    const status = parseStatus(
      bytes(`# branch.oid ${id}`, "# branch.head füß/x", "# branch.upstream origin/x", "# branch.ab +12 -3"),
    );
    expect(status).toEqual({
      branch: "füß/x",
      head: id,
      upstream: "origin/x",
      ahead: 12,
      behind: 3,
      entries: [],
      clean: true,
    });
  });

  test("parseStatus tells a detached head, one before the first commit, and a distance git did not count", () => {
    expect(parseStatus(bytes(`# branch.oid ${id}`, "# branch.head (detached)"))).toEqual({
      branch: undefined,
      head: id,
      entries: [],
      clean: true,
    });
    const fresh = parseStatus(bytes("# branch.oid (initial)", "# branch.head main", "# branch.ab +? -?", "# stash 2"));
    expect(fresh).toEqual({ branch: "main", head: undefined, entries: [], clean: true });
  });

  test("parseStatus reads every kind of entry with paths of any characters", () => {
    const status = parseStatus(
      bytes(
        `# branch.oid ${id}`,
        "# branch.head main",
        `1 .M N... 100644 100644 100644 ${id} ${id}  lead and trail `,
        `1 D. N... 100644 000000 000000 ${id} ${zero} läs\nmig "x"\t`,
        `2 R. N... 100644 100644 100644 ${id} ${id} R100 new name`,
        "old name",
        `2 C. N... 100644 100644 100644 ${id} ${id} C75 copy`,
        "1 original",
        `u UU N... 100644 100644 100644 100644 ${id} ${id} ${id} both sides`,
        "? # branch.head fake",
        "? inner/",
        "! ignored",
      ),
    );
    expect(status.clean).toBe(false);
    expect(status.branch).toBe("main");
    expect(status.entries).toEqual([
      { path: " lead and trail ", kind: "changed", index: ".", worktree: "M" },
      { path: 'läs\nmig "x"\t', kind: "changed", index: "D", worktree: "." },
      { path: "new name", kind: "renamed", from: "old name", index: "R", worktree: "." },
      { path: "copy", kind: "changed", from: "1 original", index: "C", worktree: "." },
      { path: "both sides", kind: "unmerged", index: "U", worktree: "U" },
      { path: "# branch.head fake", kind: "untracked", index: "?", worktree: "?" },
      { path: "inner", kind: "untracked", index: "?", worktree: "?" },
    ]);
  });

  test("parseStatus gives back every path, of every kind of entry", () => {
    fc.assert(
      fc.property(paths, paths, paths, (changed, renamed, untracked) => {
        const lines = [
          `# branch.oid ${id}`,
          "# branch.head main",
          ...changed.map((name) => `1 .M N... 100644 100644 100644 ${id} ${id} ${name}`),
          ...renamed.flatMap((name) => [`2 R. N... 100644 100644 100644 ${id} ${id} R9 ${name}`, `${name}!`]),
          ...untracked.map((name) => `? ${name}`),
        ];
        const { entries } = parseStatus(Buffer.from(lines.map((line) => `${line}\0`).join("")));
        expect(entries.map((entry) => entry.path)).toEqual([...changed, ...renamed, ...untracked]);
        expect(entries.flatMap((entry) => entry.from ?? [])).toEqual(renamed.map((name) => `${name}!`));
      }),
    );
  });
});

describe("isWholeStatus", () => {
  test("isWholeStatus refuses what a failed or interrupted run left", () => {
    const whole = bytes(`# branch.oid ${id}`, "# branch.head main", "? a");
    expect(isWholeStatus(whole)).toBe(true);
    expect(isWholeStatus(whole.subarray(0, -1))).toBe(false);
    expect(isWholeStatus(new Uint8Array())).toBe(false);
    expect(isWholeStatus(bytes("fatal: no"))).toBe(false);
  });
});
