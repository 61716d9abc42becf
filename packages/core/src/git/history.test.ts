import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deriveHistory, historyArguments, parseHistory } from "./history.ts";

const [a, b, c, d] = ["a", "b", "c", "d"].map((digit) => digit.repeat(40)) as [string, string, string, string];
const zero = "0".repeat(40);

/** What a file may be called: anything without NUL, neither empty nor ending in a slash. */
const names = fc.string({ unit: "binary", minLength: 1 }).filter((name) => !name.includes("\0") && !name.endsWith("/"));
const paths = fc.uniqueArray(names, { maxLength: 8 });

function bytes(...parts: string[]): Uint8Array {
  return new TextEncoder().encode(parts.join("\0"));
}

describe("parseHistory", () => {
  test("parseHistory reads commits of both sides, merges, empty commits and removed files", () => {
    const commits = parseHistory(
      bytes(
        `>${a}\n${b} ${c}\n1700000003\nada@example.org\nMerge: x`,
        "",
        `::100644 100644 100644 ${a} ${b} ${c} MM`,
        "both\nsides",
        `>${b}\n${d}\n1700000002\nö@example.org\nempty`,
        `>${c}\n${d}\n1700000001\nada@example.org\n`,
        `\n:100644 000000 ${d} ${zero} D`,
        ":gone",
        `:000000 100644 ${zero} ${d} A`,
        "sp ace",
        `<${d}\n\n1700000000\nada@example.org\nroot`,
        "",
      ),
    );
    expect(commits).toEqual([
      {
        id: a,
        side: "right",
        parents: [b, c],
        authorSeconds: 1_700_000_003,
        authorEmail: "ada@example.org",
        subject: "Merge: x",
        files: [{ path: "both\nsides", blob: c }],
      },
      {
        id: b,
        side: "right",
        parents: [d],
        authorSeconds: 1_700_000_002,
        authorEmail: "ö@example.org",
        subject: "empty",
        files: [],
      },
      {
        id: c,
        side: "right",
        parents: [d],
        authorSeconds: 1_700_000_001,
        authorEmail: "ada@example.org",
        subject: "",
        files: [
          { path: ":gone", blob: zero },
          { path: "sp ace", blob: d },
        ],
      },
      {
        id: d,
        side: "left",
        parents: [],
        authorSeconds: 1_700_000_000,
        authorEmail: "ada@example.org",
        subject: "root",
        files: [],
      },
    ]);
    expect(deriveHistory(commits)).toEqual({ kind: "commits", ancestor: false, commits });
    const right = commits.filter((commit) => commit.side === "right");
    expect(deriveHistory(right)).toEqual({ kind: "commits", ancestor: true, commits: right });
  });

  test("parseHistory reads nothing from nothing", () => {
    expect(parseHistory(new Uint8Array())).toEqual([]);
    expect(deriveHistory([])).toEqual({ kind: "commits", ancestor: true, commits: [] });
  });

  test("parseHistory gives back every path of every commit", () => {
    fc.assert(
      fc.property(fc.array(paths, { minLength: 1, maxLength: 4 }), (perCommit) => {
        const text = perCommit
          .map((files) =>
            [
              `>${a}\n\n1\nada@example.org\n:subject`,
              ...files.map((name, at) => `${at === 0 ? "\n" : ""}:100644 100644 ${a} ${a} M\0${name}`),
            ].join("\0"),
          )
          .join("\0");
        const commits = parseHistory(Buffer.from(`${text}\0`));
        expect(commits.map((commit) => commit.files.map((file) => file.path))).toEqual(perCommit);
      }),
    );
  });
});

describe("historyArguments", () => {
  test("historyArguments spans base and HEAD, or all of HEAD before the first commit", () => {
    expect(historyArguments(a).slice(-2)).toEqual([`${a}...HEAD`, "--"]);
    expect(historyArguments(undefined).slice(-2)).toEqual(["HEAD", "--"]);
  });
});
