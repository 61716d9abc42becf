/** The exit codes of the whole product (governance design, "Exit codes"). */
export const exitCodes = {
  OK: 0,
  USAGE: 2,
  NOTHING_FIT: 3,
  CONTRACT_UNMET: 10,
  DRIFT_FOUND: 11,
  MISSING_ARTIFACT: 12,
  INTERNAL_ERROR: 13,
  BUSY: 14,
  REFUSED: 15,
} as const;

export type ExitName = keyof typeof exitCodes;
export type ExitCode = (typeof exitCodes)[ExitName];
