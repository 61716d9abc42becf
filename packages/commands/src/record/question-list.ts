import { openQuestions, type Question, readQuestions } from "@reeve/core/records/questions.ts";
import { type Command, defineCommand } from "../command.ts";

type Numbered = Question & { readonly number: number | undefined };

interface QuestionList {
  readonly questions: readonly Numbered[];
  /** Lines that are no question, by number. */
  readonly problems: readonly { readonly line: number; readonly text: string }[];
}

export const questionList: Command = defineCommand({
  name: "question list",
  summary: "list the open questions, numbered for resolve",
  examples: [
    { command: "reeve question list", shows: "every open question here" },
    { command: "reeve question list --all", shows: "the answered ones too" },
  ],
  args: {
    flags: {
      all: { type: "boolean", summary: "the answered ones too" },
      task: { type: "string", value: "id", summary: "only those one task opened" },
    },
  },
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/state/open-questions.md"],
  writes: [],
  result: {
    questions: "the entries: number (of an open one), task, question, opened, resolved, answer, line",
    problems: "lines that are no question: line, text",
  },
  run(args, context) {
    const read = readQuestions(context.layer);
    const open = openQuestions(read);
    const chosen = read.entries.filter(
      (entry) => (args.all || entry.resolved === undefined) && (args.task === undefined || entry.task === args.task),
    );
    const questions = chosen.map((entry) => ({
      ...entry,
      number: entry.resolved === undefined ? open.indexOf(entry) + 1 : undefined,
    }));
    const result: QuestionList = { questions, problems: read.problems };
    return { result };
  },
  text({ questions, problems }: QuestionList) {
    const rows = questions.map((entry) =>
      entry.resolved === undefined
        ? `${String(entry.number).padStart(3)}  ${entry.question}  (${entry.task}, ${entry.opened})`
        : `  -  ${entry.question} — ${entry.answer}  (${entry.task}, resolved ${entry.resolved})`,
    );
    const broken = problems.map((problem) => `  ?  line ${problem.line} is no question: ${problem.text}`);
    return [...(rows.length === 0 ? ["no open questions"] : rows), ...broken].join("\n");
  },
});
