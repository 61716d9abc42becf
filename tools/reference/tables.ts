import { errorTable } from "@reeve/core/findings/errors.ts";
import { exitCodes } from "@reeve/core/findings/exit.ts";
import { type EventSchema, events } from "@reeve/core/records/events.ts";
import { outsideFolders } from "@reeve/core/state/outside.ts";
import { table } from "@reeve/core/state/table.ts";
import type { StateTable } from "@reeve/store/table";
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
  const below = outsideFolders.map(({ name, table: own }) => `## \`${name}\`\n\n${renderEntries(own)}`);
  const layer = `${made} Every file Reeve keeps, by the folder its path begins in.\n\n## The repository\n\n${renderEntries(table)}`;
  return `# State files\n\n${[layer, ...below].join("\n\n")}\n`;
}

function renderEntries(own: StateTable): string {
  const rows = own.entries.map(({ path, holds, purpose, because }) => [
    path,
    own.groupOf(path) ?? "",
    holds,
    purpose,
    because,
  ]);
  return renderTable(["path", "group", "holds", "purpose", "because"], rows);
}
