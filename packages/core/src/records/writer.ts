import type { Change, Plan } from "@reeve/store";
import type { Head } from "../git/head.ts";
import type { GitReading } from "../git/reading.ts";
import { createChange, type Layer } from "../layer/layer.ts";
import { readTouched } from "../work/subject.ts";
import { type Task, taskChange } from "../work/task.ts";
import { ledgerChange } from "./ledger.ts";
import { type NoteFrontMatter, type NoteKind, noteFolders, renderNote, renderNoteName } from "./note.ts";
import { timestamp } from "./time.ts";

/** Stamps the task as still worked on, without a record. */
export function planCheckpointStamp(layer: Layer, head: Head, task: Task): Plan {
  const stamped = { ...task, checkpoint_at: timestamp(layer.system.now()) };
  const event = { event: "task.checkpoint", payload: { task_id: task.id } } as const;
  return { changes: [taskChange(layer, stamped), ledgerChange(layer, head, event)] };
}

/** The computed front matter of a new handover or checkpoint. */
export function deriveFrontMatter(layer: Layer, git: GitReading, task: Task | undefined): NoteFrontMatter {
  const head = git.head();
  const status = git.status();
  const changed =
    task === undefined ? status.entries.map((entry) => entry.path) : readTouched(git, task).map((file) => file.path);
  return {
    schema_version: 1,
    created_at: timestamp(layer.system.now()),
    task_id: task?.id ?? "none",
    profile: task?.profile ?? "none",
    owner: task?.owner ?? layer.system.env["USER"] ?? "unknown",
    repository_id: layer.repository.commonDir,
    worktree: layer.repository.top,
    branch: head.branch ?? "DETACHED",
    head: head.head ?? "NONE",
    working_tree: status.clean ? "clean" : "dirty",
    changed_files: changed,
    changed_files_excluded: 0,
  };
}

export interface NewNote {
  readonly kind: NoteKind;
  readonly front: NoteFrontMatter;
  readonly body: string;
}

export interface PlannedNote {
  readonly path: string;
  readonly change: Change;
}

/** One new record file. */
export function planNote(layer: Layer, note: NewNote): PlannedNote {
  const path = `${noteFolders[note.kind]}${renderNoteName(note.front, layer.system.randomHex(16))}`;
  return { path, change: createChange(layer, path, renderNote(note.front, note.body)) };
}
