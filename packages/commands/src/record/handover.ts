import { ReeveError } from "@reeve/core/findings/errors.ts";
import { readPolicy } from "@reeve/core/policy/reader.ts";
import { policyValue } from "@reeve/core/policy/values.ts";
import { deriveHandover } from "@reeve/core/records/derive.ts";
import { ledgerChange } from "@reeve/core/records/ledger.ts";
import { readDerivedFrom } from "@reeve/core/records/material.ts";
import { checkNoteBody, missingSections } from "@reeve/core/records/note.ts";
import { timestamp } from "@reeve/core/records/time.ts";
import { deriveFrontMatter, planNote } from "@reeve/core/records/writer.ts";
import { findTask, requireTask } from "@reeve/core/work/subject.ts";
import { taskChange } from "@reeve/core/work/task.ts";
import { type Arguments, type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { listRecords, type NoteResult, noteMembers, renderNoteResult, showRecord, toNoteValue } from "./notes.ts";

const args = {
  flags: {
    derive: { type: "boolean", summary: "compose it from the records and git" },
    close: { type: "boolean", summary: "also end the task as handed over" },
    "no-task": { type: "boolean", summary: "write it without an active task" },
    resolve: { type: "boolean", summary: "print the prior record about the work here" },
    show: { type: "boolean", summary: "the same as --resolve" },
    path: { type: "boolean", summary: "with --resolve: its path alone" },
    list: { type: "boolean", summary: "list them, newest first" },
  },
  exclusive: [
    ["derive", "resolve", "show", "list"],
    ["close", "resolve", "show", "list"],
    ["close", "no-task"],
    ["path", "list"],
  ],
} as const;

function refuseIncomplete(missing: readonly string[]): never {
  const wanted = missing.map((name) => `# ${name}`).join(", ");
  throw new ReeveError("RECORD_REFUSED", `the handover lacks ${wanted}, or leaves it empty`, {
    hint: "write each as a level-one heading with text below it, or: reeve handover --derive",
    details: { missing },
  });
}

async function readBody(context: Context, derive: boolean): Promise<string> {
  const required = policyValue(await readPolicy(context.layer), "handover.required_sections");
  if (derive) {
    const { body, unfilled } = deriveHandover(await readDerivedFrom(context.layer, context.git), required);
    if (unfilled.length === 0) return body;
    throw new ReeveError("RECORD_REFUSED", `no record can fill ${unfilled.map((name) => `# ${name}`).join(", ")}`, {
      hint: "write the handover on standard input, or take the section out of handover.required_sections",
    });
  }
  checkNoteBody("handover", context.input);
  const missing = missingSections(context.input, required);
  return missing.length === 0 ? context.input : refuseIncomplete(missing);
}

async function write(given: Arguments<typeof args>, context: Context): Promise<Outcome<NoteResult>> {
  const { layer, git, system } = context;
  const task = given["no-task"] ? await findTask(layer) : await requireTask(layer);
  const body = await readBody(context, given.derive);
  const note = planNote(layer, { kind: "handover", front: deriveFrontMatter(layer, git, task), body });
  const written = { kind: "written", path: note.path, task: task?.id, closed: given.close } as const;
  if (given["no-task"]) return { result: written, plan: { changes: [note.change] } };
  const payload = { task_id: task?.id, handover_path: note.path, closed: given.close };
  const outcome = given.close ? ({ outcome: "handed_over" } as const) : {};
  const stamped =
    task === undefined ? [] : [taskChange(layer, { ...task, checkpoint_at: timestamp(system.now()), ...outcome })];
  const changes = [note.change, ...stamped, ledgerChange(layer, git.head(), { event: "task.handed_over", payload })];
  return { result: written, plan: { changes } };
}

export const handover: Command = defineCommand({
  name: "handover",
  summary: "write down how to go on, for whoever works next",
  about: `The text comes on standard input: the policy's handover.required_sections as level-one headings, each with text.
--derive composes it from the task, the ledger, git, the open questions and the newest checkpoint.`,
  examples: [
    { command: "reeve handover --derive --close", shows: "writes the record and ends the task as handed over" },
    { command: "reeve handover < note.md", shows: "records what you wrote; prints its path" },
    { command: "reeve handover --resolve", shows: "the record to go on from, with its label against git" },
  ],
  args,
  class: "state-mutating",
  readsWith: ["resolve", "show", "list"],
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/repo/policy.yaml", ".ai/local/state/handovers/"],
  writes: [".ai/local/state/handovers/", ".ai/local/state/current.yaml", ".ai/local/state/ledger.jsonl"],
  result: noteMembers,
  run(given, context): Promise<Outcome<NoteResult>> {
    if (given.list) return listRecords(context, "handover");
    if (given.resolve || given.show) return showRecord(context, "handover", given.path);
    if (given.path)
      throw new ReeveError("USAGE", "--path goes with --resolve", { hint: "reeve handover --resolve --path" });
    return write(given, context);
  },
  json: toNoteValue,
  text: renderNoteResult,
});
