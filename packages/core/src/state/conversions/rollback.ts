import { applyPlan, type Change } from "@reeve/store";
import { ReeveError } from "../../findings/errors.ts";
import { timestamp } from "../../records/time.ts";
import type { AbsPath } from "../../system/paths.ts";
import { type Episode, type EpisodeFile, hashOf, imagePath, readEpisodes, readImage, writeEpisode } from "./episode.ts";
import { readFile, replaceImage } from "./overlay.ts";
import { applyOptions, type ConversionPlace, locate, rootOf } from "./place.ts";
import { readMarker, readStamp, removeMarker, stampPath } from "./stamp.ts";

/** A file a rollback does not touch. */
export interface LeftFile {
  readonly path: string;
  readonly reason: string;
  /** Where its content from before the conversion is kept; `null` when it was not there, or is not kept any more. */
  readonly pre_image: AbsPath | null;
}

/** What putting an episode back comes to. */
export interface Rollback {
  readonly episode: Episode;
  /** Paths that go back to what they were. */
  readonly restored: readonly string[];
  readonly left: readonly LeftFile[];
  readonly changes: readonly Change[];
}

/** An episode by its identity; throws `NOT_FOUND` naming the ones there are. */
export function findEpisode(place: ConversionPlace, id: string): Episode {
  const episodes = readEpisodes(place);
  const found = episodes.find((episode) => episode.id === id);
  if (found !== undefined) return found;
  throw new ReeveError("NOT_FOUND", `no conversion of this checkout is called '${id}'`, {
    hint: "reeve state journal",
  });
}

/**
 * What puts an episode's files back: each that is as the episode left it. One that was changed since is left, and so is
 * one whose pre-image is gone. Throws `REFUSED` for an episode that changed nothing or whose pre-images were pruned.
 */
export function planRollback(place: ConversionPlace, episode: Episode): Rollback {
  if (episode.state === "abandoned") {
    throw new ReeveError("REFUSED", `${episode.id} ended before it changed anything`, { hint: "reeve state journal" });
  }
  if (episode.pruned) {
    throw new ReeveError("REFUSED", `what was there before ${episode.id} is kept for seven days, and those are over`);
  }
  const outcomes = episode.files.map((file) => planFile(place, file));
  const changes = outcomes.flatMap(({ change }) => (change === undefined ? [] : [change]));
  const left = outcomes.flatMap((outcome) => (outcome.left === undefined ? [] : [outcome.left]));
  const restored = outcomes.flatMap(({ path, change }) => (change === undefined ? [] : [path]));
  return { episode, restored, left, changes: [...changes, ...planTraces(place, episode, left.length === 0)] };
}

/** Puts an episode back and writes that down. The caller holds the layer's lock. */
export async function putBack(place: ConversionPlace, episode: Episode): Promise<Rollback> {
  const rollback = planRollback(place, episode);
  const left = rollback.left.map(({ path }) => path);
  const isOver = left.length === 0 || episode.state === "open";
  const state = isOver ? "put-back" : episode.state;
  const ended_at = isOver ? timestamp(place.system.now()) : episode.ended_at;
  await writeEpisode(place, { ...episode, state, left, ended_at });
  await applyPlan({ changes: rollback.changes }, applyOptions(place));
  return { ...rollback, episode: { ...episode, state, left } };
}

/** One sentence for a file that was left. */
export function describeLeft({ path, reason, pre_image }: LeftFile): string {
  const kept = pre_image === null ? "it was not there before" : `as it was before: ${pre_image}`;
  return `${path} ${reason} and is left as it is; ${kept}`;
}

interface FileOutcome {
  readonly path: string;
  readonly change?: Change;
  readonly left?: LeftFile;
}

function planFile(place: ConversionPlace, file: EpisodeFile): FileOutcome {
  const { path } = file;
  const current = readFile(place, path);
  const hash = hashOf(place, current);
  const image = imagePath(place, file);
  const leave = (reason: string): FileOutcome => ({ path, left: { path, reason, pre_image: image ?? null } });
  if (current === undefined && place.system.info(locate(place, path)) !== undefined)
    return leave("is no file any more");
  if (hash === file.before) return { path };
  if (!file.after.includes(hash)) return leave("was changed after its conversion");
  if (image === undefined) return { path, change: replaceImage(place, path, { before: current, after: undefined }) };
  const bytes = readImage(place, image);
  if (bytes === undefined) return leave("cannot be put back, for the copy of it is gone or damaged,");
  const after = { bytes, mode: file.mode ?? undefined };
  return { path, change: replaceImage(place, path, { before: current, after }) };
}

/** Takes the marker of an open episode away, and puts the stamp back that a committed one replaced. */
function planTraces(place: ConversionPlace, episode: Episode, isWhole: boolean): readonly Change[] {
  if (readMarker(place) === episode.id) return [removeMarker(place)];
  if (!isWhole || readStamp(place)?.episode !== episode.id) return [];
  const target = rootOf(place, stampPath);
  return episode.stamp_before === null
    ? [{ kind: "remove", ...target }]
    : [{ kind: "write", ...target, bytes: episode.stamp_before, mode: 0o600 }];
}
