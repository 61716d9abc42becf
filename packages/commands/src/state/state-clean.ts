import { plural } from "@reeve/core/findings/plural.ts";
import { readTable } from "@reeve/core/state/contributed.ts";
import { pruneEpisodes } from "@reeve/core/state/conversions/prune.ts";
import { type CleanReport, clean, planClean } from "@reeve/core/state/janitor.ts";
import { StoreError } from "@reeve/store";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";

interface CleanResult {
  readonly dry_run: boolean;
  readonly removed: readonly { readonly path: string; readonly size: number; readonly why: string }[];
  readonly bytes: number;
  readonly problems: readonly { readonly path: string; readonly reason: string }[];
}

export const stateClean: Command = defineCommand({
  name: "state clean",
  summary: "remove what may be made again and is kept long enough",
  about:
    "Only files that Reeve's table declares with a retention, in this checkout's own half; records, links and what nobody declared stay. Goes with them: temporary files of processes that died, and what conversions kept more than seven days ago.",
  examples: [
    { command: "reeve state clean --dry-run", shows: "what would go, how large it is and why" },
    { command: "reeve state clean", shows: "what went" },
  ],
  args: {},
  class: "state-mutating",
  needs: "layer",
  surfaces: ["cli"],
  output: "value",
  reads: [".ai/local/cache/", ".ai/local/run/"],
  writes: [".ai/local/cache/", ".ai/local/run/"],
  result: {
    dry_run: "nothing was removed, this is what would be",
    removed: "path, size (bytes) and why",
    bytes: "of all that was removed",
    problems: "path and reason of what could not be removed or read",
  },
  run(_args, context): Outcome<CleanResult> {
    return {
      result: resultOf(planClean(context.layer, readTable(context.layer)), true),
      upkeep: () => cleanNow(context),
    };
  },
  text: renderClean,
});

async function cleanNow({ layer, system, version }: Context): Promise<CleanResult> {
  const report = await clean(layer, planClean(layer, readTable(layer)));
  const problems = [...report.problems];
  try {
    await pruneEpisodes({ system, version, repository: layer.repository, home: layer.home });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    problems.push({ path: error.path ?? "conversions", reason: error.message });
  }
  return resultOf({ ...report, problems }, false);
}

function resultOf({ targets, problems }: CleanReport, isDry: boolean): CleanResult {
  const removed = targets.map(({ path, size, why }) => ({ path, size, why }));
  return { dry_run: isDry, removed, bytes: removed.reduce((sum, { size }) => sum + size, 0), problems };
}

function renderClean({ dry_run, removed, bytes, problems }: CleanResult): string {
  const verb = dry_run ? "would remove" : "removed";
  const total = `${verb} ${plural(removed.length, "file")}, ${plural(bytes, "byte")}`;
  return [
    ...removed.map(({ path, size, why }) => `${verb} ${path} (${plural(size, "byte")}): ${why}`),
    ...problems.map(({ path, reason }) => `could not clean ${path}: ${reason}`),
    removed.length === 0 ? "nothing is old enough to go" : total,
  ].join("\n");
}
