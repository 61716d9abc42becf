import { table } from "@reeve/core/state/table.ts";
import type { StateEntry } from "@reeve/store/table";
import { readExceptions } from "./conformance/exceptions.ts";
import { judgeOwners } from "./conformance/owners.ts";
import { judgeTable, lineOfPath, tableRules } from "./conformance/table.ts";
import { deriveWrites } from "./conformance/writes.ts";
import { readModule } from "./source/module.ts";
import { writeProblems } from "./source/problems.ts";
import { isTestFile, readTree } from "./source/tree.ts";

/** A convention of the store that something breaks. */
interface Break {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly symbol: string;
  readonly says: string;
}

const dataFile = "tools/conformance.jsonl";
const owner = "packages/store/src/";
const tableFile = "packages/core/src/state/table.ts";
const writeRule = "writes-files";
const ownerRule = "state-owner";

export function main(): number {
  return writeProblems(check(process.cwd()));
}

/**
 * Every place that breaks a convention of the store and is no exception, and every exception that excuses nothing: nothing
 * outside the store writes a file, only a state file's owner builds its path, and every state file has the form of what it holds.
 */
export function check(root: string, entries: readonly StateEntry[] = table.entries): string[] {
  const breaks = [...findWrites(root), ...findForeignPaths(root, entries), ...findTableBreaks(root, entries)];
  const exceptions = readExceptions(root, dataFile, new Set([writeRule, ownerRule, ...tableRules]));
  const keys = new Set(breaks.map(keyOf));
  const stale = [...exceptions].filter(([key]) => !keys.has(key));
  return [
    ...breaks.filter((found) => !exceptions.has(keyOf(found))).map(renderBreak),
    ...stale.map(([key, line]) => `${dataFile}:${line}: "${key}" excuses nothing any more; remove the line`),
  ];
}

function listSources(root: string): string[] {
  const paths = readTree(root, "packages").filter((path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path));
  return paths.filter((path) => !isTestFile(path));
}

function findForeignPaths(root: string, entries: readonly StateEntry[]): Break[] {
  return listSources(root).flatMap((path) =>
    judgeOwners(readModule(root, path), entries).map((found) => ({ rule: ownerRule, path, ...found })),
  );
}

function findWrites(root: string): Break[] {
  const outside = listSources(root).filter((path) => !path.startsWith(owner));
  return outside.flatMap((path) =>
    deriveWrites(readModule(root, path)).map(({ symbol, line }) => {
      const how =
        symbol === "fs" ? "hands node:fs on, so that nobody can tell who writes" : `writes files with ${symbol}`;
      return { rule: writeRule, path, line, symbol, says: `${how}; only @reeve/store writes files` };
    }),
  );
}

function findTableBreaks(root: string, entries: readonly StateEntry[]): Break[] {
  const broken = judgeTable(entries);
  if (broken.length === 0) return [];
  const declaring = readModule(root, tableFile);
  return broken.map(({ rule, symbol, says }) => {
    const line = lineOfPath(declaring, symbol);
    return { rule, path: tableFile, line, symbol, says: `${symbol}: ${says}` };
  });
}

function keyOf({ rule, path, symbol }: Break): string {
  return `${rule} ${path} ${symbol}`;
}

function renderBreak(found: Break): string {
  const line = JSON.stringify({ key: keyOf(found), because: "<why>" });
  return `${found.path}:${found.line}: ${found.says}. Where that must be so, add to ${dataFile}: ${line}`;
}
