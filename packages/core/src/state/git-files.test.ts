import type { StateEntry } from "@reeve/store/table";
import { expect, test } from "vitest";
import { ignoreLine } from "../layer/home.ts";
import { attributeLinesOf, ignoreLinesOf } from "./git-files.ts";
import { table } from "./table.ts";

function tracked(path: string, holds: StateEntry["holds"]): StateEntry {
  const { key: _, ...entry } = table.entry(".ai/repo/state.jsonl");
  return { ...entry, path, holds };
}

test("the layer's ignore line is the one the table asks for", () => {
  expect(ignoreLinesOf(table)).toEqual([ignoreLine]);
});

test("a folder is ignored as widely as nothing tracked lies in it", () => {
  const trackedEntries = [tracked(".x/a/kept.md", "markdown")];
  expect(ignoreLinesOf({ trackedEntries, ignoredRoots: [".x/a/b/c/", ".x/a/b/d/", ".x/e/f/", ".x/g"] })).toEqual([
    "/.x/a/b",
    "/.x/e",
    "/.x/g",
  ]);
});

test("stores and logs that git tracks keep their line ends", () => {
  expect(attributeLinesOf(table)).toEqual(["/.ai/repo/state.jsonl text eol=lf"]);
  const trackedEntries = [tracked(".x/a.jsonl", "log"), tracked(".x/b.md", "markdown")];
  expect(attributeLinesOf({ trackedEntries, ignoredRoots: [] })).toEqual(["/.x/a.jsonl text eol=lf"]);
});
