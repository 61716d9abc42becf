import { collectFindings, type Finding } from "@reeve/core/findings/finding.ts";
import { plural } from "@reeve/core/findings/plural.ts";
import { shellWord } from "@reeve/core/findings/quote.ts";
import { inspectLines, type LinesReport } from "@reeve/store";
import { type Command, defineCommand } from "../command.ts";
import { renderVerdict } from "../text.ts";
import { findTargets, keyFlag, type Target } from "./target.ts";

export const storeVerify: Command = defineCommand({
  name: "store verify",
  summary: "read stores and logs from end to end and name every damaged line",
  about:
    "A damaged line costs itself only: every other line counts. Without a path, the layer's own. Exit 10 when a line is damaged.",
  examples: [
    { command: "reeve store verify", shows: "the layer's stores and logs" },
    { command: "reeve store verify jobs.jsonl --key id", shows: "any file of lines, read as a store" },
  ],
  args: { positionals: [{ name: "path", summary: "a .jsonl file; all of the layer's when left out" }], flags: keyFlag },
  class: "read-only",
  needs: "any",
  surfaces: ["cli", "mcp", "http"],
  output: "findings",
  reads: [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
  writes: [],
  result: { stores: "what was read: path, bytes, lines, entries, keys" },
  run(args, context) {
    const targets = findTargets(context, args.path, args.key);
    const findings = collectFindings("state");
    const stores = targets.map((target) => {
      const report = inspectLines(target.path, { key: target.key });
      addFindings(findings, target, report);
      const { bytes, lines, entries, keys } = report;
      return { path: target.shown, bytes, lines, entries, keys: keys ?? null };
    });
    return { result: { stores }, findings: findings.lines };
  },
  text: (_result: unknown, findings: readonly Finding[]) => renderVerdict("store verify", findings),
});

function addFindings(findings: ReturnType<typeof collectFindings>, target: Target, report: LinesReport): void {
  const { shown, key, isDeclared } = target;
  const named = `${shellWord(shown)}${key === undefined || isDeclared ? "" : ` --key ${shellWord(key)}`}`;
  for (const { line, reason } of report.damaged) {
    findings.fail({
      subject: `${shown}:${line}`,
      message: `${reason}; the line is skipped, every other line counts`,
      reproduce: `reeve store verify ${named}`,
      next: target.edited === "hand" ? `mend line ${line} by hand` : `reeve store repair ${named}`,
    });
  }
  const { keys, lines, bytes, damaged } = report;
  const spare = keys === undefined || keys === lines ? "" : `; reeve store compact would leave ${plural(keys, "line")}`;
  const counted = keys === undefined ? "" : `, ${plural(keys, "key")}`;
  const good = plural(lines - damaged.length, "well-formed line");
  findings.ok(shown, `${good}${counted}, ${plural(bytes, "byte")}${spare}`);
}
