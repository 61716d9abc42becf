import type { Finding } from "@reeve/core/findings/finding.ts";
import { plural } from "@reeve/core/findings/plural.ts";
import { renderAge } from "@reeve/core/records/time.ts";
import type { Overview } from "@reeve/core/work/overview.ts";

function renderPlace(overview: Overview): string {
  const branch = overview.branch ?? "detached head";
  const head = overview.head === undefined ? "no commits yet" : overview.head.slice(0, 7);
  return `${branch} at ${head}, ${overview.clean ? "clean" : plural(overview.changed, "changed file")}`;
}

const shownPaths = 3;

function renderScope(scope: readonly string[]): string {
  const rest = scope.length - shownPaths;
  return rest <= 1 ? scope.join(", ") : `${scope.slice(0, shownPaths).join(", ")} and ${rest} more paths`;
}

function renderTask(overview: Overview, now: Date): string {
  const { task, subject } = overview;
  if (task === undefined) return "no task";
  if (overview.elsewhere) return `no task of its own (the record here is another worktree's: ${task.worktree})`;
  if (task.outcome !== "active") return `no task; the last one, '${task.task}', is ${task.outcome}`;
  const age = renderAge(now.getTime() - Date.parse(task.started_at));
  const label = subject === undefined ? "" : `, ${subject.standing.label}`;
  return `'${task.task}' (${task.id}), begun ${age} ago in ${renderScope(task.scope)}${label}`;
}

function failures(overview: Overview): readonly Finding[] {
  return overview.findings.filter((finding) => finding.level === "FAIL");
}

function renderOff(overview: Overview): string {
  const [trouble] = overview.trouble;
  if (trouble !== undefined) return trouble.message;
  const failed = failures(overview);
  const warned = overview.findings.filter((finding) => finding.level === "WARN");
  const [first] = failed.length > 0 ? failed : warned;
  if (first !== undefined) {
    const more = (failed.length > 0 ? failed : warned).length - 1;
    return `${first.subject}: ${first.message}${more > 0 ? `, and ${more} more` : ""}`;
  }
  if (overview.pending > 0)
    return `${plural(overview.pending, "change")} of an interrupted command wait for the next writing command`;
  return overview.questions.open > 0 ? `${plural(overview.questions.open, "open question")}` : "nothing is off";
}

function renderNext(overview: Overview): string {
  const [trouble] = overview.trouble;
  if (trouble !== undefined) return trouble.hint ?? "reeve doctor";
  if (overview.subject === undefined) return 'reeve start "<what>" --scope <path>';
  if (failures(overview).length > 0) return "reeve check";
  const warned = overview.findings.find((finding) => finding.level === "WARN" && finding.next !== undefined);
  return warned?.next ?? 'reeve check, then: reeve finish --outcome completed --verify-command "<command>"';
}

/** Branch and task; what is off; what to type. */
export function renderThreeLines(overview: Overview, now: Date): string {
  return [
    `${renderPlace(overview)} · ${renderTask(overview, now)}`,
    renderOff(overview),
    `next: ${renderNext(overview)}`,
  ].join("\n");
}

function renderHome({ home }: Overview): string {
  if (!home.exists) return "not made yet; the first writing command makes it";
  return home.mode === "git"
    ? `${home.path}, behind .ai/local`
    : ".ai/local in the working tree; its records live only there";
}

/** The whole screen. */
export function renderScreen(overview: Overview, now: Date): string {
  const { subject, questions } = overview;
  const rows: (readonly [string, string])[] = [
    ["repository", renderPlace(overview)],
    ["task", renderTask(overview, now)],
  ];
  if (subject !== undefined) {
    const { task, touched, profile, standing } = subject;
    const outside = overview.findings.filter(
      (finding) => finding.category === "scope" && finding.level === "FAIL",
    ).length;
    const since = renderAge(now.getTime() - Date.parse(task.checkpoint_at ?? task.started_at));
    rows.push(
      ["owner", `${task.owner}, profile ${profile.name}`],
      [
        "scope",
        `${task.scope.join(", ")}; ${plural(touched.length, "file")} touched, ${outside === 0 ? "all within" : `${outside} outside`}`,
      ],
      ["state", `${standing.label}${standing.moved ? " (moved with this worktree)" : ""}`],
      [
        "checkpoint",
        `${task.checkpoint_at === undefined ? "none yet; begun" : "last"} ${since} ago, every ${profile.checkpoint_interval}`,
      ],
    );
  }
  rows.push(
    ["questions", `${questions.open} open${subject === undefined ? "" : `, ${questions.blocking} block this task`}`],
    ["decisions", String(overview.decisions)],
    [
      "ledger",
      `${plural(overview.ledgerLines, "line")}${overview.lastEvent === undefined ? "" : `, last ${overview.lastEvent.event} at ${overview.lastEvent.ts}`}`,
    ],
    ["local half", renderHome(overview)],
  );
  if (overview.pending > 0)
    rows.push([
      "pending",
      `${plural(overview.pending, "change")} of an interrupted command; the next writing command finishes them`,
    ]);
  for (const { worktree, task } of overview.others)
    rows.push([
      "elsewhere",
      task === undefined
        ? `${worktree}: its task record cannot be read`
        : `${worktree}: '${task.task}' in ${renderScope(task.scope)}`,
    ]);
  for (const trouble of overview.trouble) rows.push(["trouble", trouble.message]);
  for (const finding of overview.findings)
    rows.push([finding.level.toLowerCase(), `${finding.subject} — ${finding.message}`]);
  rows.push(["next", renderNext(overview)]);
  return rows.map(([name, text]) => `${name.padEnd(11)} ${text}`).join("\n");
}

/** Members of the value `toValue` gives, for the reference. */
export const overviewMembers: Readonly<Record<string, string>> = {
  layer: "is there a layer",
  branch: "the branch; absent on a detached head",
  head: "the commit; absent before the first",
  clean: "nothing is changed",
  changed: "changed files",
  home: "this checkout's half: mode, exists, path",
  task: "the task record",
  elsewhere: "the record belongs to another worktree",
  standing: "the active task's label against git",
  moved: "the task followed its worktree",
  touched: "files the active task touched",
  findings: "what reeve check finds, without what passed",
  questions: "open, and blocking the active task",
  decisions: "how many are recorded",
  ledgerLines: "lines of the ledger",
  lastEvent: "ts and event of the last one",
  others: "active tasks of other worktrees",
  trouble: "what could not be read, and what to type",
  pending: "changes of an interrupted command",
};

/** The overview as `--json` gives it. */
export function toValue(overview: Overview): Readonly<Record<string, unknown>> {
  const { subject, others, ...rest } = overview;
  return {
    layer: true,
    ...rest,
    standing: subject?.standing.label,
    moved: subject?.standing.moved,
    touched: subject?.touched.map((file) => file.path),
    others: others.map(({ worktree, task }) => ({ worktree, task })),
  };
}
