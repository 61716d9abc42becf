import { table } from "@reeve/core/state/table.ts";
import { expect, test } from "vitest";
import { parseModule } from "../source/module.ts";
import { judgeOwners } from "./owners.ts";

function judge(path: string, source: string): string[] {
  return judgeOwners(parseModule(path, source), table.entries).map(({ line, says }) => `${line}: ${says}`);
}

const call = 'const at = 1;\nexport const file = statePath(".ai/local/state/ledger.jsonl");\n';

test("the owner may ask for its path, and nobody else", () => {
  expect(judge("packages/core/src/records/ledger.ts", call)).toEqual([]);
  const refused = ['2: statePath(".ai/local/state/ledger.jsonl") is for its owner alone, packages/core/src/records/'];
  expect(judge("packages/core/src/work/task.ts", call)).toEqual(refused);
  expect(judge("packages/commands/src/records/ledger.ts", call)).toEqual(refused);
});

test("a path that is no literal of the table is refused wherever it stands", () => {
  expect(judge("packages/core/src/records/a.ts", "statePath(name);")).toEqual([
    "1: statePath(?) names no entry as a literal",
  ]);
  expect(judge("packages/core/src/records/a.ts", 'statePath(".ai/x");')).toEqual([
    "1: statePath(.ai/x) names no entry as a literal",
  ]);
});
