import { ReeveError } from "@reeve/core/findings/errors.ts";
import { replaceChange } from "@reeve/core/layer/layer.ts";
import { ledgerChange } from "@reeve/core/records/ledger.ts";
import {
  checkQuestionText,
  findQuestion,
  parseQuestions,
  questionsPath,
  renderAnswer,
} from "@reeve/core/records/questions.ts";
import { day } from "@reeve/core/records/time.ts";
import { type Command, defineCommand } from "../command.ts";

interface ResolvedQuestion {
  readonly question: string;
  readonly answer: string;
  readonly task: string;
}

export const questionResolve: Command = defineCommand({
  name: "question resolve",
  summary: "answer an open question",
  examples: [
    {
      command: 'reeve question resolve 1 --answer "no, since version 3"',
      shows: "answers the first one reeve question list prints",
    },
    {
      command: 'reeve question resolve "mobile client" --answer "no"',
      shows: "answers the one that contains the text",
    },
  ],
  args: {
    positionals: [{ name: "question", summary: "its number, or part of its text", required: true }],
    flags: { answer: { type: "string", value: "text", required: true, summary: "the answer, in one line" } },
  },
  class: "state-mutating",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/state/open-questions.md"],
  writes: [".ai/local/state/open-questions.md", ".ai/local/state/ledger.jsonl"],
  result: { question: "the question", answer: "the answer", task: "the task that opened it, or none" },
  run(args, context) {
    const { layer, git, system } = context;
    const answer = checkQuestionText("answer", args.answer);
    const text = layer.read(questionsPath);
    if (text === undefined)
      throw new ReeveError("NOT_FOUND", "no question was ever opened here", { hint: "reeve question add" });
    const found = findQuestion(parseQuestions(text), args.question);
    const rows = text.split("\n");
    const carriage = rows[found.line - 1]?.endsWith("\r") === true ? "\r" : "";
    rows[found.line - 1] = `${renderAnswer(found, answer, day(system.now()))}${carriage}`;
    const payload = { task_id: found.task === "none" ? undefined : found.task, question: found.question, answer };
    const changes = [
      replaceChange(layer, questionsPath, { before: text, after: rows.join("\n") }),
      ledgerChange(layer, git.head(), { event: "question.resolved", payload }),
    ];
    const result: ResolvedQuestion = { question: found.question, answer, task: found.task };
    return { result, plan: { changes } };
  },
  text: ({ question, answer }: ResolvedQuestion) => `resolved: ${question} — ${answer}`,
});
