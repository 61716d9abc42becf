import { relative, resolve, sep } from "node:path";
import { readTable } from "@reeve/core/state/contributed.ts";
import type { StateExplanation } from "@reeve/store/table";
import { type Command, defineCommand } from "../command.ts";
import type { Context } from "../context.ts";

/** `state explain --json`, as the design states it. */
interface ExplainResult {
  readonly path: string;
  readonly entry: string | null;
  readonly group: string | null;
  readonly tracked: boolean;
  readonly searched: boolean;
  readonly backedUp: boolean;
  readonly carried: string;
  readonly locked: boolean;
  readonly watched: boolean;
  readonly invalidates: readonly string[];
  readonly why: string;
  /** Where the file really lies, if it is there. */
  readonly place: string | null;
}

export const stateExplain: Command = defineCommand({
  name: "state explain",
  summary: "say what a path is: its class, whether it travels, and why",
  about:
    "Any path is answered: declared or not, a lock or copy of another file, one outside the layer. Nothing need be there.",
  examples: [
    { command: "reeve state explain .ai/local/state/ledger.jsonl", shows: "its class, its entry and the reason" },
    { command: "reeve state explain .ai/local/secrets/new --json", shows: "why an undeclared file is locked" },
  ],
  args: { positionals: [{ name: "path", summary: "a path in the repository", required: true }] },
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/repo/"],
  writes: [],
  result: {
    path: "from the repository's root",
    entry: "the path of the entry that claims it, or null",
    group: "config, records, local, identity, secrets, or null outside all of them",
    tracked: "git tracks it, as declared",
    searched: "a search finds it",
    backedUp: "state backup copies it",
    carried: "yes, with-prompts, with-secrets or never",
    locked: "the file API and search refuse it",
    watched: "a change of it is told to the page",
    invalidates: "the query keys it feeds",
    why: "why it is so, in a sentence",
    place: "where it really lies, or null when it is not there",
  },
  run(args, context) {
    const { layer } = context;
    const explanation = readTable(layer).explain(pathFromTop(context, args.path));
    return { result: resultOf(explanation, findPlace(context, explanation.path)) };
  },
  text: renderExplanation,
});

/** A path a person names is meant from where they are, unless it begins with the layer's own folder. */
function pathFromTop({ system, layer }: Context, given: string): string {
  if (/^\.?\.?[/\\]?\.ai(?:[/\\]|$)/i.test(given) && !given.startsWith("..")) return given;
  const path = relative(layer.repository.top, resolve(system.cwd, given)).split(sep).join("/");
  return path === "" ? "." : path;
}

function findPlace({ system, layer }: Context, path: string): string | null {
  if (!path.startsWith(".ai/")) return null;
  const place = layer.locate(path);
  return system.info(place) === undefined ? null : place;
}

function resultOf(explanation: StateExplanation, place: string | null): ExplainResult {
  const { entry, group, ...rest } = explanation;
  return { ...rest, entry: entry ?? null, group: group ?? null, place };
}

function renderExplanation(result: ExplainResult): string {
  const yes = (is: boolean): string => (is ? "yes" : "no");
  const rows: readonly (readonly [string, string])[] = [
    ["path", result.path],
    ["entry", result.entry ?? "none"],
    ["class", result.group ?? "none"],
    ["tracked", yes(result.tracked)],
    ["searched", yes(result.searched)],
    ["backed up", yes(result.backedUp)],
    ["travels", result.carried],
    ["locked", yes(result.locked)],
    ["watched", yes(result.watched)],
    ["feeds", result.invalidates.join(", ") || "nothing"],
    ["lies at", result.place ?? "not there"],
    ["why", result.why],
  ];
  return rows.map(([name, value]) => `${name.padEnd(10)} ${value}`).join("\n");
}
