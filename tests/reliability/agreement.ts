import * as fs from "node:fs";
import * as path from "node:path";

/** A ledger line, parsed. */
export type Row = Readonly<Record<string, unknown>>;

/** What the files of one checkout's half say, each read by itself and by other code than the program's. */
export interface Facts {
  readonly rows: readonly Row[];
  /** Ledger lines that are not whole JSON objects. */
  readonly torn: readonly string[];
  readonly task: Readonly<Record<string, string>> | undefined;
  readonly completed: readonly string[];
  readonly archived: readonly string[];
  readonly handovers: readonly string[];
  readonly checkpoints: readonly string[];
  readonly decisions: readonly string[];
  readonly questions: readonly { readonly text: string; readonly resolved: boolean }[];
  /** Temporaries, journals and locks that lie about. */
  readonly leftovers: readonly string[];
}

export function readFacts(repo: string): Facts {
  const local = path.join(repo, ".ai/local");
  const text = (name: string): string => {
    const file = path.join(local, "state", name);
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  };
  const names = (folder: string, ending: string): readonly string[] => {
    const at = path.join(local, "state", folder);
    if (!fs.existsSync(at)) return [];
    const found = fs.readdirSync(at).filter((name) => !name.startsWith(".") && name.endsWith(ending));
    return found.map((name) => name.slice(0, -ending.length)).sort();
  };
  const { rows, torn } = parseRows(text("ledger.jsonl"));
  return {
    rows,
    torn,
    task: parseTask(text("current.yaml")),
    completed: names("completed", ".md"),
    archived: names("archive", ".yaml"),
    handovers: names("handovers", ".md"),
    checkpoints: names("checkpoints", ".md"),
    decisions: [...withoutComments(text("decisions.md")).matchAll(/^## \S+ — (.+)$/gm)].map(([, title = ""]) => title),
    questions: [
      ...withoutComments(text("open-questions.md")).matchAll(
        /^- \[(unresolved|resolved \S+)\] \S+ — (.+?) \(\d{4}-\d\d-\d\d\)/gm,
      ),
    ].map(([, state, question = ""]) => ({ text: question, resolved: state !== "unresolved" })),
    leftovers: readLeftovers(repo),
  };
}

export function parseRows(text: string): { readonly rows: readonly Row[]; readonly torn: readonly string[] } {
  const rows: Row[] = [];
  const torn: string[] = [];
  const lines = text.split("\n");
  const last = lines.pop();
  if (last !== undefined && last !== "") torn.push(last);
  for (const line of lines) {
    try {
      rows.push(JSON.parse(line) as Row);
    } catch {
      torn.push(line);
    }
  }
  return { rows, torn };
}

function withoutComments(text: string): string {
  return text.replaceAll(/<!--[\s\S]*?-->/g, "");
}

function parseTask(text: string): Readonly<Record<string, string>> | undefined {
  if (text === "") return undefined;
  return Object.fromEntries([...text.matchAll(/^(\w+): (.*)$/gm)].map(([, key = "", value = ""]) => [key, value]));
}

function readLeftovers(repo: string): readonly string[] {
  const found: string[] = [];
  const roots = [".ai", ".git/reeve", ".git/hooks"].map((name) => path.join(repo, name));
  for (const root of roots) {
    if (!fs.existsSync(root)) continue;
    for (const name of fs.readdirSync(root, { recursive: true, encoding: "utf8" })) {
      const base = path.basename(name);
      const isRun = path.basename(path.dirname(name)) === "run";
      // A dead writer's lock on the making of homes is taken over by the next who makes one; nobody else looks at it.
      if (base === "home.lock") continue;
      if (base.endsWith(".tmp") || base.includes("journal") || base.endsWith(".lock") || isRun) {
        found.push(path.join(path.relative(repo, root), name));
      }
    }
  }
  return found;
}

function without(left: readonly string[], right: readonly string[]): readonly string[] {
  const rest = [...right];
  return left.filter((entry) => {
    const at = rest.indexOf(entry);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** Says where two lists, order aside, differ. */
function compare(what: string, files: readonly string[], ledger: readonly string[]): readonly string[] {
  return [
    ...without(files, ledger).map((entry) => `${what} ${entry} is there but not in the ledger`),
    ...without(ledger, files).map((entry) => `${what} ${entry} is in the ledger but not there`),
  ];
}

/** Everything in which the records and the ledger contradict each other; nothing when they agree. */
export function findDisagreements(facts: Facts): readonly string[] {
  const { rows, task } = facts;
  const of = (event: string): readonly Row[] => rows.filter((row) => row["event"] === event);
  const member = (found: readonly Row[], name: string): readonly string[] => found.map((row) => String(row[name]));
  const base = (found: readonly string[]): readonly string[] => found.map((name) => path.basename(name, ".md"));
  const noted = of("task.finished").filter((row) => row["note"] !== undefined);
  const open = of("question.opened").length - of("question.resolved").length;
  return [
    ...facts.torn.map((line) => `the ledger holds a line that is none: ${line}`),
    ...facts.leftovers.map((name) => `${name} was left behind`),
    ...compare("decision", facts.decisions, member(of("decision.recorded"), "decision")),
    ...compare(
      "question",
      facts.questions.map(({ text }) => text),
      member(of("question.opened"), "question"),
    ),
    ...compare(
      "answered question",
      facts.questions.filter(({ resolved }) => resolved).map(({ text }) => text),
      member(of("question.resolved"), "question"),
    ),
    ...(open === facts.questions.filter(({ resolved }) => !resolved).length
      ? []
      : ["the open questions do not add up"]),
    ...compare("completion note", facts.completed, member(noted, "task_id")),
    ...compare("handover", facts.handovers, base(member(of("task.handed_over"), "handover_path"))),
    ...compare("checkpoint", facts.checkpoints, readWritten(of("task.checkpoint"))),
    ...compare(
      "task",
      [...facts.archived, ...(task?.["id"] === undefined ? [] : [task["id"]])],
      member(of("task.started"), "task_id"),
    ),
    ...findTaskProblems(facts),
  ];
}

function readWritten(rows: readonly Row[]): readonly string[] {
  const paths = rows.map((row) => row["checkpoint_path"]).filter((name) => typeof name === "string" && name !== "");
  return paths.map((name) => path.basename(String(name), ".md"));
}

function findTaskProblems({ rows, task, archived }: Facts): readonly string[] {
  const endOf = (id: string): readonly string[] =>
    rows.flatMap((row) => {
      if (row["task_id"] !== id) return [];
      if (row["event"] === "task.finished") return [String(row["outcome"])];
      return row["event"] === "task.handed_over" && row["closed"] === true ? ["handed_over"] : [];
    });
  const problems = archived
    .filter((id) => endOf(id).length !== 1)
    .map((id) => `${id} is archived and has ended ${endOf(id).length} times`);
  if (task === undefined) return problems;
  const ends = endOf(task["id"] ?? "").join();
  const wanted = task["outcome"] === "active" ? "" : task["outcome"];
  return ends === wanted ? problems : [...problems, `the task is ${task["outcome"]}, the ledger says "${ends}"`];
}
