import { describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import type { Layer } from "../layer/layer.ts";
import { type LedgerEvent, type NewEvent, parseLedger, renderEvent } from "./ledger.ts";

const layer = { version: "1.2.3", system: { now: () => new Date("2026-09-03T19:30:12.987Z") } } as unknown as Layer;
const head = { branch: "main", head: "b".repeat(40) };
const opened: NewEvent = { event: "question.opened", payload: { task_id: "t", question: "why" } };
const sound = '{"event":"question.opened","question":"why","ts":"2026-09-03T19:30:12Z"}';

function refusal(run: () => unknown): ReeveError {
  try {
    run();
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("renderEvent", () => {
  test("renderEvent writes the envelope and the payload on one line", () => {
    const text = renderEvent(layer, head, { ...opened, payload: { ...opened.payload, question: "a\nb\u2028c" } });
    expect(text.split("\n").length).toBe(2);
    expect(JSON.parse(text)).toEqual({
      ts: "2026-09-03T19:30:12Z",
      event: "question.opened",
      head: head.head,
      branch: "main",
      by: "reeve/1.2.3",
      task_id: "t",
      question: "a\nb\u2028c",
    });
  });

  test("renderEvent says NONE and DETACHED where there is no commit and no branch", () => {
    expect(JSON.parse(renderEvent(layer, { branch: undefined, head: undefined }, opened))).toMatchObject({
      head: "NONE",
      branch: "DETACHED",
    });
  });

  test("renderEvent leaves out members that are undefined", () => {
    const payload = { question: "why", task_id: undefined };
    expect(Object.keys(JSON.parse(renderEvent(layer, head, { ...opened, payload })))).not.toContain("task_id");
  });

  test("renderEvent refuses a payload that lacks a member, or that would forge the envelope", () => {
    expect(refusal(() => renderEvent(layer, head, { ...opened, payload: {} })).code).toBe("INTERNAL");
    for (const member of ["ts", "event", "head", "branch", "by", "session"]) {
      const payload = { ...opened.payload, [member]: "forged" };
      expect(refusal(() => renderEvent(layer, head, { ...opened, payload })).message, member).toContain(member);
    }
  });
});

function problemOf(line: string): string | undefined {
  const { problems, lines } = parseLedger(Buffer.from(`${line}\n${sound}\n`));
  expect(lines.map((one) => one.line)).toEqual(problems.length === 0 ? [1, 2] : [2]);
  expect(problems.length === 0 || problems[0]?.line === 1).toBe(true);
  return problems[0]?.reason;
}

describe("parseLedger", () => {
  test("parseLedger reads back what renderEvent wrote, in the order of the lines", () => {
    const text = [1, 2, 3].map((n) => renderEvent(layer, head, { ...opened, payload: { question: `q${n}` } })).join("");
    const { lines, problems, count } = parseLedger(Buffer.from(text));
    expect(lines.map(({ value }: { value: LedgerEvent }) => value["question"])).toEqual(["q1", "q2", "q3"]);
    expect([problems, count]).toEqual([[], 3]);
  });

  test.each([
    "null",
    "5",
    '"text"',
    "[]",
    "{}",
    "{",
    "not json",
    '{"ts":"2026-09-03T19:30:12Z"}',
    '{"ts":"2026-09-03T19:30:12Z","event":""}',
    '{"ts":"2026-09-03T19:30:12Z","event":5}',
    '{"event":"question.opened","question":"q"}',
    '{"ts":"yesterday","event":"question.opened","question":"q"}',
    '{"ts":"2026-09-03 19:30:12Z","event":"question.opened","question":"q"}',
    '{"ts":"2026-13-45T99:99:99Z","event":"question.opened","question":"q"}',
    '{"ts":"2026-09-03T19:30:12Z","event":"question.opened"}',
    '{"ts":"2026-09-03T19:30:12Z","event":"question.opened","question":5}',
    '{"ts":"2026-09-03T19:30:12Z","event":"task.checkpoint","event":"task.started"}',
    "\ufffd\ufffd",
  ])("parseLedger reports the line %s and reads the next", (line) => {
    expect(problemOf(line)).toBeTypeOf("string");
  });

  test("parseLedger reads an event of a newer Reeve", () => {
    expect(problemOf('{"ts":"2026-09-03T19:30:12Z","event":"mesh.joined","anything":[1]}')).toBeUndefined();
  });

  test("parseLedger reports bytes that are no UTF-8", () => {
    const bytes = Buffer.concat([
      Buffer.from(sound.slice(0, -10)),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`\n${sound}\n`),
    ]);
    const { lines, problems, count } = parseLedger(bytes, "archive");
    expect(lines.map((line) => line.line)).toEqual([2]);
    expect(problems).toMatchObject([{ path: "archive", line: 1 }]);
    expect(count).toBe(2);
  });

  test("parseLedger counts damaged lines and the last one without an end, and not an empty file", () => {
    expect(parseLedger(Buffer.from(""))).toEqual({ lines: [], problems: [], count: 0 });
    expect(parseLedger(Buffer.from(`${sound}\nbad\n`)).count).toBe(2);
    expect(parseLedger(Buffer.from(`${sound}\n{"ts":`)).count).toBe(2);
  });
});
