import { type ExitCode, exitCodes } from "./exit.ts";

/**
 * Every situation that stops a command, with the exit code it means and one sentence for a person.
 * `docs/reference/errors.md` is generated from this table.
 */
export const errorTable = {
  USAGE: { exit: "USAGE", says: "The arguments do not form a command." },
  UNKNOWN_COMMAND: { exit: "USAGE", says: "There is no command of this name." },
  NOT_A_REPOSITORY: { exit: "USAGE", says: "The folder is not inside a git working tree." },
  NO_GIT: { exit: "MISSING_ARTIFACT", says: "git is not installed or cannot be started." },
  GIT_FAILED: { exit: "INTERNAL_ERROR", says: "git answered with an error Reeve did not expect." },
  NO_LAYER: { exit: "MISSING_ARTIFACT", says: "The repository has no .ai/ layer yet." },
  LAYER_EXISTS: { exit: "REFUSED", says: "A layer or something in its place is already there." },
  LAYER_INVALID: { exit: "CONTRACT_UNMET", says: "The layer's manifest or one of its files is not valid." },
  HOME_MISPLACED: { exit: "REFUSED", says: ".ai/local is not this checkout's own half." },
  POLICY_INVALID: { exit: "CONTRACT_UNMET", says: "The policy or a profile does not parse or names an unknown key." },
  MISSING_FILE: { exit: "MISSING_ARTIFACT", says: "A file the command needs is not there." },
  UNREADABLE: { exit: "MISSING_ARTIFACT", says: "A file or folder cannot be read." },
  UNWRITABLE: { exit: "REFUSED", says: "A file or folder cannot be written." },
  NO_SPACE: { exit: "INTERNAL_ERROR", says: "The disk is full." },
  NO_TASK: { exit: "MISSING_ARTIFACT", says: "There is no active task in this checkout." },
  TASK_ACTIVE: { exit: "REFUSED", says: "A task is already active in this checkout." },
  TASK_OVER: { exit: "REFUSED", says: "The task has already been finished." },
  TASK_ELSEWHERE: { exit: "REFUSED", says: "The task record belongs to another worktree." },
  RECORD_DAMAGED: { exit: "CONTRACT_UNMET", says: "A record does not parse." },
  RECORD_REFUSED: { exit: "CONTRACT_UNMET", says: "The text of a record does not meet its contract." },
  NOT_FOUND: { exit: "MISSING_ARTIFACT", says: "Nothing recorded matches what was asked for." },
  AMBIGUOUS: { exit: "REFUSED", says: "More than one thing matches what was asked for." },
  SCOPE_REFUSED: { exit: "REFUSED", says: "A scope path is outside the repository or leaves it through a link." },
  REFUSED: { exit: "REFUSED", says: "The command declined; nothing was changed." },
  CONFLICT: { exit: "REFUSED", says: "A file changed while the command was at work; nothing was changed." },
  LOCK_HELD: { exit: "BUSY", says: "Another process holds the lock." },
  STATE_NEWER: { exit: "REFUSED", says: "A file was written by a newer Reeve and is left untouched." },
  INTERNAL: { exit: "INTERNAL_ERROR", says: "Reeve itself failed; this is a defect." },
} as const;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorExtras {
  /** What to type or do next. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An error a person can act on. The message says what is wrong and where; `hint` what to type next. */
export class ReeveError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = "ReeveError";
    this.code = code;
    this.hint = extras.hint;
    this.details = extras.details ?? {};
  }

  get exit(): ExitCode {
    return exitCodes[errorTable[this.code].exit];
  }
}
