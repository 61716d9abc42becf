import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StoreError } from "./errors.ts";
import { defineStateTable, type GroupRoots, type StateEntry, type StateTable } from "./table.ts";

const roots: GroupRoots = {
  config: [".ai/repo/", ".ai/README.md"],
  records: [".ai/local/state/"],
  local: [".ai/local/cache/"],
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

const own: readonly StateEntry[] = [
  { ...plain, path: ".ai/repo/", portability: "carry", versioned: true, holds: "directory", invalidates: ["layer"] },
  { ...plain, path: ".ai/repo/policy.yaml", portability: "carry", versioned: true, invalidates: ["policy", "task"] },
  { ...plain, path: ".ai/repo/grants.yaml", portability: "carry", versioned: true, locked: true },
  { ...plain, path: ".ai/local/state/ledger.*", portability: "carry", holds: "log", search: "event" },
  { ...plain, path: ".ai/local/state/notes/", portability: "carry", holds: "directory", travels: "with-prompts" },
  { ...plain, path: ".ai/local/cache/parsed.json", portability: "derived", invalidates: [], why: "No view." },
  { ...plain, path: ".ai/local/identity/owner.json", portability: "identity", invalidates: [], why: "No view." },
  { ...plain, path: ".ai/local/secrets/token", portability: "secret", invalidates: [], why: "No view." },
];

const table: StateTable = defineStateTable({ roots, entries: own });

describe("explain", () => {
  test.each([
    [
      ".ai/repo/policy.yaml",
      { entry: ".ai/repo/policy.yaml", group: "config", tracked: true, carried: "yes", locked: false },
    ],
    [".ai/repo/own/thing.md", { entry: ".ai/repo/", group: "config", tracked: true, carried: "yes" }],
    [
      ".ai/local/state/x/../ledger.1",
      { path: ".ai/local/state/ledger.1", group: "records", searched: true, backedUp: true },
    ],
    [".ai/local/state/notes/a.md", { entry: ".ai/local/state/notes/", carried: "with-prompts" }],
    [
      ".ai/local/cache/parsed.json",
      { group: "local", backedUp: false, carried: "never", watched: false, invalidates: [] },
    ],
    [".ai/local/secrets/token", { group: "secrets", carried: "with-secrets", locked: true, backedUp: false }],
    [".ai/local/identity/owner.json", { group: "identity", carried: "never", locked: true, backedUp: true }],
  ])("tells what a declared path is: %s", (path, wanted) => {
    expect(table.explain(path)).toMatchObject(wanted);
  });

  test.each([
    [".ai/local/secrets/new-store.json", "secrets"],
    [".ai/local/secrets/token.corrupt-20260101T000000Z", "secrets"],
    [".ai/local/secrets/.token.42.abc.tmp", "secrets"],
    [".ai/local/secrets/token.lock", "secrets"],
    [".ai/local/identity/extra.json", "identity"],
    [".AI/LOCAL/SECRETS/a", undefined],
    ["x\\..\\.ai\\local\\secrets\\a", "secrets"],
    [".git/config", undefined],
  ])("locks what nobody declared, however it is spelled, and never lets it travel: %s", (path, group) => {
    expect(table.explain(path)).toMatchObject({
      group,
      locked: true,
      carried: "never",
      searched: false,
      backedUp: false,
    });
  });

  test("says of an undeclared file which class its folder has, and of one outside that it is none", () => {
    expect(table.explain(".ai/local/state/stray")).toMatchObject({
      entry: undefined,
      group: "records",
      carried: "never",
    });
    expect(table.explain(".ai/local/state/stray").why).toBe(
      "No entry declares it; it lies in a folder of records, so it never travels.",
    );
    expect(table.explain("src/index.ts")).toMatchObject({ entry: undefined, group: undefined, locked: false });
    expect(table.explain("/etc/passwd")).toMatchObject({ path: "/etc/passwd", group: undefined, locked: true });
    expect(table.explain("a/../../b")).toMatchObject({ group: undefined, locked: true });
  });

  test("names the file a derived spelling belongs to", () => {
    expect(table.explain(".ai/local/state/ledger.jsonl.damaged")).toMatchObject({
      entry: ".ai/local/state/ledger.*",
      group: "records",
      carried: "never",
      why: expect.stringContaining(".ai/local/state/ledger.jsonl"),
    });
  });
});

const anyPath = fc
  .array(
    fc.constantFrom(
      ".ai",
      "local",
      "repo",
      "state",
      "secrets",
      "identity",
      "cache",
      "SECRETS",
      "..",
      ".",
      "token",
      "a.b",
      "ledger.1",
      ".token.1.a.tmp",
      "x.lock",
      "é",
    ),
    { maxLength: 7 },
  )
  .chain((names) => fc.constantFrom("/", "\\").map((separator) => names.join(separator)));

describe("every path", () => {
  test("of a locked class is neither carried without two consents, nor searched, nor served", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const { group, carried, searched, locked } = table.explain(path);
        if (group !== "secrets" && group !== "identity") return;
        expect({ searched, locked }).toEqual({ searched: false, locked: true });
        expect(["never", "with-secrets"]).toContain(carried);
        if (group === "identity") expect(carried).toBe("never");
      }),
      { numRuns: 3000 },
    );
  });

  test("has one class at most, and an entry only in its own class's folders", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const { path: folded, group, entry } = table.explain(path);
        const within = Object.entries(roots).filter(([, of]) =>
          of.some((root) => (root.endsWith("/") ? `${folded}/`.startsWith(root) : folded === root)),
        );
        expect(within.length).toBeLessThanOrEqual(1);
        if (entry !== undefined && within.length > 0) expect(within[0]?.[0]).toBe(group);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("staleQueryKeys", () => {
  test.each<[readonly string[], readonly string[]]>([
    [[".ai/repo/policy.yaml"], ["layer", "policy", "task"]],
    [
      [".ai/repo/other", ".ai/repo/policy.yaml"],
      ["layer", "policy", "task"],
    ],
    [[".ai/repo/policy.yaml.bak"], ["layer"]],
    [[".ai/local/state/ledger.jsonl"], ["view"]],
    [[".ai/local/state/.ledger.jsonl.42.ab.tmp"], []],
    [[".ai/local/cache/parsed.json", "src/index.ts"], []],
    [[".ai/local/state/notes"], ["view"]],
  ])("of %j are %j", (paths, keys) => {
    expect(table.staleQueryKeys(paths)).toEqual(keys);
  });

  test("of nothing in particular are all there are", () => {
    expect(table.staleQueryKeys([])).toEqual(["layer", "policy", "task", "view"]);
  });
});

describe("isReviewable", () => {
  test("holds for what git tracks and the file API refuses, and for nothing else", () => {
    const paths = own.map(({ path }) => path);
    expect(paths.filter((path) => table.isReviewable(path))).toEqual([".ai/repo/grants.yaml"]);
    expect(table.isReviewable(".ai/local/secrets/token.lock")).toBe(false);
  });
});

describe("extended", () => {
  const add = (change: Partial<StateEntry>): StateEntry => ({
    ...plain,
    path: ".ai/local/state/tool-x/",
    portability: "carry",
    ...change,
  });

  test("takes entries beside its own, and everything follows for them", () => {
    const extended = table.extended([add({ holds: "directory", invalidates: ["tool"] })]);
    expect(extended.explain(".ai/local/state/tool-x/a.json")).toMatchObject({
      entry: ".ai/local/state/tool-x/",
      carried: "yes",
    });
    expect(extended.staleQueryKeys([".ai/local/state/tool-x/a.json"])).toEqual(["tool"]);
    expect(table.explain(".ai/local/state/tool-x/a.json").entry).toBeUndefined();
  });

  test.each<[Partial<StateEntry>, string]>([
    [{ path: ".ai/local/state/", holds: "directory" }, "is as broad as a class"],
    [{ path: ".ai/local/", holds: "directory" }, "is as broad as a class"],
    [{ path: ".ai/local/state/notes/mine.json" }, "in or around .ai/local/state/notes/"],
    [{ path: ".ai/repo/policy.yaml", versioned: true }, "in or around .ai/repo/policy.yaml"],
    [{ path: ".ai/repo/POLICY.yaml", versioned: true }, "in or around .ai/repo/policy.yaml"],
    [{ path: ".ai/local/secrets/mine", portability: "secret" }, "class secrets"],
    [{ path: ".ai/local/identity/mine", portability: "identity" }, "class identity"],
    [{ path: "src/state.json" }, "lies under no root of records"],
  ])("refuses %j", (change, says) => {
    const entry = add(change);
    try {
      table.extended([entry]);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      expect(error.message).toContain(says);
      return;
    }
    throw new Error("it was taken");
  });

  test("refuses a path that is contributed twice", () => {
    expect(() => table.extended([add({}), add({})])).toThrow("declared twice");
  });
});
