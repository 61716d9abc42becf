import { openLog } from "@reeve/store";
import { nearest } from "../documents/nearest.ts";
import { ReeveError } from "../findings/errors.ts";
import type { GitReading } from "../git/reading.ts";
import { join, listHomes } from "../layer/home.ts";
import type { Layer } from "../layer/layer.ts";
import { parseDuration } from "../policy/policy.ts";
import type { AbsPath } from "../system/paths.ts";
import { events } from "./events.ts";
import {
  type LedgerEvent,
  type LedgerLine,
  ledgerPath,
  parseLedger,
  parseLedgerEvent,
  readLedger,
  stateFolder,
} from "./ledger.ts";

export interface HistoryFilter {
  readonly task: string | undefined;
  readonly event: string | undefined;
  /** `<n>s|m|h|d` ago, or an ISO time. */
  readonly since: string | undefined;
}

function sinceTime(text: string, now: Date): number {
  const seconds = parseDuration(text);
  const iso = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.test(text);
  const time = seconds === undefined ? (iso ? Date.parse(text) : Number.NaN) : now.getTime() - seconds * 1000;
  if (Number.isNaN(time)) {
    throw new ReeveError("USAGE", `--since is '${text}'`, { hint: "write 30m, 12h, 7d or 2026-09-03T19:30:00Z" });
  }
  return time;
}

/** The test a line must pass; a mistyped event is refused rather than matching nothing. */
export function planFilter(filter: HistoryFilter, now: Date): (event: LedgerEvent) => boolean {
  const { task, event } = filter;
  if (event !== undefined && !Object.hasOwn(events, event)) {
    const guess = nearest(event, Object.keys(events));
    const hint = guess === undefined ? `events: ${Object.keys(events).join(", ")}` : `did you mean '${guess}'?`;
    throw new ReeveError("USAGE", `there is no event '${event}'`, { hint });
  }
  const from = filter.since === undefined ? undefined : sinceTime(filter.since, now);
  return (line) =>
    (task === undefined || line["task_id"] === task) &&
    (event === undefined || line.event === event) &&
    (from === undefined || Date.parse(line.ts) >= from);
}

const archiveName = /^ledger\.([0-9TZ]+)(?:-(\d+))?\.jsonl\.archived$/;

/** Archives of one second are numbered from the second one on. */
function archiveOrder(name: string): string {
  const [, stamp = "", number = "1"] = archiveName.exec(name) ?? [];
  return `${stamp}-${number.padStart(6, "0")}`;
}

function readArchives(layer: Layer, folder: AbsPath): readonly LedgerLine[] {
  const { system } = layer;
  const names = (system.list(folder) ?? []).map((entry) => entry.name);
  return names
    .filter((name) => archiveName.test(name))
    .sort((a, b) => archiveOrder(a).localeCompare(archiveOrder(b), "en"))
    .flatMap((name) => parseLedger(system.readBytes(join(folder, name)) ?? new Uint8Array(), name).lines);
}

/** This checkout's lines, oldest first; with `archives` the rotated ones too. */
export function readHistory(layer: Layer, archives: boolean): readonly LedgerLine[] {
  const current = readLedger(layer).lines;
  return archives ? [...readArchives(layer, layer.locate(stateFolder)), ...current] : current;
}

/** Lines of every checkout of the repository, removed worktrees included, by time. */
export function readAllHistory(layer: Layer, git: GitReading): readonly LedgerLine[] {
  const { system, repository } = layer;
  const folders = listHomes(system, repository, git.worktrees());
  const lines = folders.flatMap((home) => {
    const bytes = system.readBytes(join(home, "state", "ledger.jsonl")) ?? new Uint8Array();
    return [...readArchives(layer, join(home, "state")), ...parseLedger(bytes).lines];
  });
  return lines.sort((a, b) => (a.value.ts < b.value.ts ? -1 : a.value.ts > b.value.ts ? 1 : 0));
}

/** Lines that are appended from now on, until the signal. */
export async function* followHistory(layer: Layer, signal: AbortSignal): AsyncGenerator<LedgerLine> {
  const log = openLog({ path: layer.locate(ledgerPath), parse: parseLedgerEvent });
  const fromLine = readLedger(layer).count + 1;
  for await (const line of log.watch({ signal, fromLine })) yield line;
}
