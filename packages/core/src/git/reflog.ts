import { join } from "node:path";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import type { Repository } from "./repository.ts";

export type ReflogKind =
  | "commit"
  | "amend"
  | "merge-commit"
  | "cherry-pick"
  | "revert"
  | "am"
  | "rebase-pick"
  | "rebase-other"
  | "fast-forward"
  | "merge"
  | "pull"
  | "checkout"
  | "reset"
  | "clone"
  | "other";

/** One movement of a working tree's HEAD. */
export interface ReflogEntry {
  /** Full commit ids; all zeros where there was none. */
  readonly before: string;
  readonly after: string;
  /** When, by the committer's clock, in seconds since 1970. */
  readonly seconds: number;
  readonly kind: ReflogKind;
  /** The step of a rebase: `start`, `pick`, `fixup`, `finish` … */
  readonly step?: string;
  readonly message: string;
}

/** The rebase steps that leave a new commit behind. */
const picking: ReadonlySet<string> = new Set(["pick", "squash", "fixup", "reword", "edit", "continue", "merge"]);

const byAction: ReadonlyMap<string, ReflogKind> = new Map<string, ReflogKind>([
  ["commit", "commit"],
  ["commit (initial)", "commit"],
  ["commit (amend)", "amend"],
  ["commit (merge)", "merge-commit"],
  ["commit (cherry-pick)", "cherry-pick"],
  ["commit (rebase)", "rebase-pick"],
  ["cherry-pick", "cherry-pick"],
  ["revert", "revert"],
  ["am", "am"],
  ["checkout", "checkout"],
  ["reset", "reset"],
  ["clone", "clone"],
  ["push", "fast-forward"],
  ["initial pull", "pull"],
  ["rebase finished", "rebase-other"],
]);

type Meaning = Pick<ReflogEntry, "kind" | "step">;

/** `rebase (pick)`, `rebase -i (pick)`, `pull --rebase origin main (pick)`, and the `rebase` of older gits. */
function parseRebase(action: string, rest: string): Meaning | undefined {
  const step = /^(?:rebase|pull)\b.* \(([a-z]+)\)$/.exec(action)?.[1];
  if (step !== undefined) return { kind: picking.has(step) ? "rebase-pick" : "rebase-other", step };
  if (!/^rebase(?: -i)?$/.test(action)) return undefined;
  const moves = /^(?:checkout |aborting|updating HEAD|returning to )/.test(rest);
  return moves ? { kind: "rebase-other" } : { kind: "rebase-pick", step: "pick" };
}

function parseMeaning(message: string): Meaning {
  const cut = message.indexOf(": ");
  const action = cut < 0 ? message.replace(/:$/, "") : message.slice(0, cut);
  const rest = cut < 0 ? "" : message.slice(cut + 2);
  const verb = action.split(" ", 1)[0] ?? "";
  const arrives = /^(?:merge|pull|rebase|fetch)$/.test(verb) && /^fast-forward\b/i.test(rest);
  if (arrives) return { kind: "fast-forward" };
  const rebase = parseRebase(action, rest);
  if (rebase !== undefined) return rebase;
  if (verb === "merge") return { kind: "merge" };
  if (verb === "pull") return { kind: "pull" };
  return { kind: byAction.get(action) ?? (verb === "commit" ? "commit" : "other") };
}

const line = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (?:.*> )?(\d+) [+-]\d+(?:\t(.*))?$/;

/**
 * Reads a reflog, oldest entry first. What moved HEAD is told from the message git left; a line that is not one of
 * git's is left out.
 */
export function parseReflog(text: string): readonly ReflogEntry[] {
  return text.split("\n").flatMap((raw) => {
    const match = line.exec(raw);
    if (match === null) return [];
    const [, before = "", after = "", seconds = "", message = ""] = match;
    return [{ before, after, seconds: Number(seconds), ...parseMeaning(message), message }];
  });
}

/** The reflog of this working tree's own HEAD; `undefined` where git keeps none. */
export function readReflog(system: System, repository: Repository): readonly ReflogEntry[] | undefined {
  const text = system.readText(join(repository.gitDir, "logs", "HEAD") as AbsPath);
  return text === undefined ? undefined : parseReflog(text);
}
