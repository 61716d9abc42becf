import { describe, expect, test } from "vitest";
import { parseReflog } from "./reflog.ts";

const a = "a".repeat(40);
const b = "b".repeat(40);

function meaning(message: string): string {
  const [entry] = parseReflog(`${a} ${b} Ada <ada@example.org> 1700000000 +0200\t${message}\n`);
  return entry === undefined ? "none" : [entry.kind, ...(entry.step === undefined ? [] : [entry.step])].join(" ");
}

describe("parseReflog", () => {
  test.each([
    ["commit: subject", "commit"],
    ["commit:", "commit"],
    ["commit (initial): subject", "commit"],
    ["commit (amend): subject: with colon", "amend"],
    ["commit (merge): Merge branch 'x'", "merge-commit"],
    ["commit (cherry-pick): subject", "cherry-pick"],
    ["commit (rebase): subject", "rebase-pick"],
    ["commit: fast-forward", "commit"],
    ["cherry-pick: subject", "cherry-pick"],
    ["cherry-pick: fast-forward", "cherry-pick"],
    ['revert: Revert "subject"', "revert"],
    ["am: subject", "am"],
    ["rebase (start): checkout main", "rebase-other start"],
    ["rebase (pick): subject", "rebase-pick pick"],
    ["rebase (squash): subject", "rebase-pick squash"],
    ["rebase (fixup): subject", "rebase-pick fixup"],
    ["rebase (reword): subject", "rebase-pick reword"],
    ["rebase (edit): subject", "rebase-pick edit"],
    ["rebase (continue): subject", "rebase-pick continue"],
    ["rebase (merge): Merge branch 'x'", "rebase-pick merge"],
    ["rebase (reset): 'onto'", "rebase-other reset"],
    ["rebase (finish): returning to refs/heads/x", "rebase-other finish"],
    ["rebase (abort): returning to refs/heads/x", "rebase-other abort"],
    ["rebase: fast-forward", "fast-forward"],
    ["rebase (pick): fast-forward", "fast-forward"],
    ["rebase -i (start): checkout main", "rebase-other start"],
    ["rebase -i (pick): subject", "rebase-pick pick"],
    ["rebase -i (finish): returning to refs/heads/x", "rebase-other finish"],
    ["rebase: checkout main", "rebase-other"],
    ["rebase: aborting", "rebase-other"],
    ["rebase: subject", "rebase-pick pick"],
    ["rebase finished: returning to refs/heads/x", "rebase-other"],
    ["pull --rebase (start): checkout 0123", "rebase-other start"],
    ["pull --rebase origin main (pick): subject", "rebase-pick pick"],
    ["pull --rebase (finish): returning to refs/heads/x", "rebase-other finish"],
    ["pull: Fast-forward", "fast-forward"],
    ["pull -q https://example.org/x main: Fast-forward", "fast-forward"],
    ["pull --no-rebase origin main: Merge made by the 'ort' strategy.", "pull"],
    ["initial pull", "pull"],
    ["merge topic: Fast-forward", "fast-forward"],
    ["merge a b: Merge made by the 'octopus' strategy.", "merge"],
    ["fetch origin main:main: fast-forward", "fast-forward"],
    ["push", "fast-forward"],
    ["checkout: moving from a to b", "checkout"],
    ["reset: moving to HEAD~1", "reset"],
    ["clone: from https://example.org/x", "clone"],
    ["Branch: renamed refs/heads/a to refs/heads/b", "other"],
    ["", "other"],
  ])("parseReflog tells what moved HEAD from %j", (message, expected) => {
    expect(meaning(message)).toBe(expected);
  });

  test("parseReflog reads ids, seconds and message, whatever the name holds, with or without a message", () => {
    const text = [
      `${"0".repeat(40)} ${a} A > B <x@y> 1700000000 -0130\tcommit (initial): a\tb`,
      `${a} ${b}  <> 1700000001 +0000`,
      "no line of a reflog",
      `${"c".repeat(64)} ${"d".repeat(64)} Ö <ö@y> 1700000002 +0000\treset: moving to x`,
      "",
    ].join("\n");
    expect(parseReflog(text)).toEqual([
      { before: "0".repeat(40), after: a, seconds: 1_700_000_000, kind: "commit", message: "commit (initial): a\tb" },
      { before: a, after: b, seconds: 1_700_000_001, kind: "other", message: "" },
      {
        before: "c".repeat(64),
        after: "d".repeat(64),
        seconds: 1_700_000_002,
        kind: "reset",
        message: "reset: moving to x",
      },
    ]);
  });
});
