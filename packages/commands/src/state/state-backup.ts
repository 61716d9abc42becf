import { plural } from "@reeve/core/findings/plural.ts";
import { type BackupReport, backUp } from "@reeve/core/state/bundle/backup.ts";
import type { PassedOver } from "@reeve/core/state/bundle/tree.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { firstCommit, layerFolders, pathOf, treeOf } from "./bundle-places.ts";

interface BackupResult {
  readonly dry_run: boolean;
  readonly folder: string;
  readonly copied: readonly string[];
  readonly copied_bytes: number;
  readonly unchanged: number;
  readonly kept: readonly string[];
  readonly passed_over: readonly PassedOver[];
}

export const stateBackup: Command = defineCommand({
  name: "state backup",
  summary: "copy what is worth a backup into a folder, one way",
  about: `Configuration, records and identity are copied under the paths they have here; caches and secrets are not. A second run
copies only what changed, by hash, and keeps what is gone here. Links are neither followed nor copied. The folder is one of
its own, outside the repository.`,
  examples: [
    { command: "reeve state backup ~/backups/project", shows: "what was copied" },
    { command: "reeve state backup ~/backups/project --dry-run", shows: "what would be" },
  ],
  args: { positionals: [{ name: "dir", summary: "the folder; made when it is not there", required: true }] },
  class: "generated-output-mutating",
  needs: "layer",
  surfaces: ["cli"],
  output: "value",
  reads: [".ai/"],
  writes: [".ai/local/run/"],
  result: {
    dry_run: "nothing was copied, this is what would be",
    folder: "as it was named",
    copied: "paths that were copied",
    copied_bytes: "of those files; 0 in a dry run",
    unchanged: "how many files are in the copy already",
    kept: "paths in the copy that are not here any more",
    passed_over: "path and because (undeclared, derived, kind, name) of what is no file of an entry",
  },
  run(args, context): Outcome<BackupResult> {
    const back = (dry: boolean): BackupResult => resultOf(args.dir, dry, runBackup(args.dir, context, dry));
    // Under the layer's lock, so that no command is half-way; the copies lie outside of every plan.
    return context.dry
      ? { result: back(true), upkeep: async () => back(true) }
      : { result: resultOf(args.dir, false, undefined), upkeep: async () => back(false) };
  },
  text: renderBackup,
});

function runBackup(dir: string, context: Context, dry: boolean): BackupReport {
  const { system, layer, git } = context;
  return backUp({
    system,
    tree: treeOf(layer),
    target: pathOf(context, dir),
    closed: [...layerFolders(context), git.repository.top],
    of: `${firstCommit(context) ?? git.repository.top} ${git.repository.checkout}`,
    dry,
  });
}

function resultOf(folder: string, dry: boolean, report: BackupReport | undefined): BackupResult {
  return {
    dry_run: dry,
    folder,
    copied: report?.copied ?? [],
    copied_bytes: report?.copiedBytes ?? 0,
    unchanged: report?.unchanged ?? 0,
    kept: report?.kept ?? [],
    passed_over: report?.passedOver ?? [],
  };
}

function renderBackup({ dry_run, folder, copied, copied_bytes, unchanged, kept, passed_over }: BackupResult): string {
  const verb = dry_run ? "would copy" : "copied";
  const bytes = dry_run ? "" : `, ${plural(copied_bytes, "byte")}`;
  return [
    ...copied.map((path) => `${verb} ${path}`),
    ...passed_over.filter(({ because }) => because !== "derived").map(({ path }) => `passed over ${path}`),
    `${folder}: ${verb} ${plural(copied.length, "file")}${bytes}; ${unchanged} unchanged, ${kept.length} kept that are gone here`,
  ].join("\n");
}
