import { plural } from "@reeve/core/findings/plural.ts";
import { describeHomes, type KnownHome } from "@reeve/core/layer/known-homes.ts";
import type { Layer } from "@reeve/core/layer/layer.ts";
import { readTable } from "@reeve/core/state/contributed.ts";
import { examine } from "@reeve/core/state/health.ts";
import { listFiles, type SurveyedFile } from "@reeve/core/state/survey.ts";
import { listOutside } from "@reeve/core/state/survey-outside.ts";
import type { StateEntry, StateTable } from "@reeve/store/table";
import type { Arguments, Outcome } from "../command.ts";
import type { Context } from "../context.ts";

export const listArguments = {
  flags: {
    group: {
      type: "string",
      value: "class",
      choices: ["config", "records", "local", "identity", "secrets"],
      summary: "only one class of files",
    },
  },
} as const;

/** A file of the layer, as `state list` shows it. */
interface ListedFile {
  readonly path: string;
  /** Where it really lies on this machine. */
  readonly place: string;
  readonly entry: string | null;
  readonly group: string | null;
  readonly holds: string | null;
  readonly bytes: number;
  readonly changed_at: string;
  readonly health: "ok" | "bad";
  /** What is wrong, if anything. */
  readonly ailments: readonly string[];
}

/** An entry of the table. */
interface ListedEntry {
  readonly path: string;
  readonly group: string;
  readonly holds: string;
  readonly purpose: string;
  readonly files: number;
  readonly bytes: number;
  readonly retention: StateEntry["retention"] | null;
}

/** A file Reeve keeps outside the layer: in git's own folder, the user's state or the user's cache. */
interface OutsideFile {
  readonly path: string;
  readonly entry: string | null;
  readonly group: string | null;
  readonly bytes: number;
  readonly health: "ok" | "bad";
}

export interface ListResult {
  readonly files: readonly ListedFile[];
  readonly homes: readonly KnownHome[];
  readonly outside: readonly OutsideFile[];
  readonly entries: readonly ListedEntry[];
}

/** The members of {@link ListResult}, for the reference. */
export const listMembers = {
  files:
    "path, place (on this machine), entry, group, holds, bytes, changed_at, health (ok or bad) and ailments of every file",
  homes:
    "path, checkout and state of every checkout's half: this, used, left (its worktree is gone) or aside (its name was taken again)",
  outside: "path (on this machine), entry, group, bytes and health of every file outside the layer",
  entries: "path, group, holds, purpose, files, bytes and retention of every entry of the table",
} as const;

/** What `reeve state` and `reeve state list` answer. */
export async function runList(
  { group }: Arguments<typeof listArguments>,
  { layer, git }: Context,
): Promise<Outcome<ListResult>> {
  const table = readTable(layer);
  const all = listFiles(layer, table);
  const files = all.filter((file) => group === undefined || file.group === group);
  const entries = table.entries.filter((entry) => group === undefined || table.traitsOf(entry).group === group);
  const listed: ListedFile[] = [];
  for (const file of files) listed.push(await listOne(layer, file));
  const outside = listOutside(layer).filter((file) => group === undefined || file.group === group);
  return {
    result: {
      files: listed,
      homes: describeHomes(layer.system, layer.repository, git.worktrees()),
      outside: outside.map(listOutsideOne),
      entries: entries.map((entry) => summarise(table, entry, all)),
    },
  };
}

/** Nobody but the user may read what lies outside the layer in *secrets*, and nothing undeclared belongs there. */
function listOutsideOne({ path, entry, group, isDerived, info }: SurveyedFile): OutsideFile {
  const isOpen = (group === "secrets" || group === "identity") && (info.mode & 0o077) !== 0;
  const isKnown = entry !== undefined || isDerived;
  return {
    path,
    entry: entry?.path ?? null,
    group: group ?? null,
    bytes: info.size,
    health: isKnown && !isOpen && info.kind === "file" ? "ok" : "bad",
  };
}

async function listOne(layer: Layer, file: SurveyedFile): Promise<ListedFile> {
  const ailments = await examine(layer, file);
  return {
    path: file.path,
    place: layer.system.realPath(layer.locate(file.path)) ?? layer.locate(file.path),
    entry: file.entry?.path ?? null,
    group: file.group ?? null,
    holds: file.isDerived ? null : (file.entry?.holds ?? null),
    bytes: file.info.size,
    changed_at: new Date(file.info.mtimeMs).toISOString(),
    health: ailments.length === 0 ? "ok" : "bad",
    ailments: ailments.map(({ line, reason }) => (line === undefined ? reason : `line ${line}: ${reason}`)),
  };
}

function summarise(table: StateTable, entry: StateEntry, files: readonly SurveyedFile[]): ListedEntry {
  const own = files.filter((file) => file.entry?.path === entry.path);
  return {
    path: entry.path,
    group: table.traitsOf(entry).group,
    holds: entry.holds,
    purpose: entry.purpose,
    files: own.length,
    bytes: own.reduce((sum, { info }) => sum + info.size, 0),
    retention: entry.retention ?? null,
  };
}

const homeWords: Readonly<Record<KnownHome["state"], (checkout: string) => string>> = {
  this: () => "this checkout's half: .ai/local lies there",
  used: (checkout) => `of the worktree ${checkout}`,
  left: (checkout) => `its worktree ${checkout} is gone; reeve history --all-checkouts still reads its records`,
  aside: () =>
    "of an earlier worktree, whose name was taken again; reeve history --all-checkouts still reads its records",
};

/** A table of files by class, and what is declared and not there. */
export function renderList({ files, homes, outside, entries }: ListResult): string {
  const wide = Math.max(4, ...files.map(({ path }) => path.length));
  const rows = files.map((file) => {
    const bad = file.ailments.length === 0 ? "" : `  ${file.ailments[0]}`;
    const size = String(file.bytes).padStart(9);
    return `${(file.group ?? "-").padEnd(8)}  ${file.path.padEnd(wide)}  ${size}  ${file.changed_at.slice(0, 19)}Z  ${file.health}${bad}`;
  });
  const absent = entries.filter((entry) => entry.files === 0).map(({ path }) => path);
  const head = `${"class".padEnd(8)}  ${"file".padEnd(wide)}  ${"bytes".padStart(9)}  ${"changed".padEnd(20)}  health`;
  return [
    ...(rows.length === 0 ? [] : [head, ...rows]),
    ...outside.map(({ path, group, health }) => `outside   ${path}  ${group ?? "-"}  ${health}`),
    ...homes.map(({ path, checkout, state }) => `home      ${path}  ${homeWords[state](checkout)}`),
    `${plural(files.length, "file")}, ${plural(entries.length, "entry")} in the table; not there: ${absent.join(", ") || "none"}`,
  ].join("\n");
}
