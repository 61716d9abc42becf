import { table } from "@reeve/core/state/table.ts";
import { describe, expect, test } from "vitest";
import { parseModule } from "../source/module.ts";
import { judgeTable, lineOfPath, tableRules } from "./table.ts";

type Entry = Parameters<typeof judgeTable>[0][number];

/** One entry that keeps every convention, for each thing a file can hold. */
const good = {
  store: { path: "state/jobs.jsonl", holds: "store" },
  log: { path: "state/ledger.jsonl", holds: "log" },
  blobs: { path: "state/outputs/", holds: "blobs" },
  document: { path: "state/current.json", holds: "document" },
  written: { path: "repo/policy.yaml", holds: "document", writer: "a person" },
  text: { path: "repo/README.md", holds: "markdown", writer: "a person" },
  cache: { path: "cache/", holds: "directory", portability: "derived" },
  link: { path: "local", holds: "link" },
} as const;

function broken(entry: Partial<Entry>): string[] {
  const whole: Entry = {
    path: "x",
    holds: "log",
    because: "A reason.",
    writer: "reeve",
    portability: "carry",
    ...entry,
  };
  return judgeTable([whole]).map(({ rule, symbol }) => `${rule} ${symbol}`);
}

describe("judgeTable", () => {
  test.each(Object.entries(good))("finds nothing in a %s of the right form", (_, entry) => {
    expect(broken(entry)).toEqual([]);
  });

  test.each<[string, Partial<Entry>]>([
    ["lines-name", { ...good.store, path: "state/jobs.json" }],
    ["lines-name", { ...good.store, path: "state/jobs" }],
    ["lines-name", { ...good.log, path: "state/ledger.*" }],
    ["lines-name", { ...good.log, path: "state/ledger.jsonl.gz" }],
    ["blobs-folder", { ...good.blobs, path: "state/outputs" }],
    ["document-reason", { ...good.document, because: " " }],
    ["document-form", { ...good.document, path: "state/current.yaml" }],
    ["document-form", { ...good.document, path: "state/current.tsv" }],
    ["document-form", { ...good.written, writer: "reeve" }],
    ["document-form", { ...good.written, path: "repo/policy.toml" }],
    ["file-per-entry", { ...good.cache, path: "state/runs/", portability: "carry" }],
    ["file-per-entry", { ...good.cache, path: "state/runs/", portability: "identity" }],
    ["text-with-entries", { ...good.text, writer: "reeve" }],
  ])("names %s for %o", (rule, entry) => {
    expect(broken(entry)).toEqual([`${rule} ${entry.path}`]);
  });

  test("has a test above for every rule, and an entry of the real table breaks no rule that is not a known one", () => {
    expect([...tableRules].sort()).toEqual(
      ["blobs-folder", "document-form", "document-reason", "file-per-entry", "lines-name", "text-with-entries"].sort(),
    );
    for (const { rule } of judgeTable(table.entries)) expect(tableRules).toContain(rule);
  });
});

describe("lineOfPath", () => {
  test("tells where an entry is declared", () => {
    const module = parseModule(
      "table.ts",
      'const a = "state/x";\nconst b = [\n  { path: "state/y" },\n  { path: "state/x" },\n];\n',
    );
    expect([lineOfPath(module, "state/x"), lineOfPath(module, "state/y"), lineOfPath(module, "state/z")]).toEqual([
      4, 3, 1,
    ]);
  });
});
