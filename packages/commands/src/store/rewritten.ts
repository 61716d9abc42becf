import { plural } from "@reeve/core/findings/plural.ts";
import type { RewriteReport } from "@reeve/store";

/** What became of a file of lines, as the store commands answer it. */
export interface Rewritten {
  readonly path: string;
  /** Was it rewritten; in a dry run, would it be? */
  readonly changed: boolean;
  readonly lines_before: number;
  readonly lines_after: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
  /** Damaged lines that were moved. */
  readonly moved: readonly { readonly line: number; readonly reason: string }[];
  /** Where they are; `null` when there were none. */
  readonly damaged_path: string | null;
}

/** The members of {@link Rewritten}, for the reference. */
export const rewrittenMembers = {
  dry_run: "nothing was written, this is what would be",
  stores:
    "path, changed, lines_before, lines_after, bytes_before, bytes_after, moved (line and reason of each damaged line), damaged_path",
} as const;

/** What a store command that rewrites answers. */
export interface RewriteResult {
  readonly dry_run: boolean;
  readonly stores: readonly Rewritten[];
}

/** The library's report, under the name the person used. */
export function rewrittenOf(path: string, report: RewriteReport): Rewritten {
  return {
    path,
    changed: report.changed,
    lines_before: report.linesBefore,
    lines_after: report.linesAfter,
    bytes_before: report.bytesBefore,
    bytes_after: report.bytesAfter,
    moved: report.moved.map(({ line, reason }) => ({ line, reason })),
    damaged_path: report.moved.length === 0 ? null : `${path}.damaged`,
  };
}

/** One line for each file, and one for each damaged line. */
export function renderRewritten({ dry_run, stores }: RewriteResult, nothing: string): string {
  if (stores.length === 0) return "there is no such file yet";
  return stores.flatMap((store) => renderOne(store, dry_run, nothing)).join("\n");
}

function renderOne(store: Rewritten, dry: boolean, nothing: string): readonly string[] {
  if (!store.changed) return [`${store.path}: ${nothing}`];
  const sizes = `${plural(store.lines_before, "line")} to ${store.lines_after}, ${plural(store.bytes_before, "byte")} to ${store.bytes_after}`;
  const moved = store.moved.map(({ line, reason }) => `  line ${line}: ${reason}`);
  const where = `${dry ? "would move" : "moved"} ${plural(moved.length, "damaged line")} to ${store.damaged_path}`;
  return [
    `${store.path}: ${dry ? "would go from" : "went from"} ${sizes}`,
    ...(moved.length === 0 ? [] : [`${store.path}: ${where}`, ...moved]),
  ];
}
