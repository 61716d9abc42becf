import { describe, expect, expectTypeOf, test } from "vitest";
import { StoreError } from "./errors.ts";
import { defineStateTable, type GroupRoots, isDerivedSpelling, type StateEntry, type StateTable } from "./table.ts";

const roots: GroupRoots = {
  config: [".ai/repo/", ".ai/README.md", ".agents/"],
  records: [".ai/local/state/", ".ai/local/prompts/"],
  local: [".ai/local/cache/", ".ai/local/run/"],
  identity: [".ai/local/identity/"],
  secrets: [".ai/local/secrets/"],
};

const plain = {
  purpose: "Something.",
  because: "It is so.",
  owner: "here",
  writer: "app",
  holds: "document",
  scope: "checkout",
  invalidates: ["view"],
} as const;

const entries = [
  { ...plain, path: ".ai/repo/policy.yaml", portability: "carry", versioned: true, scope: "repository" },
  { ...plain, path: ".ai/repo/draft.md", portability: "carry", authored: true, holds: "markdown" },
  { ...plain, path: ".ai/README.md", portability: "carry", versioned: true, holds: "markdown" },
  { ...plain, path: ".ai/local/state/", portability: "carry", holds: "directory" },
  { ...plain, path: ".ai/local/state/task.yaml", portability: "carry", travels: "never" },
  { ...plain, path: ".ai/local/state/ledger.*", portability: "carry", holds: "log", search: "event" },
  { ...plain, path: ".ai/local/state/keys.json", portability: "carry", locked: true, backup: false },
  {
    ...plain,
    path: ".ai/local/prompts/",
    portability: "carry",
    holds: "directory",
    travels: "with-prompts",
    bulk: true,
  },
  { ...plain, path: ".ai/local/cache/", portability: "derived", holds: "directory", retention: { days: 30 } },
  { ...plain, path: ".ai/local/identity/owner.json", portability: "identity", invalidates: [], why: "No view." },
  { ...plain, path: ".ai/local/secrets/token", portability: "secret", invalidates: [], why: "No view." },
] as const satisfies readonly StateEntry[];

type Path = (typeof entries)[number]["path"];

const table: StateTable<Path> = defineStateTable({ roots, entries });

function problemsOf(change: Partial<Record<keyof StateEntry, unknown>>, of: GroupRoots = roots): unknown {
  const entry = { ...plain, path: ".ai/local/state/x.json", portability: "carry", ...change };
  try {
    defineStateTable({ roots: of, entries: [entry as unknown as StateEntry] });
  } catch (error) {
    if (error instanceof StoreError && error.code === "BAD_VALUE") return error.details["problems"];
    throw error;
  }
  return undefined;
}

describe("defineStateTable", () => {
  test("keeps paths as literals, so that a renamed file is a type error where it is named", () => {
    const entry = table.entry(".ai/repo/policy.yaml");
    expectTypeOf(entry.path).toEqualTypeOf<Path>();
    expectTypeOf<".ai/repo/other.yaml">().not.toExtend<Path>();
    expect(() => table.entry(".ai/repo/other.yaml" as Path)).toThrow(".ai/repo/other.yaml");
    expect(entry.scope).toBe("repository");
  });

  test.each<[Partial<Record<keyof StateEntry, unknown>>, string]>([
    [{ path: ".ai/repo/x.json" }, "lies under no root of records"],
    [{ path: "x.json" }, "lies under no root of records"],
    [{ path: ".ai/local/statement/x" }, "lies under no root of records"],
    [{ portability: "secret" }, "lies under no root of secrets"],
    [{ path: "/etc/passwd" }, "is no path of plain names with forward slashes"],
    [{ path: ".ai/local/state/../x" }, "is no path of plain names with forward slashes"],
    [{ path: ".ai\\local\\state\\x" }, "is no path of plain names with forward slashes"],
    [{ path: ".ai/local/state/a*b" }, "has a pattern in it; only a family, name.*, is one"],
    [{ path: ".ai/local/state/.*" }, "has a pattern in it; only a family, name.*, is one"],
    [{ path: ".ai/local/state/x.*/" }, "has a pattern in it; only a family, name.*, is one"],
    [{ purpose: " " }, "has no purpose"],
    [{ because: "" }, "has no because"],
    [{ invalidates: [] }, "invalidates nothing and does not say why"],
    [{ invalidates: [], why: " " }, "invalidates nothing and does not say why"],
    [{ why: "Still." }, "invalidates something and has a why"],
    [{ path: ".ai/local/secrets/x", portability: "secret", versioned: true }, "is versioned and secret"],
    [{ path: ".ai/local/identity/x", portability: "identity", versioned: true }, "is versioned and identity"],
    [{ path: ".ai/local/cache/x", portability: "derived", authored: true }, "is authored and derived"],
    [{ path: ".ai/local/cache/x", portability: "derived", travels: "never" }, "narrows how it travels and is derived"],
    [{ retention: { days: 1 } }, "has a retention and is carry"],
    [{ path: ".ai/local/cache/x", portability: "derived", backup: false }, "is in no backup to opt out of"],
    [{ path: ".ai/local/secrets/x", portability: "secret", search: "s" }, "is searched and secret"],
    [{ holds: "directory" }, "holds directory and does not end in /"],
    [{ holds: "link", path: ".ai/local/state/x/" }, "is a link and ends in /"],
  ])("refuses %j", (change, problem) => {
    const path = change.path ?? ".ai/local/state/x.json";
    expect(problemsOf(change)).toContain(`${path} ${problem}`);
  });

  test("refuses a path that is declared twice, also when only its case differs", () => {
    const entry = { ...plain, path: ".ai/local/state/x", portability: "carry" } as const;
    const twice = (path: string): unknown => defineStateTable({ roots, entries: [entry, { ...entry, path }] });
    expect(() => twice(".ai/local/state/x")).toThrow("is declared twice");
    expect(() => twice(".ai/local/state/X")).toThrow("is declared twice");
    expect(() => twice(".ai/local/state/y")).not.toThrow();
  });

  test("refuses a root that lies in another class's", () => {
    expect(problemsOf({}, { ...roots, secrets: [".ai/local/state/secrets/"] })).toEqual([
      "root .ai/local/state/secrets/ of secrets lies in .ai/local/state/ of records",
    ]);
    expect(problemsOf({}, { ...roots, local: [".ai/local/state/"] })).toHaveLength(2);
  });

  test("names everything that is wrong at once", () => {
    expect(problemsOf({ purpose: "", owner: "" })).toHaveLength(2);
  });
});

describe("entryFor", () => {
  test.each<[string, Path | undefined]>([
    [".ai/repo/policy.yaml", ".ai/repo/policy.yaml"],
    [".ai/repo/policy.yaml.bak", undefined],
    [".ai/repo/policy.yam", undefined],
    [".ai/repo/policy", undefined],
    [".ai/repo", undefined],
    [".ai/local/state", ".ai/local/state/"],
    [".ai/local/state/", ".ai/local/state/"],
    [".ai/local/state/deep/x", ".ai/local/state/"],
    [".ai/local/statement", undefined],
    [".ai/local/state/task.yaml", ".ai/local/state/task.yaml"],
    [".ai/local/state/task.yaml/x", ".ai/local/state/"],
    [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
    [".ai/local/state/ledger.2024.jsonl", ".ai/local/state/ledger.*"],
    [".ai/local/state/ledger.", ".ai/local/state/"],
    [".ai/local/state/ledger", ".ai/local/state/"],
    [".ai/local/state/ledgers.jsonl", ".ai/local/state/"],
    [".ai\\local\\state\\task.yaml", ".ai/local/state/task.yaml"],
    ["./.ai//local/x/../state/task.yaml", ".ai/local/state/task.yaml"],
    ["/.ai/local/state/task.yaml", undefined],
    ["../.ai/local/state/task.yaml", undefined],
    ["C:\\.ai\\local\\state\\task.yaml", undefined],
    [".AI/repo/policy.yaml", undefined],
  ])("of %s is %s", (path, expected) => {
    expect(table.entryFor(path)?.path).toBe(expected);
  });
});

describe("groupOf", () => {
  test.each([
    [".ai/repo/policy.yaml", "config"],
    [".ai/repo/draft.md", "config"],
    [".ai/repo/unknown", "config"],
    [".ai/local/state/task.yaml", "records"],
    [".ai/local/cache/x", "local"],
    [".ai/local/run/undeclared", "local"],
    [".ai/local/identity/undeclared", "identity"],
    [".ai/local/secrets/undeclared", "secrets"],
    [".ai/local/secrets", "secrets"],
    [".ai/README.md", "config"],
    [".ai/README.md.lock", "config"],
    [".ai/README.md.corrupt-20240101T000000.000Z", "config"],
    [".ai/.README.md.42.abc123.tmp", "config"],
    [".ai/README.md.last-good.lock", "config"],
    [".ai/README.md.bak", undefined],
    [".ai/local/other", undefined],
    ["src/index.ts", undefined],
    ["../x", undefined],
  ])("of %s is %s", (path, expected) => {
    expect(table.groupOf(path)).toBe(expected);
  });
});

describe("isLocked", () => {
  const secret = ".ai/local/secrets/token";
  test.each([
    secret,
    ".ai/local/secrets",
    ".ai/local/secrets/",
    ".ai/local/secrets/undeclared",
    ".ai/local/secrets/deep/undeclared",
    `${secret}.corrupt-x`,
    ".ai/local/secrets/.token.42.abc.tmp",
    ".ai/local/identity/owner.json",
    ".ai/local/identity/extra",
    ".AI/Local/SECRETS/token",
    ".ai\\local\\secrets\\token",
    "x/../.ai/local/secrets/token",
    ".ai/./local//secrets/token",
    ".ai/local/secrets./token",
    ".ai/local/secrets /token",
    ".ai/local/ſecrets/token",
    ".ai/local/sec\u200crets/token",
    ".ai/local/secrets::$INDEX_ALLOCATION/token",
    ".ai/local/state/keys.json",
    ".ai/local/state/KEYS.JSON",
    ".ai/local/state/keys.json.last-good",
    ".ai/local/state/.keys.json.42.abc.tmp",
    ".ai/local/state/keys.json.lock.break",
    ".git",
    ".git/config",
    ".GIT/config",
    ".git./config",
    "../x",
    "a/../../x",
    "/etc/passwd",
    "C:/x",
  ])("refuses %j", (path) => {
    expect(table.isLocked(path)).toBe(true);
  });

  test.each([
    "",
    ".ai",
    ".ai/local",
    ".ai/local/secretsx/token",
    ".ai/local/state/keys.json.bak",
    ".ai/local/state/task.yaml",
    "app/.git/config",
    "app/.ai/local/secrets/token",
    ".gitignore",
    ".github/x",
  ])("lets %j be", (path) => {
    expect(table.isLocked(path)).toBe(false);
  });

  test("refuses every entry whose traits say so", () => {
    for (const entry of table.entries)
      expect(table.isLocked(entry.path), entry.path).toBe(table.traitsOf(entry).locked);
  });
});

describe("traitsOf", () => {
  const traits = (path: Path): unknown => table.traitsOf(table.entry(path));
  test("follows from the class", () => {
    const off = {
      tracked: false,
      searched: false,
      backedUp: false,
      carried: "never",
      locked: false,
      watched: true,
      cleaned: false,
    };
    expect(traits(".ai/repo/policy.yaml")).toEqual({
      ...off,
      group: "config",
      tracked: true,
      searched: true,
      backedUp: true,
      carried: "yes",
    });
    expect(traits(".ai/repo/draft.md")).toEqual({
      ...off,
      group: "config",
      searched: true,
      backedUp: true,
      carried: "yes",
    });
    expect(traits(".ai/local/state/task.yaml")).toEqual({ ...off, group: "records", backedUp: true });
    expect(traits(".ai/local/state/ledger.*")).toEqual({
      ...off,
      group: "records",
      searched: true,
      backedUp: true,
      carried: "yes",
    });
    expect(traits(".ai/local/state/keys.json")).toEqual({ ...off, group: "records", locked: true, carried: "yes" });
    expect(traits(".ai/local/prompts/")).toEqual({
      ...off,
      group: "records",
      backedUp: true,
      carried: "with-prompts",
      watched: false,
    });
    expect(traits(".ai/local/cache/")).toEqual({ ...off, group: "local", watched: false, cleaned: true });
    expect(traits(".ai/local/identity/owner.json")).toEqual({
      ...off,
      group: "identity",
      backedUp: true,
      locked: true,
    });
    expect(traits(".ai/local/secrets/token")).toEqual({
      ...off,
      group: "secrets",
      carried: "with-secrets",
      locked: true,
    });
  });
});

describe("derived lists", () => {
  test("name what git tracks and what it ignores", () => {
    expect(table.trackedEntries.map(({ path }) => path)).toEqual([".ai/repo/policy.yaml", ".ai/README.md"]);
    expect(table.ignoredRoots).toEqual([
      ".ai/local/state/",
      ".ai/local/prompts/",
      ".ai/local/cache/",
      ".ai/local/run/",
      ".ai/local/identity/",
      ".ai/local/secrets/",
      ".ai/repo/draft.md",
    ]);
  });
});

describe("isDerivedSpelling", () => {
  test.each([
    ["a.jsonl.lock", true],
    ["a.jsonl.lock.break2", true],
    ["a.jsonl.idx", true],
    ["a.jsonl.damaged", true],
    ["d/a.json.last-good", true],
    ["a.json.corrupt-20240101", true],
    ["d/.a.json.12.k3j.tmp", true],
    ["a.jsonl", false],
    ["a.bak", false],
    [".lock", false],
    ["d/.lock", false],
    [".a.json.tmp", false],
    ["a.json.corrupt", false],
  ])("of %s is %s", (path, expected) => {
    expect(isDerivedSpelling(path)).toBe(expected);
  });
});
