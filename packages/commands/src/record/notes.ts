import type { Label } from "@reeve/core/git/divergence.ts";
import type { Note, NoteKind } from "@reeve/core/records/note.ts";
import { labelNote, listNotes, resolveNote } from "@reeve/core/records/resolve.ts";
import { findTask } from "@reeve/core/work/subject.ts";
import type { Outcome } from "../command.ts";
import type { Context } from "../context.ts";

export interface RecordRow {
  readonly path: string;
  readonly label: Label;
  readonly created_at: string;
  readonly task: string;
  readonly branch: string;
  readonly head: string;
}

/** What `checkpoint` and `handover` answer. */
export type NoteResult =
  | { readonly kind: "written"; readonly path: string; readonly task: string | undefined; readonly closed?: boolean }
  | { readonly kind: "stamped"; readonly task: string }
  | { readonly kind: "shown"; readonly record: RecordRow; readonly body: string; readonly pathAlone?: boolean }
  | { readonly kind: "listed"; readonly records: readonly RecordRow[] }
  | { readonly kind: "none"; readonly says: string };

function rowOf(context: Context, note: Note): RecordRow {
  const { created_at, task_id: task, branch, head } = note.front;
  return { path: note.path, label: labelNote(context.git, note), created_at, task, branch, head };
}

export async function listRecords(context: Context, kind: NoteKind): Promise<Outcome<NoteResult>> {
  const notes = await listNotes(context.layer, kind);
  return { result: { kind: "listed", records: notes.map((note) => rowOf(context, note)) } };
}

/** The record that is about the work here: the active task's own when it has one. */
export async function showRecord(context: Context, kind: NoteKind, pathAlone = false): Promise<Outcome<NoteResult>> {
  const { layer, git } = context;
  const task = await findTask(layer);
  const notes = await listNotes(layer, kind);
  const own = task === undefined ? undefined : notes.find((note) => note.front.task_id === task.id);
  const note = own ?? (await resolveNote(layer, git, kind));
  if (note === undefined) return { result: { kind: "none", says: `No relevant ${kind}.` } };
  return { result: { kind: "shown", record: rowOf(context, note), body: note.body, pathAlone } };
}

/** The result without what only the text needs. */
export function toNoteValue(result: NoteResult): unknown {
  if (result.kind !== "shown") return result;
  const { kind, record, body } = result;
  return { kind, record, body };
}

/** Members of the value, for the reference. */
export const noteMembers: Readonly<Record<string, string>> = {
  kind: "written, stamped, shown, listed or none",
  path: "of a written record: its path",
  task: "of a written or stamped one: the active task",
  closed: "of a written handover: the task was ended",
  record: "of a shown one: path, label, created_at, task, branch, head",
  body: "of a shown one: its text",
  records: "of a list: path, label, created_at, task, branch, head each",
  says: "when there is none: that",
};

export function renderNoteResult(result: NoteResult): string {
  switch (result.kind) {
    case "written":
      return result.path;
    case "stamped":
      return `${result.task}: checkpoint_at updated; no text, so no record`;
    case "none":
      return result.says;
    case "shown":
      if (result.pathAlone === true) return result.record.path;
      return `${result.record.path}\n${result.record.label} (recorded on ${result.record.branch} at ${result.record.head.slice(0, 7)})\n\n${result.body.trim()}`;
    case "listed":
      if (result.records.length === 0) return "none yet";
      return result.records
        .map((row) => `${row.created_at}  ${row.label.padEnd(17)}  ${row.task}  ${row.path}`)
        .join("\n");
  }
}
