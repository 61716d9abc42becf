import type { GitReading } from "../git/reading.ts";
import type { Layer } from "../layer/layer.ts";
import { readPolicy } from "../policy/reader.ts";
import { policyValue } from "../policy/values.ts";
import { deriveHandover } from "../records/derive.ts";
import { readDerivedFrom } from "../records/material.ts";
import { listNotes } from "../records/resolve.ts";
import { renderAge } from "../records/time.ts";
import { deriveFrontMatter, type PlannedNote, planNote } from "../records/writer.ts";
import type { FinishRequest, Verification } from "../rules/doctrine.ts";
import type { TaskSubject } from "./subject.ts";

/** The note a finish keeps: its body, where it comes from in words, and the handover to write when it was derived. */
export interface FinishNote {
  readonly body: string;
  readonly from: string;
  readonly planned: PlannedNote | undefined;
}

export interface NoteRequest {
  readonly layer: Layer;
  readonly git: GitReading;
  readonly subject: TaskSubject;
  readonly outcome: FinishRequest["outcome"];
  readonly verification: Verification | undefined;
  /** The text of `--note`. */
  readonly text: string | undefined;
}

async function derive(request: NoteRequest): Promise<FinishNote> {
  const { layer, git, subject, outcome, verification } = request;
  const { task } = subject;
  const policy = await readPolicy(layer);
  const ran =
    verification === undefined
      ? undefined
      : `${verification.command}, exit ${verification.result.exit} after ${renderAge(verification.result.milliseconds)}`;
  const from = { ...(await readDerivedFrom(layer, git)), outcome, verified: ran };
  const { body } = deriveHandover(from, policyValue(policy, "handover.required_sections"));
  const planned = planNote(layer, { kind: "handover", front: deriveFrontMatter(layer, git, task), body });
  return { body, from: "derived from the records", planned };
}

/** The note of a finish: the file given, else an up-to-date handover of the task, else one derived, where the policy allows. */
export async function readFinishNote(request: NoteRequest): Promise<FinishNote | undefined> {
  const { layer, git, subject } = request;
  if (request.text !== undefined) return { body: request.text, from: "--note", planned: undefined };
  const handovers = await listNotes(layer, "handover");
  const newest = handovers.find((note) => note.front.task_id === subject.task.id);
  const current = newest?.front.head === (git.head().head ?? "NONE");
  const derives = policyValue(await readPolicy(layer), "handover.derive_on_finish");
  if (newest !== undefined && (current || !derives))
    return { body: newest.body, from: newest.path, planned: undefined };
  return derives ? derive(request) : undefined;
}
