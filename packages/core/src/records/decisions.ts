import type { Change } from "@reeve/store";
import { ReeveError } from "../findings/errors.ts";
import { appendChange, type Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";

export const decisionsPath: string = statePath(".ai/local/state/decisions.md");

/** One entry of `decisions.md` (reference 1.13). An absent value is "-" in the file and `undefined` here. */
export interface Decision {
  readonly line: number;
  readonly date: string;
  readonly title: string;
  readonly task: string | undefined;
  readonly head: string | undefined;
  readonly why: string | undefined;
  readonly rejected: string | undefined;
  readonly evidence: string | undefined;
  readonly supersedes: string | undefined;
  readonly supersededBy: string | undefined;
}

const fields = ["task", "head", "why", "rejected", "evidence", "supersedes"] as const;
type Field = (typeof fields)[number];

/** Comments a person or the skeleton wrote: they begin a line. What an entry says is never one. */
function withoutComments(text: string): string {
  return text.replaceAll(/^<!--[\s\S]*?(?:-->|$(?![\s\S]))/gm, (comment) => comment.replaceAll(/[^\n]/g, " "));
}

/** The entries in file order. A value that runs over several lines belongs to the field above it. */
export function parseDecisions(text: string): readonly Decision[] {
  const entries: (Record<Field, string | undefined> & { line: number; date: string; title: string })[] = [];
  let field: Field | undefined;
  withoutComments(text.replaceAll("\r\n", "\n"))
    .split("\n")
    .forEach((row, index) => {
      const heading = /^## (\d{4}-\d\d-\d\d) \u2014 ([^\n]+)$/.exec(row);
      const last = entries.at(-1);
      if (heading !== null) {
        const blank = { task: undefined, head: undefined, why: undefined, rejected: undefined, evidence: undefined };
        entries.push({
          line: index + 1,
          date: heading[1] ?? "",
          title: heading[2] ?? "",
          ...blank,
          supersedes: undefined,
        });
        field = undefined;
        return;
      }
      if (last === undefined) return;
      const member = /^(Task|Head|Why|Rejected|Evidence|Supersedes): ?([^\n]*)$/.exec(row);
      if (member !== null) {
        field = fields.find((name) => name === member[1]?.toLowerCase());
        if (field !== undefined) last[field] = member[2] === "-" || member[2] === "" ? undefined : member[2];
      } else if (field !== undefined && /^ {2}\S/.test(row)) last[field] = `${last[field] ?? ""}\n${row.trim()}`.trim();
    });
  return entries.map((entry) => ({
    ...entry,
    supersededBy: entries.find((other) => other.line > entry.line && other.supersedes === entry.title)?.title,
  }));
}

export function readDecisions(layer: Layer): readonly Decision[] {
  return parseDecisions(layer.read(decisionsPath) ?? "");
}

export interface NewDecision {
  readonly date: string;
  readonly title: string;
  readonly task: string | undefined;
  readonly head: string;
  readonly why: string;
  readonly rejected: string | undefined;
  readonly evidence: string | undefined;
  readonly supersedes: string | undefined;
}

function renderValue(value: string | undefined): string {
  return value === undefined ? "-" : value.trim().replaceAll(/\s*(?:\r\n?|[\n\u2028\u2029])\s*/g, "\n  ");
}

export function renderDecision(decision: NewDecision): string {
  return [
    "",
    `## ${decision.date} — ${decision.title}`,
    "",
    `Task: ${renderValue(decision.task)}`,
    `Head: ${renderValue(decision.head)}`,
    `Why: ${renderValue(decision.why)}`,
    `Rejected: ${renderValue(decision.rejected)}`,
    `Evidence: ${renderValue(decision.evidence)}`,
    `Supersedes: ${renderValue(decision.supersedes)}`,
    "",
  ].join("\n");
}

export function decisionChange(layer: Layer, decision: NewDecision): Change {
  return appendChange(layer, decisionsPath, renderDecision(decision));
}

/** The one recorded decision a text means; refused when it means none or several. */
export function findDecision(decisions: readonly Decision[], text: string): Decision {
  const exact = decisions.filter((decision) => decision.title === text);
  const found = exact.length > 0 ? exact.slice(-1) : decisions.filter((decision) => decision.title.includes(text));
  const [only] = found;
  if (only === undefined) {
    throw new ReeveError("NOT_FOUND", `no recorded decision has '${text}' in its title`, {
      hint: "reeve decision list",
    });
  }
  if (found.length > 1) {
    const titles = found.map((decision) => `'${decision.title}'`).join(", ");
    throw new ReeveError("AMBIGUOUS", `'${text}' is in the titles of ${found.length} decisions: ${titles}`, {
      hint: "give a text that is in one title only",
    });
  }
  return only;
}
