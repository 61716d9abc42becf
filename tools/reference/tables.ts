import { errorTable } from "@reeve/core/findings/errors.ts";
import { exitCodes } from "@reeve/core/findings/exit.ts";
import { type EventSchema, events } from "@reeve/core/records/events.ts";
import { table } from "@reeve/core/state/table.ts";
import { renderTable } from "./commands.ts";

const made = "Made by `npm run docs`.";

const meanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  OK: "it succeeded; for a check, nothing failed",
  USAGE: "the arguments form no command, or this is no git working tree",
  NOTHING_FIT: "there was nothing valid to install",
  CONTRACT_UNMET: "a contract does not hold: the task's, the policy's, the wiring's",
  DRIFT_FOUND: "something drifted; never used by a hook",
  MISSING_ARTIFACT: "a file, a task or a tool that is needed is not there",
  INTERNAL_ERROR: "Reeve itself failed; never a pass",
  BUSY: "another process holds the lock",
  REFUSED: "declined to overwrite, or to do what was asked; nothing was changed",
};

export function renderExitCodes(): string {
  const rows = Object.entries(exitCodes).map(([name, code]) => [
    String(code),
    name,
    meanings[name as keyof typeof exitCodes],
  ]);
  return `# Exit codes\n\n${made} There is no code for "warned and went on".\n\n${renderTable(["code", "name", "meaning"], rows)}\n`;
}

export function renderErrors(): string {
  const rows = Object.entries(errorTable).map(([code, { exit, says }]) => [code, String(exitCodes[exit]), says]);
  const intro = 'With `--json` a failure is `{"ok":false,"code","exit","message","hint"}` on standard output.';
  return `# Errors\n\n${made} ${intro}\n\n${renderTable(["code", "exit", "meaning"], rows)}\n`;
}

export function renderEvents(): string {
  const rows = Object.entries(events).map(([name, schema]: [string, EventSchema]) => [
    name,
    schema.summary,
    Object.entries(schema.requires)
      .map(([member, type]) => `${member} (${type})`)
      .join(", "),
    Object.entries(schema.allows)
      .map(([member, type]) => `${member} (${type})`)
      .join(", "),
  ]);
  const envelope =
    "Every line also carries `ts`, `event`, `head`, `branch` and `by`; members stand in code-unit order.";
  return `# Ledger events\n\n${made} ${envelope}\n\n${renderTable(["event", "meaning", "requires", "allows"], rows)}\n`;
}

export function renderStateFiles(): string {
  const rows = table.entries.map((entry) => [
    entry.path,
    table.groupOf(entry.path) ?? "",
    entry.holds,
    entry.purpose,
    entry.because,
  ]);
  return `# State files\n\n${made} Every file Reeve keeps in a repository.\n\n${renderTable(["path", "group", "holds", "purpose", "because"], rows)}\n`;
}
