import type { GitReading } from "../git/reading.ts";
import type { Layer } from "../layer/layer.ts";
import { findTask, readTouched } from "../work/subject.ts";
import { readDecisions } from "./decisions.ts";
import type { DerivedFrom } from "./derive.ts";
import { blockingQuestions, openQuestions, readQuestions } from "./questions.ts";
import { resolveNote } from "./resolve.ts";

/** Reads what a derived record is composed from: the task, git, the questions, the decisions and the newest checkpoint. */
export async function readDerivedFrom(layer: Layer, git: GitReading): Promise<DerivedFrom> {
  const task = await findTask(layer);
  const head = git.head();
  const questions = readQuestions(layer);
  const changed = git.status().entries.map((entry) => ({ path: entry.path, commit: undefined }));
  return {
    task,
    branch: head.branch ?? "DETACHED",
    head: head.head ?? "NONE",
    touched: task === undefined ? changed : readTouched(git, task),
    questions: task === undefined ? openQuestions(questions) : blockingQuestions(questions, task.id),
    checkpoint: await resolveNote(layer, git, "checkpoint"),
    decisions: readDecisions(layer)
      .filter((decision) => decision.task === task?.id && task !== undefined)
      .map((decision) => decision.title),
    verified: undefined,
    outcome: undefined,
  };
}
