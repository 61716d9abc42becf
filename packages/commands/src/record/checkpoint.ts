import { ReeveError } from "@reeve/core/findings/errors.ts";
import { readPolicy } from "@reeve/core/policy/reader.ts";
import { policyValue } from "@reeve/core/policy/values.ts";
import { deriveCheckpoint } from "@reeve/core/records/derive.ts";
import { ledgerChange } from "@reeve/core/records/ledger.ts";
import { readDerivedFrom } from "@reeve/core/records/material.ts";
import { checkNoteBody } from "@reeve/core/records/note.ts";
import { timestamp } from "@reeve/core/records/time.ts";
import { deriveFrontMatter, planCheckpointStamp, planNote } from "@reeve/core/records/writer.ts";
import { findTask } from "@reeve/core/work/subject.ts";
import { taskChange } from "@reeve/core/work/task.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { listRecords, type NoteResult, noteMembers, renderNoteResult, showRecord, toNoteValue } from "./notes.ts";

async function readBody(context: Context, derive: boolean): Promise<string> {
  const cap = policyValue(await readPolicy(context.layer), "checkpoint.max_body_lines");
  if (derive) return deriveCheckpoint(await readDerivedFrom(context.layer, context.git), cap);
  const body = context.input.trim();
  checkNoteBody("checkpoint", body);
  const lines = body.split("\n").length;
  if (lines <= cap) return body;
  throw new ReeveError("RECORD_REFUSED", `the checkpoint has ${lines} lines; checkpoint.max_body_lines is ${cap}`, {
    hint: "say less, or write a handover: reeve handover",
  });
}

async function write(context: Context, derive: boolean): Promise<Outcome<NoteResult>> {
  const { layer, git, system } = context;
  const body = await readBody(context, derive);
  const task = await findTask(layer);
  const head = git.head();
  if (body === "") {
    if (task === undefined)
      throw new ReeveError("NO_TASK", "nothing to record: no text on standard input, and no active task", {
        hint: "reeve checkpoint --derive",
      });
    return { result: { kind: "stamped", task: task.id }, plan: planCheckpointStamp(layer, head, task) };
  }
  const note = planNote(layer, { kind: "checkpoint", front: deriveFrontMatter(layer, git, task), body });
  const payload = { task_id: task?.id, checkpoint_path: note.path };
  const stamped = task === undefined ? [] : [taskChange(layer, { ...task, checkpoint_at: timestamp(system.now()) })];
  const changes = [note.change, ...stamped, ledgerChange(layer, head, { event: "task.checkpoint", payload })];
  return { result: { kind: "written", path: note.path, task: task?.id }, plan: { changes } };
}

export const checkpoint: Command = defineCommand({
  name: "checkpoint",
  summary: "record progress, from standard input or derived",
  about: `What was true a moment ago, short enough to be quoted whole. It belongs to the work and not to a task: it is
written whether or not one is active. An empty text writes no file and only says that work goes on.`,
  examples: [
    {
      command: 'echo "Cause found: the callback keeps its slash." | reeve checkpoint',
      shows: "writes a record and prints its path",
    },
    { command: "reeve checkpoint --derive", shows: "composes it from git and the records" },
    { command: "reeve checkpoint --list", shows: "the records of this worktree, newest first" },
  ],
  args: {
    flags: {
      derive: { type: "boolean", summary: "compose it from git and the records" },
      show: { type: "boolean", summary: "print the newest one for this worktree and branch" },
      list: { type: "boolean", summary: "list them, newest first" },
    },
    exclusive: [["derive", "show", "list"]],
  },
  class: "state-mutating",
  readsWith: ["show", "list"],
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/repo/policy.yaml", ".ai/local/state/checkpoints/"],
  writes: [".ai/local/state/checkpoints/", ".ai/local/state/current.yaml", ".ai/local/state/ledger.jsonl"],
  result: noteMembers,
  async run(args, context): Promise<Outcome<NoteResult>> {
    if (args.list) return listRecords(context, "checkpoint");
    if (args.show) return showRecord(context, "checkpoint");
    return write(context, args.derive);
  },
  json: toNoteValue,
  text: renderNoteResult,
});
