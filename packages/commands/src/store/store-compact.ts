import { ReeveError } from "@reeve/core/findings/errors.ts";
import { shellWord } from "@reeve/core/findings/quote.ts";
import { openStore } from "@reeve/store";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { type RewriteResult, type Rewritten, renderRewritten, rewrittenMembers, rewrittenOf } from "./rewritten.ts";
import { findTarget, findTargets, keyFlag, type Target } from "./target.ts";

export const storeCompact: Command = defineCommand({
  name: "store compact",
  summary: "rewrite a store to one line for each key",
  about:
    "In order of first appearance. Damaged lines go to <path>.damaged. Stores do it of themselves when they have more than twice as many lines as keys, plus 64; logs are never compacted.",
  examples: [
    { command: "reeve store compact", shows: "every store of the layer" },
    { command: "reeve store compact jobs.jsonl --key id --dry-run", shows: "what one would come to" },
  ],
  args: { positionals: [{ name: "path", summary: "a store; all of the layer's when left out" }], flags: keyFlag },
  class: "state-mutating",
  needs: "any",
  surfaces: ["cli"],
  output: "value",
  reads: [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
  writes: [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
  result: rewrittenMembers,
  async run(args, context): Promise<Outcome<RewriteResult>> {
    const targets = chooseStores(context, args.path, args.key);
    const compact = async (dryRun: boolean): Promise<RewriteResult> => {
      const stores: Rewritten[] = [];
      for (const target of targets) stores.push(await compactOne(target, dryRun));
      return { dry_run: dryRun, stores };
    };
    return context.dry
      ? { result: await compact(true), upkeep: () => compact(true) }
      : { result: { dry_run: false, stores: [] }, upkeep: () => compact(false) };
  },
  text: (result: RewriteResult) => renderRewritten(result, "every key has one line; nothing was changed"),
});

type KeyedTarget = Target & { readonly key: string };

function chooseStores(context: Context, path: string | undefined, key: string | undefined): readonly KeyedTarget[] {
  if (path === undefined) return findTargets(context, path, key).filter(isToolStore);
  const target = findTarget(context, path, key);
  if (isToolStore(target)) return [target];
  const { shown, isDeclared, edited } = target;
  if (edited === "hand") {
    throw new ReeveError("REFUSED", `${shown} is edited by hand, and by nothing else`);
  }
  if (isDeclared) {
    throw new ReeveError("REFUSED", `${shown} is a log: each of its lines counts, and none is dropped`);
  }
  throw new ReeveError("USAGE", `${shown} is a store only by its key, and which member that is is not known`, {
    hint: `reeve store compact ${shellWord(shown)} --key <member>`,
  });
}

function isToolStore(target: Target): target is KeyedTarget {
  return target.key !== undefined && target.edited === "tool";
}

async function compactOne({ path, shown, key }: KeyedTarget, dryRun: boolean): Promise<Rewritten> {
  const store = openStore({ path, key });
  try {
    return rewrittenOf(shown, await store.compact({ dryRun }));
  } finally {
    await store.close();
  }
}
