import { join } from "node:path";
import { plural } from "@reeve/core/findings/plural.ts";
import { type Instructions, readInstructions } from "@reeve/core/harnesses/instructions.ts";
import { describeSquatter, hasLayer, moveAside, openLayer } from "@reeve/core/layer/layer.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import { type Overview, readOverview } from "@reeve/core/work/overview.ts";
import { type Command, defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { overviewMembers, renderThreeLines, toValue } from "./screen.ts";

type OverviewResult =
  | { readonly layer: true; readonly overview: Overview; readonly now: Date }
  | {
      readonly layer: false;
      readonly agents: readonly Instructions[];
      readonly worktrees: readonly string[];
      /** What stands where the layer belongs, in words. */
      readonly squatter: string | undefined;
    };

function readWithoutLayer(context: Context): OverviewResult {
  const { system, git } = context;
  const { top } = git.repository;
  const others = git.worktrees().filter((worktree) => worktree.present && worktree.path !== top);
  const kind = system.info(join(top, ".ai") as AbsPath)?.kind;
  return {
    layer: false,
    agents: readInstructions(system, top),
    worktrees: others.map((worktree) => worktree.path),
    squatter: kind === undefined || kind === "directory" ? undefined : describeSquatter(kind),
  };
}

function renderWithoutLayer({ agents, worktrees, squatter }: OverviewResult & { readonly layer: false }): string {
  const rows = agents.map(({ agent, files, cut }) => {
    const read = files.map((file) => `${file.path} (${file.bytes} bytes)`).join(", ");
    const lost = cut === 0 ? "" : ` — the last ${cut} bytes are cut off`;
    return `  ${agent.padEnd(15)} ${read === "" ? "configured; no instruction file" : `reads ${read}`}${lost}`;
  });
  const seen =
    rows.length === 0
      ? ["No agent is configured here, and no instruction file lies at the root."]
      : ["Agents here, and what each reads:", ...rows];
  const also = worktrees.length === 0 ? [] : [`${plural(worktrees.length, "other worktree")}: ${worktrees.join(", ")}`];
  return [
    ...seen,
    ...also,
    squatter === undefined
      ? "There is no layer yet; nothing was written."
      : `There is no layer: ${squatter}; nothing was written.`,
    `next: ${squatter === undefined ? "" : `${moveAside}, then: `}reeve init --hooks   (reeve init --dry-run shows what it writes)`,
  ].join("\n");
}

export const overview: Command = defineCommand({
  name: "",
  summary: "say in three lines how work stands, or how to begin",
  examples: [{ command: "reeve", shows: "branch and task, what is off, what to type" }],
  args: {},
  class: "read-only",
  needs: "repo",
  surfaces: ["cli"],
  output: "value",
  prefetch: "history",
  reads: [".ai/local/state/", ".ai/repo/"],
  writes: [],
  result: {
    ...overviewMembers,
    agents: "without a layer: agent, files (path, bytes), cut",
    worktrees: "without a layer: the other worktrees",
  },
  async run(_args, context): Promise<{ readonly result: OverviewResult }> {
    const { system, git, version } = context;
    if (!hasLayer(system, git.repository)) return { result: readWithoutLayer(context) };
    const layer = openLayer({ system, repository: git.repository, version, caches: context.caches, dry: context.dry });
    const overview = await readOverview(layer, git);
    layer.documents.keep();
    return { result: { layer: true, overview, now: system.now() } };
  },
  json: (result: OverviewResult) => (result.layer ? toValue(result.overview) : result),
  text: (result: OverviewResult) =>
    result.layer ? renderThreeLines(result.overview, result.now) : renderWithoutLayer(result),
});
