import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import {
  blockingQuestions,
  checkQuestionText,
  findQuestion,
  openQuestions,
  parseQuestions,
  renderAnswer,
  renderQuestion,
} from "./questions.ts";

const task = "t-20260903193012-a4f1";

function refusal(run: () => unknown): ReeveError {
  try {
    run();
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

function accepts(what: "question" | "answer", text: string): boolean {
  try {
    return checkQuestionText(what, text) !== "";
  } catch {
    return false;
  }
}

const piece = fc.constantFrom(
  "why",
  "—",
  " — ",
  " ",
  "(2026-01-01)",
  "[",
  "]",
  "- [unresolved]",
  "<!--",
  "-->",
  "\u2028",
  "\u0085",
  "ü",
  "🙂",
  ")",
);
const text = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.array(piece, { minLength: 1, maxLength: 6 }).map((all) => all.join("")),
);

describe("parseQuestions", () => {
  test("parseQuestions reads back every question that may be asked, and its answer", () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(undefined, task), (given, said, of) => {
        fc.pre(accepts("question", given) && accepts("answer", said));
        const question = checkQuestionText("question", given);
        const answer = checkQuestionText("answer", said);
        const asked = parseQuestions(renderQuestion(of, question, "2026-02-03"));
        expect(asked.problems).toEqual([]);
        expect(asked.entries).toMatchObject([{ line: 1, task: of ?? "none", question, opened: "2026-02-03" }]);
        const [entry] = asked.entries;
        if (entry === undefined) return;
        expect(parseQuestions(renderAnswer(entry, answer, "2026-03-04"))).toMatchObject({
          entries: [{ task: of ?? "none", question, opened: "2026-02-03", resolved: "2026-03-04", answer }],
          problems: [],
        });
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    "- [unresolved] none — no date",
    "- [unresolved] none — a date that is none (2026-9-3)",
    "- [unresolved] no task (2026-09-03)",
    "- [unresolved] none — a — b (2026-09-03)",
    "- [resolved] none — q (2026-09-03) — a",
    "- [resolved 2026-09-04] none — q — a",
    "- [resolved 2026-09-04] none — q (2026-09-03)",
    "- [ ] none — q (2026-09-03)",
    "- [x] done",
    "- a plain entry",
    "* [unresolved] none — q (2026-09-03)",
    "  - [unresolved] none — q (2026-09-03)",
    "-[unresolved] none — q (2026-09-03)",
    "- [Unresolved] none — q (2026-09-03)",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> theirs",
  ])("parseQuestions takes %j for a problem, never for nothing", (row) => {
    expect(parseQuestions(`# Open questions\n\n${row}\n`)).toEqual({ entries: [], problems: [{ line: 3, text: row }] });
  });

  test("parseQuestions passes over prose and comments", () => {
    const written = "# Open questions\n\n<!--\n- [unresolved] none — an example (2026-01-01)\n-->\n<!-- one line -->\n";
    const row = "- [unresolved] none — real (2026-01-02)\n";
    expect(parseQuestions(`${written}prose\n---\n${row}`)).toMatchObject({
      entries: [{ line: 9, question: "real" }],
      problems: [],
    });
  });

  test("parseQuestions reads a file with carriage returns as one without", () => {
    const written = `- [unresolved] none — a (2026-01-02)\n- [resolved 2026-01-03] ${task} — b (2026-01-02) — c\n`;
    expect(parseQuestions(written.replaceAll("\n", "\r\n"))).toEqual(parseQuestions(written));
  });
});

describe("blockingQuestions", () => {
  test("blockingQuestions are those of the task and of none, while they are open", () => {
    const rows = [
      renderQuestion(task, "mine", "2026-01-01"),
      renderQuestion(undefined, "nobody's", "2026-01-01"),
      renderQuestion("t-20260101000000-ffff", "another's", "2026-01-01"),
      `- [resolved 2026-01-02] ${task} — answered (2026-01-01) — yes\n`,
    ];
    const questions = parseQuestions(rows.join(""));
    expect(openQuestions(questions).map((one) => one.question)).toEqual(["mine", "nobody's", "another's"]);
    expect(blockingQuestions(questions, task).map((one) => one.question)).toEqual(["mine", "nobody's"]);
  });
});

describe("checkQuestionText", () => {
  test("checkQuestionText takes the space around a text off", () => {
    expect(checkQuestionText("question", "  why? ")).toBe("why?");
    expect(checkQuestionText("answer", "one — two")).toBe("one — two");
  });

  test.each<["question" | "answer", string]>([
    ["question", ""],
    ["question", " \t"],
    ["question", "a\nb"],
    ["question", "a\rb"],
    ["question", "a — b"],
    ["answer", ""],
    ["answer", "a\nb"],
  ])("checkQuestionText refuses the %s %j", (what, given) => {
    expect(refusal(() => checkQuestionText(what, given)).code).toBe("USAGE");
  });
});

describe("findQuestion", () => {
  const questions = parseQuestions(
    [
      `- [resolved 2026-01-02] ${task} — answered (2026-01-01) — yes\n`,
      renderQuestion(task, "which port", "2026-01-01"),
      renderQuestion(task, "which port and host", "2026-01-01"),
    ].join(""),
  );

  test("findQuestion takes a number as the list prints it, a whole text, or a part of one", () => {
    expect(findQuestion(questions, "1").question).toBe("which port");
    expect(findQuestion(questions, "2").question).toBe("which port and host");
    expect(findQuestion(questions, "which port").question).toBe("which port");
    expect(findQuestion(questions, "host").question).toBe("which port and host");
  });

  test("findQuestion refuses what means none or several", () => {
    for (const none of ["0", "3", "99999999999999999999", "answered", "nothing"])
      expect(refusal(() => findQuestion(questions, none)).code, none).toBe("NOT_FOUND");
    expect(refusal(() => findQuestion(questions, "port")).code).toBe("AMBIGUOUS");
  });
});
