import { appendChange } from "@reeve/core/layer/layer.ts";
import { ledgerChange } from "@reeve/core/records/ledger.ts";
import { checkQuestionText, questionsPath, renderQuestion } from "@reeve/core/records/questions.ts";
import { day } from "@reeve/core/records/time.ts";
import { findTask } from "@reeve/core/work/subject.ts";
import { type Command, defineCommand } from "../command.ts";

interface AddedQuestion {
  readonly question: string;
  readonly task: string | undefined;
}

export const questionAdd: Command = defineCommand({
  name: "question add",
  summary: "open a question that blocks completion",
  about: "While a question of this task, or of no task, is open, finish --outcome completed is refused.",
  examples: [
    {
      command: 'reeve question add "Does the mobile client still send the old URI?"',
      shows: "opens it for the active task",
    },
  ],
  args: { positionals: [{ name: "question", summary: "the question, in one line", required: true }] },
  class: "state-mutating",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/state/current.yaml"],
  writes: [".ai/local/state/open-questions.md", ".ai/local/state/ledger.jsonl"],
  result: { question: "the question", task: "id of the task it was opened for" },
  async run(args, context) {
    const { layer, git, system } = context;
    const question = checkQuestionText("question", args.question);
    const task = (await findTask(layer))?.id;
    const payload = { task_id: task, question };
    const changes = [
      appendChange(layer, questionsPath, renderQuestion(task, question, day(system.now()))),
      ledgerChange(layer, git.head(), { event: "question.opened", payload }),
    ];
    const result: AddedQuestion = { question, task };
    return { result, plan: { changes } };
  },
  text: ({ question, task }: AddedQuestion) => `opened for ${task ?? "no task"}: ${question}`,
});
