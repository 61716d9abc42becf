import { ReeveError } from "../findings/errors.ts";
import type { Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";
import { checkOneLine } from "./one-line.ts";

export const questionsPath: string = statePath(".ai/local/state/open-questions.md");

/** One entry of `open-questions.md` (reference 1.13). */
export interface Question {
  readonly line: number;
  /** The task that opened it, or `none`. */
  readonly task: string;
  readonly question: string;
  readonly opened: string;
  readonly resolved: string | undefined;
  readonly answer: string | undefined;
}

export interface QuestionProblem {
  readonly line: number;
  readonly text: string;
}

export interface Questions {
  readonly entries: readonly Question[];
  readonly problems: readonly QuestionProblem[];
}

const open = /^- \[unresolved\] (\S+) \u2014 (.+) \((\d{4}-\d\d-\d\d)\)$/;
const closed = /^- \[resolved (\d{4}-\d\d-\d\d)\] (\S+) \u2014 (.+? \((\d{4}-\d\d-\d\d)\)) \u2014 (.+)$/;

function parseEntry(row: string, line: number): Question | undefined {
  const unresolved = open.exec(row);
  if (unresolved !== null && !unresolved[2]?.includes(" — ")) {
    const [, task = "", question = "", opened = ""] = unresolved;
    return { line, task, question, opened, resolved: undefined, answer: undefined };
  }
  const answered = closed.exec(row);
  if (answered === null) return undefined;
  const [, resolved = "", task = "", dated = "", opened = "", answer = ""] = answered;
  const question = dated.slice(0, -` (${opened})`.length);
  return question.includes(" — ") ? undefined : { line, task, question, opened, resolved, answer };
}

/** Every line that begins a list entry must be a question; what does not parse is a problem, never skipped. */
export function parseQuestions(text: string): Questions {
  const entries: Question[] = [];
  const problems: QuestionProblem[] = [];
  let comment = false;
  text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .forEach((row, index) => {
      if (!comment && /^\s*[-*+] ?(?:\[|\S)/.test(row) && !/^\s*(?:-{3,}|\*{3,})\s*$/.test(row)) {
        const entry = parseEntry(row, index + 1);
        if (entry === undefined) problems.push({ line: index + 1, text: row });
        else entries.push(entry);
        return;
      }
      if (/^(?:<{7}|={7}|>{7})/.test(row)) problems.push({ line: index + 1, text: row });
      const opens = row.lastIndexOf("<!--");
      const closes = row.lastIndexOf("-->");
      if (opens > closes) comment = true;
      else if (closes >= 0) comment = false;
    });
  return { entries, problems };
}

export function readQuestions(layer: Layer): Questions {
  return parseQuestions(layer.read(questionsPath) ?? "");
}

export function openQuestions(questions: Questions): readonly Question[] {
  return questions.entries.filter((entry) => entry.resolved === undefined);
}

/** The open questions that refuse a task's completion: its own and those of no task. */
export function blockingQuestions(questions: Questions, task: string): readonly Question[] {
  return openQuestions(questions).filter((entry) => entry.task === task || entry.task === "none");
}

export function renderQuestion(task: string | undefined, question: string, date: string): string {
  return `- [unresolved] ${task ?? "none"} — ${question} (${date})\n`;
}

export function renderAnswer(question: Question, answer: string, date: string): string {
  return `- [resolved ${date}] ${question.task} — ${question.question} (${question.opened}) — ${answer}`;
}

/** One line of text a question or answer may be; throws what is wrong with it. */
export function checkQuestionText(what: "question" | "answer", text: string): string {
  const line = checkOneLine(`the ${what}`, text);
  if (what === "question" && line.includes(" — ")) {
    throw new ReeveError("USAGE", "a question may not contain ' — ': that is what stands between it and its answer", {
      hint: "write a comma or a colon instead",
    });
  }
  return line;
}

/** The open question a number (as `question list` prints it) or a text means. */
export function findQuestion(questions: Questions, selector: string): Question {
  const unresolved = openQuestions(questions);
  if (/^\d+$/.test(selector)) {
    const numbered = unresolved[Number(selector) - 1];
    if (numbered !== undefined) return numbered;
    throw new ReeveError("NOT_FOUND", `there is no open question ${selector}; ${unresolved.length} are open`, {
      hint: "reeve question list",
    });
  }
  const exact = unresolved.filter((entry) => entry.question === selector);
  const found = exact.length > 0 ? exact : unresolved.filter((entry) => entry.question.includes(selector));
  const [only] = found;
  if (only === undefined) {
    throw new ReeveError("NOT_FOUND", `no open question contains '${selector}'`, { hint: "reeve question list" });
  }
  if (found.length > 1) {
    throw new ReeveError("AMBIGUOUS", `'${selector}' is in ${found.length} open questions`, {
      hint: "give the number that reeve question list prints",
    });
  }
  return only;
}
