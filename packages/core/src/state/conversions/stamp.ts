import { type Change, openDocument, readPending, StoreError } from "@reeve/store";
import { ReeveError } from "../../findings/errors.ts";
import { journalFile } from "../../layer/layer.ts";
import { statePath } from "../paths.ts";
import { noConversions } from "./conversion.ts";
import { type ConversionPlace, locate, rootOf } from "./place.ts";

/** The newest run that converted this checkout's files, or found nothing to convert. */
export interface Stamp {
  /** The version of Reeve that ran. */
  readonly reeve: string;
  /** The digest of its steps. */
  readonly digest: string;
  /** The episode it committed, when it changed something. */
  readonly episode: string | null;
  readonly committed_at: string;
  /** Are pre-images of committed episodes still to be pruned? */
  readonly kept: boolean;
}

/** Written when an episode commits, never on a read. */
export const stampPath: string = statePath(".ai/local/state/newest-run.json");
/** Names the episode whose changes are done and not committed; written and removed in the same plans as those. */
export const markerPath = ".ai/local/run/converting.json";

/** Reads the stamp; one that does not parse is none. Throws `STATE_NEWER` for one in a form of the future. */
export function readStamp(place: ConversionPlace): Stamp | undefined {
  const path = locate(place, stampPath);
  if (place.system.info(path) === undefined) return undefined;
  const state = openDocument<Stamp>({ path, steps: [], parse: parseStamp }).read();
  if (state.kind === "newer") throw newer(state.writtenBy ?? "a newer Reeve", null);
  return state.kind === "loaded" ? state.value : undefined;
}

export function renderStamp(stamp: Stamp): string {
  return `${JSON.stringify({ version: 1, writtenBy: `Reeve ${stamp.reeve}`, ...stamp }, null, 2)}\n`;
}

/** Throws `STATE_NEWER` when a newer Reeve with other steps has converted these files. */
export function refuseNewer({ version }: ConversionPlace, stamp: Stamp | undefined, digest: string): void {
  if (stamp === undefined || stamp.digest === digest) return;
  if (compareVersions(version, stamp.reeve) < 0) throw newer(`Reeve ${stamp.reeve}`, stamp.episode);
}

/** Are the files already as these steps leave them? */
export function isCurrent(stamp: Stamp | undefined, digest: string): boolean {
  return (stamp?.digest ?? noConversions) === digest;
}

/** How long pre-images are kept after their episode ended, in milliseconds. */
const keepMs = 7 * 86_400_000;

/** Is the time over for which the pre-images of an episode are kept that ended then? */
export function isOver({ system }: ConversionPlace, endedAt: string): boolean {
  return system.now().getTime() - Date.parse(endedAt) >= keepMs;
}

/** The episode that is done and not committed, as it will be once a plan left by a crash is finished. */
export function readMarker(place: ConversionPlace): string | undefined {
  const path = locate(place, markerPath);
  const planned = readPlanned(place, path);
  const bytes = planned === "absent" ? undefined : (planned ?? place.system.readBytes(path));
  return bytes === undefined ? undefined : parseMarker(Buffer.from(bytes).toString("utf8"));
}

/** A journal that cannot be read stops writers; readers take the files as they are. */
function readPlanned(place: ConversionPlace, path: string): Uint8Array | "absent" | undefined {
  try {
    return readPending(journalFile(place.home))?.read(path);
  } catch (error) {
    if (error instanceof StoreError && (error.code === "DAMAGED" || error.code === "NEWER")) return undefined;
    throw error;
  }
}

/** The change that sets the marker. */
export function writeMarker(place: ConversionPlace, episode: string): Change {
  const bytes = `${JSON.stringify({ episode })}\n`;
  return { kind: "write", ...rootOf(place, markerPath), bytes, mode: 0o600, dirMode: 0o700 };
}

export function removeMarker(place: ConversionPlace): Change {
  return { kind: "remove", ...rootOf(place, markerPath) };
}

export function writeStamp(place: ConversionPlace, stamp: Stamp): Change {
  const bytes = renderStamp(stamp);
  return { kind: "write", ...rootOf(place, stampPath), bytes, mode: 0o600, dirMode: 0o700 };
}

function parseStamp(members: Readonly<Record<string, unknown>>): Stamp {
  const { reeve, digest, episode, committed_at, kept } = members;
  if (typeof reeve !== "string" || typeof digest !== "string" || typeof committed_at !== "string") {
    throw new TypeError("is no stamp");
  }
  return { reeve, digest, committed_at, episode: typeof episode === "string" ? episode : null, kept: kept === true };
}

function parseMarker(text: string): string {
  try {
    const value = JSON.parse(text) as { readonly episode?: unknown } | null;
    return typeof value?.episode === "string" ? value.episode : "";
  } catch {
    return "";
  }
}

/** Compares `1.2.3`; what follows a hyphen comes before the version without it. */
function compareVersions(left: string, right: string): number {
  const [ours, theirs] = [numbersOf(left), numbersOf(right)];
  const at = ours.findIndex((number, index) => number !== theirs[index]);
  return at < 0 ? 0 : (ours[at] ?? 0) - (theirs[at] ?? 0);
}

function numbersOf(version: string): number[] {
  const [core = "", ...pre] = version.split("-");
  const numbers = core.split(".").map((part) => Number.parseInt(part, 10) || 0);
  return [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0, pre.length === 0 ? 1 : 0];
}

function newer(who: string, episode: string | null): ReeveError {
  const back = episode === null ? "" : `, or put the files back as they were: reeve state rollback ${episode}`;
  return new ReeveError("STATE_NEWER", `the layer's files were converted by ${who}; this Reeve is older`, {
    hint: `install that Reeve or a newer one${back}`,
    details: { path: stampPath },
  });
}
