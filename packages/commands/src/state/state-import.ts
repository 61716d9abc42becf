import { plural } from "@reeve/core/findings/plural.ts";
import { shellWord } from "@reeve/core/findings/quote.ts";
import { listShipped } from "@reeve/core/layer/plan-init.ts";
import { readHomeSeeds, type Share } from "@reeve/core/layer/share.ts";
import { type Comparison, compareBundle, type Standing } from "@reeve/core/state/bundle/compare.ts";
import { parseExchanged } from "@reeve/core/state/bundle/exchange.ts";
import { type ImportPlan, planImport } from "@reeve/core/state/bundle/import.ts";
import type { Manifest } from "@reeve/core/state/bundle/manifest.ts";
import { type Bundle, openBundle } from "@reeve/core/state/bundle/open.ts";
import { bundlePlaces } from "@reeve/core/state/bundle/places.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { pathOf, treeOf } from "./bundle-places.ts";
import { passphraseFlag, readPassphrase } from "./passphrase.ts";

interface ImportedFile {
  readonly path: string;
  readonly group: string;
  readonly status: Standing;
  readonly bytes: number;
  /** How many lines are joined; `null` where files are taken whole. */
  readonly lines: number | null;
  /** Where what is replaced goes; `null` when nothing is. */
  readonly copy: string | null;
}

interface ImportResult {
  readonly bundle: string;
  readonly applied: boolean;
  readonly origin: Manifest["origin"];
  readonly files: readonly ImportedFile[];
  readonly counts: Readonly<Record<Standing, number>>;
  readonly withheld: readonly string[];
  readonly to_do: readonly { readonly path: string; readonly note: string }[];
}

export const stateImport: Command = defineCommand({
  name: "state import",
  summary: "bring in a bundle, after showing what it would change",
  about: `All of the bundle is verified before anything is written, and everything is written as one plan. A file is new; same
(nothing of it is missing here); changed (only the bundle's side moved since the two last met, or the file here was never
edited); conflict (both moved); or kept (only the file here moved: it stays, unless --only names that very file). Logs are
joined line by line. What is replaced is first copied to .ai/local/replaced/, where it is kept for 30 days. The task of this
checkout is never touched.`,
  examples: [
    { command: "reeve state import ../layer.tgz --preview", shows: "how each of its files stands to the one here" },
    { command: "reeve state import ../layer.tgz", shows: "what was brought in, and what is left to do by hand" },
    { command: "reeve state import ../layer.tgz --only .ai/repo/rules", shows: "one folder of it" },
  ],
  args: {
    positionals: [{ name: "file", summary: "the bundle", required: true }],
    flags: {
      preview: { type: "boolean", summary: "show what would change, and change nothing" },
      only: { type: "list", value: "path", summary: "only this file or folder of it" },
      "include-prompts": { type: "boolean", summary: "bring in its prompts" },
      "include-secrets": { type: "boolean", summary: "bring in its secrets" },
      ...passphraseFlag,
    },
  },
  class: "state-mutating",
  readsWith: ["preview"],
  needs: "layer",
  surfaces: ["cli"],
  output: "value",
  reads: [".ai/"],
  writes: [".ai/"],
  result: {
    bundle: "the file",
    applied: "the files were brought in; false in a preview",
    origin: "of the bundle: repository (id of its first commit), exported_at, reeve (version)",
    files:
      "path, group, status (new, same, changed, conflict, kept), bytes, lines (joined, or null), copy (path or null)",
    counts: "files of each status",
    withheld: "paths of the bundle that were not asked for",
    to_do: "path and note of what did not travel and wants a person",
  },
  prepare: (args, context): Promise<Bundle> =>
    openBundle(
      {
        system: context.system,
        path: pathOf(context, args.file),
        shown: args.file,
        passphrase: readPassphrase(context, args["passphrase-file"]),
      },
      treeOf(context.layer),
    ),
  async run(args, context, bundle): Promise<Outcome<ImportResult>> {
    const { layer, system, share } = context;
    const tree = treeOf(layer);
    const { exchanged: path } = bundlePlaces;
    const exchanged = parseExchanged(system.readText(layer.locate(path)), path);
    const consents = { prompts: args["include-prompts"], secrets: args["include-secrets"] };
    const comparison = await compareBundle({
      system,
      tree,
      bundle,
      shown: args.file,
      consents,
      only: args.only,
      exchanged,
      shipped: shippedTexts(share),
    });
    const resultOf = (planned?: ImportPlan): ImportResult =>
      describe(context, { bundle: args.file, manifest: bundle.manifest, comparison, planned });
    if (args.preview) return { result: resultOf() };
    const stamp = system
      .now()
      .toISOString()
      .replaceAll(/[-:]|\.\d+/g, "");
    const request = { system, tree, bundle, comparison, exchanged, places: bundlePlaces };
    const planned = await planImport({ ...request, stamp: `${stamp}-${system.randomHex(4)}` });
    const { plan, stage } = planned;
    const result = resultOf(planned);
    if (stage === undefined || context.dry) return { result, plan };
    return {
      result,
      plan,
      upkeep: async () => {
        await stage();
        return result;
      },
    };
  },
  text: renderImport,
});

/** What `reeve init` wrote at each path. */
function shippedTexts(share: Share): (path: string) => string | undefined {
  const shipped = new Map(listShipped(share));
  const seeds = readHomeSeeds(share);
  return (path) => {
    const name = shipped.get(path);
    return name === undefined ? seeds[path.replace(/^\.ai\/local\//, "")] : share.read(name);
  };
}

interface Described {
  readonly bundle: string;
  readonly manifest: Manifest;
  readonly comparison: Comparison;
  /** `undefined` in a preview. */
  readonly planned: ImportPlan | undefined;
}

function describe(context: Context, { bundle, manifest, comparison, planned }: Described): ImportResult {
  const files = comparison.files.map(({ file, standing, missing }): ImportedFile => {
    const { path, group, size } = file;
    const copy = planned?.copies.get(path) ?? null;
    return { path, group, status: standing, bytes: size, lines: missing?.length ?? null, copy };
  });
  const counts = { new: 0, same: 0, changed: 0, conflict: 0, kept: 0 };
  for (const { status } of files) counts[status] += 1;
  const { origin } = manifest;
  const { withheld } = comparison;
  const to_do = notesOf(context, manifest, withheld);
  return { bundle, applied: planned !== undefined, origin, files, counts, withheld, to_do };
}

/** The notes of this table's entries of which something did not come. */
function notesOf({ layer }: Context, { left_out }: Manifest, withheld: readonly string[]): ImportResult["to_do"] {
  const { table } = treeOf(layer);
  const left = new Set([...left_out.map(({ path }) => path), ...withheld.map((path) => table.entryFor(path)?.path)]);
  return table.entries.flatMap(({ path, note }) => (note !== undefined && left.has(path) ? [{ path, note }] : []));
}

function renderImport({ bundle, applied, origin, files, counts, withheld, to_do }: ImportResult): string {
  const from = `${bundle}: exported ${origin.exported_at} by Reeve ${origin.reeve}`;
  const moved = files.filter(({ status }) => status !== "same");
  const rows = moved.map(({ status, path, lines, copy }) => {
    const joined = lines === null ? "" : ` (${plural(lines, "line")} joined)`;
    return `${status.padEnd(8)}  ${path}${joined}${copy === null ? "" : `; what was here: ${copy}`}`;
  });
  const tally = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ");
  const left =
    withheld.length === 0 ? [] : [`not asked for, and left in the bundle: ${plural(withheld.length, "file")}`];
  const notes = to_do.map(({ path, note }) => `to do: ${note} (${path})`);
  const wanted = counts.new + counts.changed + counts.conflict > 0;
  const next = applied || !wanted ? [] : [`next: reeve state import ${shellWord(bundle)}`];
  const done = applied ? "brought in" : "nothing was changed";
  return [from, ...rows, `${done}: ${tally === "" ? "no file" : tally}`, ...left, ...notes, ...next].join("\n");
}
