import { deriveLabel, type Label } from "../git/divergence.ts";
import type { Head } from "../git/head.ts";
import type { GitReading } from "../git/reading.ts";
import { join, listHomes } from "../layer/home.ts";
import type { Layer } from "../layer/layer.ts";
import type { AbsPath } from "../system/paths.ts";
import { recordedHead } from "../work/standing.ts";
import { readLedger } from "./ledger.ts";
import { isNote, type Note, type NoteKind, readNotes } from "./note.ts";

function ledgerOrder(layer: Layer): ReadonlyMap<string, number> {
  const paths = readLedger(layer).lines.flatMap(({ line, value }) => {
    const path = value["handover_path"] ?? value["checkpoint_path"];
    return typeof path === "string" ? [[path, line] as const] : [];
  });
  return new Map(paths);
}

/** A checkout's records, newest first: by the time inside, then by ledger line within one second. */
export async function listNotes(layer: Layer, kind: NoteKind): Promise<readonly Note[]> {
  const notes = (await readNotes(layer, kind)).filter(isNote);
  const order = ledgerOrder(layer);
  const at = (note: Note): number => order.get(note.path) ?? 0;
  return [...notes].sort((a, b) => {
    if (a.front.created_at !== b.front.created_at) return a.front.created_at < b.front.created_at ? 1 : -1;
    return at(b) - at(a);
  });
}

/** The same layer with another checkout's half. */
function withHome(layer: Layer, path: AbsPath): Layer {
  const { system } = layer;
  const locate = (statePath: string): AbsPath =>
    statePath.startsWith(".ai/local/") ? join(path, statePath.slice(".ai/local/".length)) : layer.locate(statePath);
  return {
    ...layer,
    home: { ...layer.home, path, exists: true },
    locate,
    read: (statePath) => system.readText(locate(statePath)),
    readBytes: (statePath) => system.readBytes(locate(statePath)),
    list: (statePath) => (system.list(locate(statePath)) ?? []).map((entry) => entry.name),
  };
}

function otherLayers(layer: Layer, git: GitReading): readonly Layer[] {
  return listHomes(layer.system, layer.repository, git.worktrees())
    .filter((home) => home !== layer.home.path)
    .map((home) => withHome(layer, home));
}

/**
 * The prior record about the work happening here: same worktree and branch, else same branch in any checkout of the
 * repository, else nothing. A detached head has no branch to follow.
 */
export async function resolveNote(layer: Layer, git: GitReading, kind: NoteKind): Promise<Note | undefined> {
  const branch = git.head().branch;
  const own = await listNotes(layer, kind);
  const same = own.filter((note) => note.front.branch === (branch ?? "DETACHED"));
  const here =
    same.find((note) => note.front.worktree === layer.repository.top) ?? (branch === undefined ? undefined : same[0]);
  if (here !== undefined || branch === undefined) return here;
  const others = await Promise.all(otherLayers(layer, git).map((other) => listNotes(other, kind)));
  return others
    .flat()
    .filter((note) => note.front.branch === branch)
    .sort((a, b) => (a.front.created_at < b.front.created_at ? 1 : -1))[0];
}

/** A record's label against the present; git is asked only for a commit that is not HEAD. */
export function labelNote(git: GitReading, note: Note): Label {
  const recorded: Head = recordedHead(note.front);
  const current = git.head();
  if (recorded.branch !== current.branch || recorded.head === current.head) return deriveLabel(recorded, current, true);
  const history = git.history(recorded.head);
  return deriveLabel(recorded, current, history.kind === "missing" ? "missing" : history.ancestor);
}
