import { ReeveError } from "@reeve/core/findings/errors.ts";
import { shellWord } from "@reeve/core/findings/quote.ts";
import { repairLines } from "@reeve/store";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import { type RewriteResult, renderRewritten, rewrittenMembers, rewrittenOf } from "./rewritten.ts";
import { findTarget, keyFlag } from "./target.ts";

export const storeRepair: Command = defineCommand({
  name: "store repair",
  summary: "move the damaged lines of a store or log into a file beside it",
  about:
    "They go to <path>.damaged, byte for byte, and nothing else is changed: every other line stays as and where it is. A file a person edits is theirs to mend.",
  examples: [
    { command: "reeve store repair .ai/local/state/ledger.jsonl", shows: "which lines were moved, and where to" },
    { command: "reeve store repair jobs.jsonl --key id --dry-run", shows: "which lines would be" },
  ],
  args: { positionals: [{ name: "path", summary: "a store or log", required: true }], flags: keyFlag },
  class: "state-mutating",
  needs: "any",
  surfaces: ["cli"],
  output: "value",
  reads: [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
  writes: [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
  result: rewrittenMembers,
  async run(args, context): Promise<Outcome<RewriteResult>> {
    const { path, shown, key, edited } = findTarget(context, args.path, args.key);
    if (edited === "hand") {
      throw new ReeveError("REFUSED", `${shown} is edited by hand, and by nothing else`, {
        hint: `reeve store verify ${shellWord(shown)}`,
      });
    }
    const repair = async (dryRun: boolean): Promise<RewriteResult> => ({
      dry_run: dryRun,
      stores: [rewrittenOf(shown, await repairLines(path, { key, dryRun }))],
    });
    return context.dry
      ? { result: await repair(true), upkeep: () => repair(true) }
      : { result: { dry_run: false, stores: [] }, upkeep: () => repair(false) };
  },
  text: (result: RewriteResult) => renderRewritten(result, "no line is damaged; nothing was changed"),
});
