import { plural } from "../findings/plural.ts";
import type { TouchedFile } from "../work/subject.ts";
import type { Task } from "../work/task.ts";
import type { Note } from "./note.ts";
import type { Question } from "./questions.ts";

/** What a derived record is composed from; every member was read from a record or from git. */
export interface DerivedFrom {
  readonly task: Task | undefined;
  readonly branch: string;
  readonly head: string;
  readonly touched: readonly TouchedFile[];
  readonly questions: readonly Question[];
  readonly checkpoint: Note | undefined;
  readonly decisions: readonly string[];
  /** What the verification said, in words. */
  readonly verified: string | undefined;
  /** The outcome about to be recorded, when the record belongs to a finish. */
  readonly outcome: string | undefined;
}

const most = 20;

function bullets(lines: readonly string[], none: string): string {
  if (lines.length === 0) return none;
  const more = lines.length > most ? [`- and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most).map((line) => `- ${line}`), ...more].join("\n");
}

/** Somebody's own text as a quotation, so that no heading or fence of it becomes one of the record. */
function quote(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((row) => `> ${row}`.trimEnd())
    .join("\n");
}

function renderState(from: DerivedFrom): string {
  const uncommitted = from.touched.filter((file) => file.commit === undefined).length;
  const counts = `${plural(from.touched.length, "file")} touched, ${uncommitted} of them not committed`;
  const lines = [`On ${from.branch} at ${from.head.slice(0, 7)}; ${counts}.`];
  if (from.outcome !== undefined) lines.push(`Outcome: ${from.outcome}.`);
  if (from.verified !== undefined) lines.push(`Verified by: ${from.verified}.`);
  lines.push(
    "",
    bullets(
      from.touched.map((file) => file.path),
      "No file was touched.",
    ),
  );
  if (from.checkpoint !== undefined)
    lines.push("", `Last checkpoint (${from.checkpoint.front.created_at}):`, "", quote(from.checkpoint.body));
  return lines.join("\n");
}

function renderNext(from: DerivedFrom): string {
  const open = from.questions.map((question) => `Answer: ${question.question}`);
  const uncommitted = from.touched.filter((file) => file.commit === undefined).map((file) => file.path);
  const commit =
    uncommitted.length === 0 ? [] : [`Commit ${plural(uncommitted.length, "changed file")} (git status lists them)`];
  if (from.task === undefined)
    return bullets([...open, ...commit], 'Start the next task: reeve start "<task>" --scope <path>');
  if (from.outcome === "completed") {
    return bullets([...commit, ...open], `Nothing is left of this task; the next one begins with reeve start.`);
  }
  return bullets([...open, ...commit, `Go on with '${from.task.task}', then: reeve check`], "");
}

const writers: Readonly<Record<string, (from: DerivedFrom) => string>> = {
  Objective: (from) =>
    from.task === undefined
      ? "No task is active in this checkout."
      : `The task: ${from.task.task}\n\nScope: ${from.task.scope.join(", ")}; profile ${from.task.profile}; began ${from.task.started_at}.`,
  "Current State": renderState,
  "Next Action": renderNext,
  Decisions: (from) => bullets(from.decisions, "None recorded."),
  "Open Work": (from) =>
    bullets(
      from.questions.map((question) => question.question),
      "No open questions.",
    ),
};

export interface DerivedBody {
  readonly body: string;
  /** Required sections no record can fill; they want an author. */
  readonly unfilled: readonly string[];
}

/** Composes a handover from records and git alone; no model, no network. */
export function deriveHandover(from: DerivedFrom, required: readonly string[]): DerivedBody {
  const unfilled = required.filter((name) => !Object.hasOwn(writers, name));
  const optional = from.decisions.length > 0 && !required.includes("Decisions") ? ["Decisions"] : [];
  const sections = [...required.filter((name) => Object.hasOwn(writers, name)), ...optional];
  const body = sections.map((name) => `# ${name}\n\n${writers[name]?.(from) ?? ""}\n`).join("\n");
  return { body, unfilled };
}

/** Composes a checkpoint: a few lines, within the cap. */
export function deriveCheckpoint(from: DerivedFrom, maxLines: number): string {
  const uncommitted = from.touched.filter((file) => file.commit === undefined).length;
  const commits = new Set(from.touched.flatMap((file) => file.commit ?? [])).size;
  const fixed = [
    `Branch ${from.branch} at ${from.head.slice(0, 7)}, ${uncommitted === 0 ? "clean" : `${plural(uncommitted, "file")} changed and not committed`}.`,
    `Since the task began: ${plural(from.touched.length, "file")} touched, in ${plural(commits, "commit")} and the working tree.`,
    `Open questions that block: ${from.questions.length}.`,
  ];
  const room = Math.max(0, Math.min(most, maxLines - fixed.length - 1));
  return [...fixed, ...from.touched.slice(0, room).map((file) => `- ${file.path}`)].slice(0, maxLines).join("\n");
}
