import { applyPlan } from "@reeve/store";
import { plural } from "../../findings/plural.ts";
import { compactTimestamp, timestamp } from "../../records/time.ts";
import { type Conversions, digestOf } from "./conversion.ts";
import { type Episode, type EpisodeFile, hashOf, keepImages, readEpisodes, writeEpisode } from "./episode.ts";
import { type FileChange, type FileImage, replaceImage } from "./overlay.ts";
import { applyOptions, type ConversionPlace } from "./place.ts";
import { type ConversionPlan, planConversions } from "./plan.ts";
import { pruneEpisodes } from "./prune.ts";
import { describeLeft, putBack } from "./rollback.ts";
import {
  isCurrent,
  readMarker,
  readStamp,
  refuseNewer,
  removeMarker,
  renderStamp,
  type Stamp,
  writeMarker,
  writeStamp,
} from "./stamp.ts";

/**
 * Brings the layer's files to today's shapes, as one episode that is undone as a whole if it does not get to its end.
 * Answers what a person should be told. The caller holds the layer's lock and has finished what a crash left in its
 * journal. Throws `STATE_NEWER`, and `INTERNAL` when a step fails, both with nothing changed.
 */
export async function runConversions(place: ConversionPlace, conversions: Conversions): Promise<readonly string[]> {
  const digest = digestOf(place.system, conversions);
  const stamp = readStamp(place);
  refuseNewer(place, stamp, digest);
  const notices: string[] = [];
  const open = await resolveOpen(place, digest, notices);
  const plan = planConversions(place, conversions);
  if (plan.changes.length > 0) {
    const episode = await openEpisode(place, { plan, digest, open, stamp });
    await applyEpisode(place, episode, plan);
    notices.push(describeEpisode(episode, plan), ...(await commit(place, episode, conversions)));
  } else if (open !== undefined) {
    notices.push(`the conversion ${open.id} was interrupted and is taken up`);
    notices.push(...(await commit(place, open, conversions)));
  } else if (!isCurrent(stamp, digest)) {
    const kept = stamp?.kept === true;
    const changes = [writeStamp(place, { ...stampOf(place, digest), episode: null, kept })];
    await applyPlan({ changes }, applyOptions(place));
  }
  await pruneEpisodes(place);
  return notices;
}

/** The open episode, if these steps go on with it; one of other steps is put back. */
async function resolveOpen(place: ConversionPlace, digest: string, notices: string[]): Promise<Episode | undefined> {
  const marker = readMarker(place);
  if (marker === undefined) return undefined;
  const episode = readEpisodes(place).find(({ id }) => id === marker);
  if (episode?.digest === digest) return episode;
  if (episode === undefined) {
    await applyPlan({ changes: [removeMarker(place)] }, applyOptions(place));
    notices.push(`what was there before the conversion '${marker}' is gone; its files stay as they are`);
    return undefined;
  }
  const { restored, left } = await putBack(place, episode);
  notices.push(
    `${plural(restored.length, "file")} put back: Reeve ${episode.reeve} did not finish the conversion ${episode.id}`,
    ...left.map(describeLeft),
  );
  return undefined;
}

interface Opening {
  readonly plan: ConversionPlan;
  readonly digest: string;
  readonly open: Episode | undefined;
  readonly stamp: Stamp | undefined;
}

/** Keeps the pre-images, then the record that names them; nothing of the layer is changed yet. */
async function openEpisode(place: ConversionPlace, opening: Opening): Promise<Episode> {
  const { plan, digest, open, stamp } = opening;
  const now = place.system.now();
  const base: Episode = open ?? {
    id: `${compactTimestamp(now)}-${place.system.randomHex(8)}`,
    digest,
    reeve: place.version,
    conversions: [],
    top: place.repository.top,
    state: "open",
    opened_at: timestamp(now),
    ended_at: null,
    files: [],
    left: [],
    stamp_before: stamp === undefined ? null : renderStamp(stamp),
    pruned: false,
  };
  const known = new Map(base.files.map((file) => [file.path, file]));
  for (const change of plan.changes) known.set(change.path, fileOf(place, change, known.get(change.path)));
  const conversions = [...new Set([...base.conversions, ...plan.wanted])];
  const episode: Episode = { ...base, conversions, files: [...known.values()] };
  await keepImages(
    place,
    plan.changes.flatMap(({ before }): FileImage[] => (before === undefined ? [] : [before])),
  );
  await writeEpisode(place, episode);
  return episode;
}

/** What an episode made itself keeps its true original; what somebody wrote since is an original of its own. */
function fileOf(place: ConversionPlace, change: FileChange, known: EpisodeFile | undefined): EpisodeFile {
  const before = hashOf(place, change.before);
  const after = hashOf(place, change.after);
  if (known !== undefined && (known.before === before || known.after.includes(before))) {
    return { ...known, after: [...new Set([...known.after, after])] };
  }
  return { path: change.path, before, mode: change.before?.mode ?? null, after: [after] };
}

/** Changes the files and sets the marker, all or nothing. Removals come first, for a file may have to make way for a folder. */
async function applyEpisode(place: ConversionPlace, episode: Episode, plan: ConversionPlan): Promise<void> {
  const changes = plan.changes.map((change) => replaceImage(place, change.path, change));
  const removals = changes.filter(({ kind }) => kind === "remove");
  const writes = changes.filter(({ kind }) => kind !== "remove");
  await applyPlan({ changes: [...removals, ...writes, writeMarker(place, episode.id)] }, applyOptions(place));
}

/**
 * Commits what converged. What somebody changed again meanwhile is said, and left open for the next command; what a step
 * fails on is put back.
 */
async function commit(place: ConversionPlace, episode: Episode, conversions: Conversions): Promise<readonly string[]> {
  let unsettled: readonly string[];
  try {
    unsettled = planConversions(place, conversions).changes.map(({ path }) => path);
  } catch (error) {
    await putBack(place, { ...episode, state: "open" });
    throw error;
  }
  if (unsettled.length > 0) {
    return [`${unsettled.join(", ")} changed meanwhile; the next writing command goes on with ${episode.id}`];
  }
  const stamp = { ...stampOf(place, episode.digest), episode: episode.id, kept: true };
  await applyPlan({ changes: [writeStamp(place, stamp), removeMarker(place)] }, applyOptions(place));
  await writeEpisode(place, { ...episode, state: "committed", ended_at: stamp.committed_at });
  return [];
}

function stampOf(place: ConversionPlace, digest: string): Pick<Stamp, "reeve" | "digest" | "committed_at"> {
  return { reeve: place.version, digest, committed_at: timestamp(place.system.now()) };
}

function describeEpisode({ id }: Episode, { changes, wanted }: ConversionPlan): string {
  return `${plural(changes.length, "file")} converted (${wanted.join(", ")}); to undo it: reeve state rollback ${id}`;
}
