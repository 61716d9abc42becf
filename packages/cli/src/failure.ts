import { type ErrorCode, errorTable, ReeveError } from "@reeve/core/findings/errors.ts";
import { type ExitCode, exitCodes } from "@reeve/core/findings/exit.ts";

/** A failure as `--json` prints it. */
export interface FailureValue {
  readonly code: ErrorCode;
  readonly exit: ExitCode;
  readonly message: string;
  /** What to type or do next; `null` when there is nothing to say. */
  readonly hint: string | null;
}

export interface Failure {
  readonly value: FailureValue;
  readonly text: string;
  /** Usage and internal errors go to standard error; a refusal is the command's answer. */
  readonly stream: 1 | 2;
}

interface StoreSituation {
  readonly code: ErrorCode;
  /** What to type or do, where the error itself does not say. */
  readonly hint: string;
}

const storeSituations: Readonly<Record<string, StoreSituation>> = {
  LOCK_HELD: { code: "LOCK_HELD", hint: "wait for it to end, then run the command again" },
  NO_SPACE: { code: "NO_SPACE", hint: "make room on the disk, then run the command again" },
  NO_PERMISSION: { code: "UNWRITABLE", hint: "look at the folder's owner and permissions: ls -ld <path>" },
  READ_ONLY: { code: "UNWRITABLE", hint: "the file system is mounted read-only; work in a copy that can be written" },
  REFUSED_PATH: {
    code: "REFUSED",
    hint: "look at what lies there (ls -ld <path>), move it away, and run the command again",
  },
  OLD_FORMAT: { code: "REFUSED", hint: "set it aside: mv <path> <path>.old" },
  NOT_FOUND: { code: "MISSING_FILE", hint: "look for it: ls -l <path>" },
  CONFLICT: { code: "CONFLICT", hint: "run the command again" },
  NEWER: { code: "STATE_NEWER", hint: "install the newer Reeve: npm install --global reeve" },
  DAMAGED: {
    code: "RECORD_DAMAGED",
    hint: "look at it; once you have what you need, move it aside: mv <path> <path>.aside",
  },
};

interface CodedError extends Error {
  readonly code: string;
  readonly path: string;
  readonly hint?: string;
}

function isStoreError(error: unknown): error is CodedError {
  return error instanceof Error && error.name === "StoreError" && "code" in error;
}

function toReeveError(error: unknown): ReeveError {
  // Chunks have classes of their own, so an error is known by its name.
  if (error instanceof Error && error.name === "ReeveError") return error as ReeveError;
  if (isStoreError(error)) {
    const situation = storeSituations[error.code];
    const hint = error.hint ?? situation?.hint.replaceAll("<path>", error.path);
    return new ReeveError(
      situation?.code ?? "INTERNAL",
      error.message,
      hint === undefined ? { cause: error } : { cause: error, hint },
    );
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
    value: { code, exit: exitCodes[errorTable[code].exit], message, hint: hint ?? null },
    text: `${lines.join("\n")}\n`,
    stream: exit !== 0 && usual ? 1 : 2,
  };
}
