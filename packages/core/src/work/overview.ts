import { ReeveError } from "../findings/errors.ts";
import type { Finding } from "../findings/finding.ts";
import type { GitReading } from "../git/reading.ts";
import type { Layer } from "../layer/layer.ts";
import { readPolicy } from "../policy/reader.ts";
import { readDecisions } from "../records/decisions.ts";
import { readLedger } from "../records/ledger.ts";
import { blockingQuestions, openQuestions, readQuestions } from "../records/questions.ts";
import { readDoctrineInput } from "../rules/input.ts";
import { readRules } from "../rules/resolve.ts";
import { runRules, selectRules } from "../rules/run.ts";
import { type OtherTask, readOtherTasks } from "./overlap.ts";
import { readSubject, type TaskSubject } from "./subject.ts";
import { isActive, isElsewhere, readTask, type Task } from "./task.ts";

/** The state of work in one checkout, derived from records and git. */
export interface Overview {
  readonly branch: string | undefined;
  readonly head: string | undefined;
  readonly clean: boolean;
  readonly changed: number;
  readonly home: { readonly mode: string; readonly exists: boolean; readonly path: string };
  /** The task record, whatever its outcome. */
  readonly task: Task | undefined;
  readonly elsewhere: boolean;
  /** Of an active task. */
  readonly subject: TaskSubject | undefined;
  /** What `reeve check` would print, without what passed. */
  readonly findings: readonly Finding[];
  readonly questions: { readonly open: number; readonly blocking: number };
  readonly decisions: number;
  readonly ledgerLines: number;
  readonly lastEvent: { readonly ts: string; readonly event: string } | undefined;
  readonly others: readonly OtherTask[];
  /** Something that could not be read, in words, with what to type. */
  readonly trouble: readonly { readonly message: string; readonly hint: string | undefined }[];
  readonly pending: number;
}

type Trouble = Overview["trouble"][number];

async function attempt<T>(trouble: Trouble[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    trouble.push({ message: error.message, hint: error.hint });
    return undefined;
  }
}

async function judge(layer: Layer, git: GitReading, subject: TaskSubject): Promise<readonly Finding[]> {
  const set = await readRules(layer);
  const input = await readDoctrineInput({ layer, git, runBy: "check", set, subject });
  const reports = await runRules(selectRules(set, "check"), input);
  return [...set.problems, ...reports.flatMap((report) => report.findings)].filter((finding) => finding.level !== "OK");
}

export async function readOverview(layer: Layer, git: GitReading): Promise<Overview> {
  const trouble: Trouble[] = [];
  if (layer.home.misplaced !== undefined) {
    trouble.push({
      message: `.ai/local: ${layer.home.misplaced}`,
      hint: "move it out of the way; the next writing command makes the link",
    });
  }
  await attempt(trouble, () => readPolicy(layer));
  const status = git.status();
  const { branch, head } = git.head();
  const task = await attempt(trouble, () => readTask(layer));
  const elsewhere = task !== undefined && isElsewhere(layer, task);
  const active = isActive(task) && !elsewhere ? task : undefined;
  const subject = active === undefined ? undefined : await attempt(trouble, () => readSubject(layer, git, active));
  const findings =
    subject === undefined || trouble.length > 0
      ? []
      : ((await attempt(trouble, () => judge(layer, git, subject))) ?? []);
  const questions = readQuestions(layer);
  const ledger = readLedger(layer);
  const last = ledger.lines.at(-1)?.value;
  const { mode, exists, path } = layer.home;
  return {
    branch,
    head,
    clean: status.clean,
    changed: status.entries.length,
    home: { mode, exists, path },
    task,
    elsewhere,
    subject,
    findings,
    questions: {
      open: openQuestions(questions).length,
      blocking: active === undefined ? 0 : blockingQuestions(questions, active.id).length,
    },
    decisions: readDecisions(layer).length,
    ledgerLines: ledger.count,
    lastEvent: last === undefined ? undefined : { ts: last.ts, event: last.event },
    others: await readOtherTasks(layer, git),
    trouble,
    pending: layer.pending.length,
  };
}
