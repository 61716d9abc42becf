import { plural } from "@reeve/core/findings/plural.ts";
import { type Episode, imagePath, readEpisodes } from "@reeve/core/state/conversions/episode.ts";
import type { ConversionPlace } from "@reeve/core/state/conversions/place.ts";
import { type Command, defineCommand } from "../command.ts";

interface ShownEpisode extends Omit<Episode, "files" | "left" | "stamp_before"> {
  readonly files: readonly string[];
  readonly left: readonly { readonly path: string; readonly pre_image: string | null }[];
}

interface JournalResult {
  readonly episodes: readonly ShownEpisode[];
  readonly pending: readonly string[];
}

export const stateJournal: Command = defineCommand({
  name: "state journal",
  summary: "show conversions of the layer's files, and plans that wait to be finished",
  about:
    "A Reeve with newer shapes of files converts them in the first command that writes, as one episode. What was there before is kept for seven days outside the repository.",
  examples: [{ command: "reeve state journal", shows: "each episode: when, by which Reeve, what became of it" }],
  args: {},
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/run/"],
  writes: [],
  result: {
    episodes:
      "oldest first: id, digest, reeve, conversions, top, state (open, committed, put-back, abandoned), opened_at, ended_at, files, left (path and pre_image), pruned",
    pending: "paths of an interrupted plan that the next writing command finishes",
  },
  run(_args, { layer, system, version }) {
    const place: ConversionPlace = { system, version, repository: layer.repository, home: layer.home };
    const episodes = readEpisodes(place).map((episode) => show(place, episode));
    return { result: { episodes, pending: layer.pending } };
  },
  text: renderJournal,
});

function show(place: ConversionPlace, episode: Episode): ShownEpisode {
  const { files, left, stamp_before: _stamp, ...rest } = episode;
  const isLeft = new Set(left);
  const kept = files.filter(({ path }) => isLeft.has(path));
  const shown = kept.map((file) => ({ path: file.path, pre_image: imagePath(place, file) ?? null }));
  return { ...rest, files: files.map(({ path }) => path), left: shown };
}

const meanings: Readonly<Record<Episode["state"], string>> = {
  open: "not finished; the next writing command goes on with it or puts it back",
  committed: "committed",
  "put-back": "put back",
  abandoned: "ended before anything was changed",
};

function renderJournal({ episodes, pending }: JournalResult): string {
  const rows = episodes.flatMap((episode) => [
    `${episode.id}  ${meanings[episode.state]}, ${plural(episode.files.length, "file")}, by Reeve ${episode.reeve}: ${episode.conversions.join(", ")}`,
    ...episode.left.map(
      ({ path, pre_image }) => `  left: ${path}${pre_image === null ? "" : `; before: ${pre_image}`}`,
    ),
    ...(episode.state === "committed" && !episode.pruned ? [`  undo: reeve state rollback ${episode.id}`] : []),
  ]);
  const waiting = pending.map((path) => `pending: ${path}`);
  const all = [...rows, ...waiting];
  return all.length === 0 ? "no conversion was ever needed here, and no plan waits" : all.join("\n");
}
