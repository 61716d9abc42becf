import { plural } from "@reeve/core/findings/plural.ts";
import type { ConversionPlace } from "@reeve/core/state/conversions/place.ts";
import {
  describeLeft,
  findEpisode,
  type LeftFile,
  planRollback,
  putBack,
  type Rollback,
} from "@reeve/core/state/conversions/rollback.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";

interface RollbackResult {
  readonly dry_run: boolean;
  readonly episode: string;
  readonly restored: readonly string[];
  readonly left: readonly LeftFile[];
}

export const stateRollback: Command = defineCommand({
  name: "state rollback",
  summary: "put the files of a conversion back as they were",
  about:
    "For going back to an older Reeve: the one that converted them would do so again in its next command that writes. A file that was changed after its conversion is left as it is, and named with where its earlier content is kept. Reeve works on the files as they lie, so an older one can do this too.",
  examples: [
    {
      command: "reeve state rollback 20300101T000000Z-1a2b3c4d --dry-run",
      shows: "what would be put back, and what not",
    },
  ],
  args: { positionals: [{ name: "episode", summary: "as reeve state journal names it", required: true }] },
  class: "state-mutating",
  unconverted: true,
  needs: "layer",
  surfaces: ["cli"],
  output: "value",
  reads: [".ai/local/run/"],
  writes: [".ai/local/run/"],
  result: {
    dry_run: "nothing was changed, this is what would be",
    episode: "its identity",
    restored: "paths that are as they were before",
    left: "path, reason, and pre_image: where its earlier content is kept (null when it was not there)",
  },
  run({ episode: id }, { layer, system, version }): Outcome<RollbackResult> {
    const place: ConversionPlace = { system, version, repository: layer.repository, home: layer.home };
    const episode = findEpisode(place, id);
    return {
      result: resultOf(planRollback(place, episode), true),
      upkeep: async () => resultOf(await putBack(place, episode), false),
    };
  },
  text: renderRollback,
});

function resultOf({ episode, restored, left }: Rollback, isDry: boolean): RollbackResult {
  return { dry_run: isDry, episode: episode.id, restored, left };
}

function renderRollback({ dry_run, episode, restored, left }: RollbackResult): string {
  const verb = dry_run ? "would put back" : "put back";
  return [
    ...restored.map((path) => `${verb} ${path}`),
    ...left.map(describeLeft),
    restored.length === 0
      ? `${episode}: nothing to put back`
      : `${episode}: ${verb} ${plural(restored.length, "file")}`,
  ].join("\n");
}
