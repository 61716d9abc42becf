import { type ErrorCode, errorTable, ReeveError } from "@reeve/core/findings/errors.ts";
import { type ExitCode, exitCodes } from "@reeve/core/findings/exit.ts";

/** A failure as `--json` prints it. */
export interface FailureValue {
  readonly code: ErrorCode;
  readonly exit: ExitCode;
  readonly message: string;
  readonly hint: string | undefined;
}

export interface Failure {
  readonly value: FailureValue;
  readonly text: string;
  /** Usage and internal errors go to standard error; a refusal is the command's answer. */
  readonly stream: 1 | 2;
}

const storeCodes: Readonly<Record<string, ErrorCode>> = {
  LOCK_HELD: "LOCK_HELD",
  LOCK_NESTED: "INTERNAL",
  NO_SPACE: "NO_SPACE",
  NO_PERMISSION: "UNWRITABLE",
  READ_ONLY: "UNWRITABLE",
  REFUSED_PATH: "REFUSED",
  CONFLICT: "CONFLICT",
  NEWER: "STATE_NEWER",
  DAMAGED: "RECORD_DAMAGED",
};

interface CodedError extends Error {
  readonly code: string;
  readonly hint?: string;
}

function isStoreError(error: unknown): error is CodedError {
  return error instanceof Error && error.name === "StoreError" && "code" in error;
}

function toReeveError(error: unknown): ReeveError {
  if (error instanceof ReeveError) return error;
  if (isStoreError(error)) {
    const extras = error.hint === undefined ? { cause: error } : { cause: error, hint: error.hint };
    return new ReeveError(storeCodes[error.code] ?? "INTERNAL", error.message, extras);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ReeveError("INTERNAL", message, { cause: error, hint: "REEVE_DEBUG=1 prints where it happened" });
}

/** What a person, and a program, is told about an error. */
export function describeFailure(error: unknown): Failure {
  const known = toReeveError(error);
  const { code, exit, message, hint } = known;
  const usual = errorTable[code].exit !== "INTERNAL_ERROR" && errorTable[code].exit !== "USAGE";
  const deep =
    code === "INTERNAL" && process.env["REEVE_DEBUG"] ? `\n${error instanceof Error ? error.stack : ""}` : "";
  const lines = [`reeve: ${message}${deep}`, ...(hint === undefined ? [] : [`  next: ${hint}`])];
  return {
    value: { code, exit: exitCodes[errorTable[code].exit], message, hint },
    text: `${lines.join("\n")}\n`,
    stream: exit !== 0 && usual ? 1 : 2,
  };
}
