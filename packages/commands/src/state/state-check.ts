import { collectFindings, type Finding } from "@reeve/core/findings/finding.ts";
import { plural } from "@reeve/core/findings/plural.ts";
import { shellWord } from "@reeve/core/findings/quote.ts";
import { readTable } from "@reeve/core/state/contributed.ts";
import { examine } from "@reeve/core/state/health.ts";
import { listFiles } from "@reeve/core/state/survey.ts";
import { listWronglyTracked } from "@reeve/core/state/tracked.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import { renderVerdict } from "../text.ts";

export const stateCheck: Command = defineCommand({
  name: "state check",
  summary: "find files nobody declared, damaged ones, and those git or others must not have",
  about: "Reads every file of the layer and changes nothing. Exit 10 when anything is wrong.",
  examples: [
    { command: "reeve state check", shows: "what is wrong with the layer's files, if anything" },
    { command: "reeve state check --verbose", shows: "every file that was looked at" },
  ],
  args: {},
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "findings",
  reads: [
    ".ai/README.md",
    ".ai/manifest.yaml",
    ".ai/repo/",
    ".ai/local/state/current.yaml",
    ".ai/local/cache/",
    ".ai/local/run/",
  ],
  writes: [],
  result: { files: "how many files were looked at" },
  async run(_args, { layer, system }): Promise<Outcome<{ readonly files: number }>> {
    const table = readTable(layer);
    const findings = collectFindings("state");
    const files = listFiles(layer, table);
    for (const file of files) {
      const ailments = await examine(layer, file);
      for (const { line, reason, next } of ailments) {
        const subject = line === undefined ? file.path : `${file.path}:${line}`;
        findings.fail({ subject, message: reason, reproduce: `reeve state explain ${shellWord(file.path)}`, next });
      }
      if (ailments.length === 0)
        findings.ok(file.path, `${file.group ?? "no class"}, ${plural(file.info.size, "byte")}`);
    }
    for (const path of listWronglyTracked(system, layer.repository, table)) {
      findings.fail({
        subject: path,
        message: `git tracks it, and its class is ${table.groupOf(path)}`,
        reproduce: `git ls-files -- ${shellWord(path)}`,
        next: `git rm --cached ${shellWord(path)}`,
      });
    }
    return { result: { files: files.length }, findings: findings.lines };
  },
  text: (_result: unknown, findings: readonly Finding[]) => renderVerdict("state check", findings),
});
