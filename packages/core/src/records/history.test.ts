import { describe, expect, test } from "vitest";
import type { Layer } from "../layer/layer.ts";
import type { AbsPath } from "../system/paths.ts";
import { planFilter, readHistory } from "./history.ts";
import type { LedgerEvent } from "./ledger.ts";

const now = new Date("2026-09-03T12:00:00Z");
const none = { task: undefined, event: undefined, since: undefined };

function event(members: Readonly<Record<string, unknown>>): LedgerEvent {
  return { ts: "2026-09-03T11:00:00Z", event: "task.started", ...members };
}

describe("planFilter", () => {
  test("planFilter passes everything when nothing is asked for", () => {
    expect(planFilter(none, now)(event({}))).toBe(true);
  });

  test("planFilter passes lines of one task and of one event", () => {
    expect(planFilter({ ...none, task: "t-1" }, now)(event({ task_id: "t-1" }))).toBe(true);
    expect(planFilter({ ...none, task: "t-1" }, now)(event({ task_id: "t-11" }))).toBe(false);
    expect(planFilter({ ...none, task: "t-1" }, now)(event({}))).toBe(false);
    expect(planFilter({ ...none, event: "task.finished" }, now)(event({}))).toBe(false);
  });

  test.each([
    ["60m", true],
    ["59m", false],
    ["1h", true],
    ["3599s", false],
    ["7d", true],
    ["2026-09-03T11:00:00Z", true],
    ["2026-09-03T11:00:01Z", false],
    ["2026-09-04", false],
  ])("planFilter passes a line of an hour ago since %s: %s", (since, passes) => {
    expect(planFilter({ ...none, since }, now)(event({}))).toBe(passes);
  });

  test("planFilter refuses a time and an event nobody knows, and guesses the event meant", () => {
    expect(() => planFilter({ ...none, since: "yesterday" }, now)).toThrow(expect.objectContaining({ code: "USAGE" }));
    expect(() => planFilter({ ...none, event: "task.startd" }, now)).toThrow(
      expect.objectContaining({ code: "USAGE", hint: "did you mean 'task.started'?" }),
    );
    expect(() => planFilter({ ...none, event: "toString" }, now)).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});

describe("readHistory", () => {
  const stamp = "ledger.20260903T100000Z";
  const files: Readonly<Record<string, string>> = {
    "ledger.20260902T100000Z.jsonl.archived": "one",
    [`${stamp}.jsonl.archived`]: "two",
    [`${stamp}-2.jsonl.archived`]: "three",
    [`${stamp}-10.jsonl.archived`]: "four",
    "ledger.jsonl": "five",
    "ledger.jsonl.lock": "not a ledger",
    "ledger.notes.md": "not a ledger",
  };
  const line = (question: string): Buffer =>
    Buffer.from(`${JSON.stringify({ event: "question.opened", question, ts: "2026-09-03T10:00:00Z" })}\n`);
  const layer = {
    locate: (path: string) => `/${path}` as AbsPath,
    readBytes: () => line("five"),
    system: {
      list: () =>
        Object.keys(files)
          .sort()
          .map((name) => ({ name, kind: "file" })),
      readBytes: (path: string) => line(files[path.split("/").at(-1) ?? ""] ?? "?"),
    },
  } as unknown as Layer;

  test("readHistory reads the ledger alone, or the archives before it, oldest first", () => {
    const said = (archives: boolean): unknown[] => readHistory(layer, archives).map(({ value }) => value["question"]);
    expect(said(false)).toEqual(["five"]);
    expect(said(true)).toEqual(["one", "two", "three", "four", "five"]);
  });
});
