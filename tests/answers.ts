import { expect } from "vitest";
import type { Answer } from "./scene.ts";

/** A finding as `--json` prints it. */
export interface FoundLine {
  readonly level: string;
  readonly category: string;
  readonly subject: string;
  readonly message: string;
  readonly reproduce?: string;
  readonly next?: string;
}

export interface FailureLine {
  readonly ok: false;
  readonly code: string;
  readonly exit: number;
  readonly message: string;
  readonly hint?: string;
}

export type Members = Readonly<Record<string, unknown>>;

/** The lines of a text, without the empty ones. */
export function rowsOf(text: string): readonly string[] {
  return text.split("\n").filter((row) => row !== "");
}

/** Every line of a `--json` answer of a check. */
export function foundIn(answer: Answer): readonly FoundLine[] {
  return rowsOf(answer.stdout).map((row) => JSON.parse(row) as FoundLine);
}

/** The findings of one level. */
export function ofLevel(answer: Answer, level: string): readonly FoundLine[] {
  return foundIn(answer).filter((finding) => finding.level === level);
}

/** The one finding that fails, which must be the only one. */
export function onlyFailure(answer: Answer): FoundLine {
  const failed = ofLevel(answer, "FAIL");
  expect(failed, answer.stdout).toHaveLength(1);
  return failed[0] as FoundLine;
}

/** The `result` of a `--json` answer. */
export function resultOf(answer: Answer): Members {
  expect(answer, answer.stdout).toMatchObject({ exit: 0, stderr: "" });
  const said = JSON.parse(answer.stdout) as { readonly ok: boolean; readonly result: Members };
  expect(said.ok).toBe(true);
  return said.result;
}

/** A `--json` failure: one object on standard output, its exit the process's own, nothing on standard error. */
export function failureOf(answer: Answer): FailureLine {
  expect(answer.stderr).toBe("");
  expect(rowsOf(answer.stdout)).toHaveLength(1);
  const said = JSON.parse(answer.stdout) as FailureLine;
  expect(said).toMatchObject({ ok: false, exit: answer.exit });
  expect(typeof said.code).toBe("string");
  expect(said.message).not.toBe("");
  return said;
}
