import { resolve } from "node:path";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import { type LintReport, lintFolder, renderLint } from "@reeve/core/memories/contract/lint.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";

interface LintResult extends LintReport {
  readonly cap: number;
}

/** The most rule lines one source puts into a file every agent reads (memories design, "Commands"). */
const defaultCap = 25;

export const memoryLint: Command = defineCommand({
  name: "memory lint",
  summary: "judge a folder of memories as an install would",
  about:
    "A memory is one Markdown file that is one rule: name and description in its front matter, the rest for who reads on. Exit 3 when a file could not be installed, 10 when there are more than the cap. Lines that begin with ! are worth a second look and fail only with --strict.",
  examples: [
    { command: "reeve memory lint", shows: "every problem of memories/, by file and line" },
    { command: "reeve memory lint ../rules --full-depth --strict", shows: "another folder and those below it" },
  ],
  args: {
    positionals: [{ name: "path", summary: "the folder; memories/ where it is left out" }],
    flags: {
      "full-depth": { type: "boolean", summary: "look into the folders below, too" },
      cap: { type: "number", value: "n", summary: "the most rule lines one source may have; 25 where it is left out" },
      strict: { type: "boolean", summary: "fail over what is only worth a second look" },
    },
  },
  class: "read-only",
  needs: "nothing",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [],
  writes: [],
  result: {
    memories: "how many files are memories",
    problems: "path, line and reason of what keeps a file from being installed",
    warnings: "the same of what is worth a second look",
    overCap: "how many rule lines are over the cap",
    cap: "the cap",
  },
  run(args, { system }): Outcome<LintResult> {
    const cap = args.cap ?? defaultCap;
    if (!Number.isSafeInteger(cap) || cap < 1) {
      throw new ReeveError("USAGE", `--cap ${cap}: is no whole number from 1`, { hint: "reeve memory lint --cap 25" });
    }
    const folder = resolve(system.cwd, args.path ?? "memories") as AbsPath;
    const report = lintFolder(system, { folder, fullDepth: args["full-depth"], cap });
    const unfit = report.problems.length > 0 || (args.strict && report.warnings.length > 0);
    const exit = unfit ? "NOTHING_FIT" : report.overCap > 0 ? "CONTRACT_UNMET" : "OK";
    return { result: { ...report, cap }, exit };
  },
  text: (result: LintResult) => renderLint(result, result.cap),
});
