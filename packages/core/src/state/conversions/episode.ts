import { join } from "node:path";
import { applyPlan, ensureDirSync, openStore, type Store } from "@reeve/store";
import type { AbsPath } from "../../system/paths.ts";
import type { FileImage } from "./overlay.ts";
import { type ConversionPlace, episodesFolder } from "./place.ts";
import { readMarker, readStamp } from "./stamp.ts";

/** A file an episode changed. A hash is a lower-case hexadecimal SHA-256, `null` absence. */
export interface EpisodeFile {
  readonly path: string;
  readonly before: string | null;
  /** The permission bits before. */
  readonly mode: number | null;
  /** What the episode made of it; more than one when it was resumed. */
  readonly after: readonly (string | null)[];
}

/**
 * `open`: changed and not committed, or about to be. `committed`: all steps had nothing left to do. `put-back`: its files
 * are as they were, but for those in `left`. `abandoned`: it ended before anything was changed.
 */
export type EpisodeState = "open" | "committed" | "put-back" | "abandoned";

/** One run of conversions that changed something, as the journal of episodes keeps it. */
export interface Episode {
  readonly id: string;
  readonly digest: string;
  /** The version of Reeve that ran. */
  readonly reeve: string;
  readonly conversions: readonly string[];
  /** The working tree. */
  readonly top: string;
  readonly state: EpisodeState;
  readonly opened_at: string;
  readonly ended_at: string | null;
  readonly files: readonly EpisodeFile[];
  /** Paths a rollback did not touch because they had been changed since. */
  readonly left: readonly string[];
  /** The text of the stamp this episode's took the place of. */
  readonly stamp_before: string | null;
  /** Are its pre-images gone? */
  readonly pruned: boolean;
}

/** Opens the record of episodes; the caller closes it. */
export function openEpisodes(place: ConversionPlace, options: { readonly readOnly: boolean }): Store<Episode> {
  const path = join(episodesFolder(place), "episodes.jsonl");
  return openStore<Episode>({
    path,
    key: "id",
    parse: parseEpisode,
    encode: (episode) => ({ ...episode }),
    mode: 0o600,
    readOnly: options.readOnly,
  });
}

/** Writes an episode down; it is on the disk when this returns. */
export async function writeEpisode(place: ConversionPlace, episode: Episode): Promise<void> {
  const store = openEpisodes(place, { readOnly: false });
  try {
    await store.put(episode);
  } finally {
    await store.close();
  }
}

/** Every episode of this checkout, oldest first, each in the state that the layer's own files tell. Writes nothing. */
export function readEpisodes(place: ConversionPlace): readonly Episode[] {
  if (place.system.info(join(episodesFolder(place), "episodes.jsonl") as AbsPath) === undefined) return [];
  const store = openEpisodes(place, { readOnly: true });
  return settled(place, store);
}

/**
 * What is written down about an episode comes after what it did, so a crash between the two leaves the record behind. The
 * marker and the stamp are changed in one plan with the files, and decide.
 */
export function settled(place: ConversionPlace, store: Store<Episode>): readonly Episode[] {
  const marker = readMarker(place);
  const stamp = readStamp(place);
  return [...store.entries()].map(([, episode]) => {
    if (episode.id === marker) return { ...episode, state: "open", ended_at: null };
    const isStamped = stamp?.episode === episode.id;
    if (isStamped && episode.state !== "committed") {
      return { ...episode, state: "committed", ended_at: stamp.committed_at };
    }
    if (!isStamped && episode.state === "open") return { ...episode, state: "abandoned", ended_at: episode.opened_at };
    return episode;
  });
}

/** The folder of the pre-images, each under its hash; episodes that changed the same content share one. */
export function imagesFolder(place: ConversionPlace): AbsPath {
  return join(episodesFolder(place), "images") as AbsPath;
}

/** Where the pre-image of a file lies; `undefined` for a file that was not there. */
export function imagePath(place: ConversionPlace, { before }: EpisodeFile): AbsPath | undefined {
  return before === null ? undefined : (join(imagesFolder(place), before) as AbsPath);
}

/** Copies contents beside the record; all are on the disk when this returns. */
export async function keepImages(place: ConversionPlace, images: readonly FileImage[]): Promise<void> {
  const root = imagesFolder(place);
  ensureDirSync(root, { mode: 0o700 });
  for (const { bytes } of images) {
    const change = { kind: "write", root, path: place.system.sha256(bytes), bytes, mode: 0o600 } as const;
    await applyPlan({ changes: [change] }, { journal: join(root, "journal") });
  }
}

/** The pre-image's content; `undefined` when it is gone or no longer what its name says. */
export function readImage({ system }: ConversionPlace, path: AbsPath): Uint8Array | undefined {
  const bytes = system.info(path)?.kind === "file" ? system.readBytes(path) : undefined;
  return bytes !== undefined && path.endsWith(system.sha256(bytes)) ? bytes : undefined;
}

/** The hash an episode knows a content by. */
export function hashOf({ system }: ConversionPlace, image: FileImage | undefined): string | null {
  return image === undefined ? null : system.sha256(image.bytes);
}

function parseEpisode(value: unknown): Episode {
  const episode = value as Episode;
  const isText = (text: unknown): boolean => typeof text === "string";
  const isHash = (hash: unknown): boolean => hash === null || (isText(hash) && /^[0-9a-f]{64}$/.test(hash as string));
  const isFile = ({ path, before, after, mode }: EpisodeFile): boolean =>
    isStatePath(path) && isHash(before) && Array.isArray(after) && after.every(isHash) && (mode === null || mode >= 0);
  if (!isText(episode.id) || !/^[0-9A-Za-z-]+$/.test(episode.id)) throw new TypeError("its identity is no name");
  if (![episode.digest, episode.reeve, episode.top, episode.state, episode.opened_at].every(isText)) {
    throw new TypeError("a member is missing");
  }
  if (![episode.files, episode.left, episode.conversions].every(Array.isArray) || !episode.files.every(isFile)) {
    throw new TypeError("its files are not those of an episode");
  }
  return episode;
}

/** A path of plain names in the layer; a record names no other. */
function isStatePath(path: unknown): boolean {
  return typeof path === "string" && path.startsWith(".ai/") && !/(^|\/)(\.{0,2})(\/|$)/.test(path);
}
