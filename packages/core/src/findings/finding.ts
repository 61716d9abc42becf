import type { ExitCode } from "./exit.ts";
import { exitCodes } from "./exit.ts";

export type Level = "OK" | "INFO" | "WARN" | "FAIL" | "DRIFT" | "REFUSE";

/** One line a check prints (governance design, "Output"). */
export interface Finding {
  readonly level: Level;
  readonly category: string;
  readonly subject: string;
  readonly message: string;
  /** A command that shows what was found; present on every WARN, FAIL, DRIFT and REFUSE. */
  readonly reproduce?: string;
  /** What to do about it. */
  readonly next?: string;
}

export interface Trouble {
  readonly subject: string;
  readonly message: string;
  readonly reproduce: string;
  readonly next?: string;
}

/** The lines of one check, all of one category. */
export interface Findings {
  ok(subject: string, message: string): void;
  info(subject: string, message: string): void;
  warn(trouble: Trouble): void;
  fail(trouble: Trouble): void;
  readonly lines: readonly Finding[];
}

export function collectFindings(category: string): Findings {
  const lines: Finding[] = [];
  return {
    lines,
    ok: (subject, message) => void lines.push({ level: "OK", category, subject, message }),
    info: (subject, message) => void lines.push({ level: "INFO", category, subject, message }),
    warn: (trouble) => void lines.push({ level: "WARN", category, ...trouble }),
    fail: (trouble) => void lines.push({ level: "FAIL", category, ...trouble }),
  };
}

/** Only FAIL and DRIFT move an exit code. */
export function exitOf(findings: readonly Finding[]): ExitCode {
  if (findings.some((finding) => finding.level === "FAIL")) return exitCodes.CONTRACT_UNMET;
  return findings.some((finding) => finding.level === "DRIFT") ? exitCodes.DRIFT_FOUND : exitCodes.OK;
}
