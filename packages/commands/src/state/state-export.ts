import { plural } from "@reeve/core/findings/plural.ts";
import { shellWord } from "@reeve/core/findings/quote.ts";
import { writeChange } from "@reeve/core/layer/layer.ts";
import { needsAncestor, parseExchanged, renderExchanged } from "@reeve/core/state/bundle/exchange.ts";
import { type ExportReport, exportBundle } from "@reeve/core/state/bundle/export.ts";
import type { LeftOut } from "@reeve/core/state/bundle/manifest.ts";
import { bundlePlaces } from "@reeve/core/state/bundle/places.ts";
import type { PassedOver } from "@reeve/core/state/bundle/tree.ts";
import type { Plan } from "@reeve/store";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";
import { layerFolders, originOf, pathOf, requireSettled, treeOf } from "./bundle-places.ts";
import { passphraseFlag, readPassphrase } from "./passphrase.ts";

interface ExportResult {
  readonly dry_run: boolean;
  readonly bundle: string;
  readonly bytes: number;
  readonly encrypted: boolean;
  readonly files: number;
  readonly file_bytes: number;
  readonly classes: Readonly<Record<string, number>>;
  readonly left_out: readonly LeftOut[];
  readonly passed_over: readonly PassedOver[];
  readonly swept: { readonly scanned: number; readonly binary: number } | null;
}

export const stateExport: Command = defineCommand({
  name: "state export",
  summary: "write a bundle of the layer to take to another machine",
  about: `A bundle holds the files the state table lets travel: configuration and records, never identity, caches or this
checkout's own task. Secrets and prompts travel only when asked for. Without --include-secrets every text is first looked
through for what looks like a secret; a hit stops the export, naming file and line, unless the file is left out. With a
passphrase the bundle is encrypted (age format). It is readable by you alone, and never replaces a file.`,
  examples: [
    { command: "reeve state export ../layer.tgz", shows: "what went into the bundle, and what stayed" },
    { command: "reeve state export ../layer.tgz --dry-run", shows: "the same, without writing it" },
    { command: "reeve state export ../layer.age --passphrase-file ../words", shows: "an encrypted bundle" },
  ],
  args: {
    positionals: [{ name: "file", summary: "the bundle, a file that is not there yet", required: true }],
    flags: {
      "include-prompts": { type: "boolean", summary: "take the prompts along" },
      "include-secrets": { type: "boolean", summary: "take the secrets along, and look for none" },
      exclude: { type: "list", value: "path", summary: "leave out a file or folder of the layer" },
      ...passphraseFlag,
    },
  },
  class: "generated-output-mutating",
  needs: "layer",
  surfaces: ["cli"],
  output: "value",
  reads: [".ai/"],
  writes: [".ai/local/state/exchanged.json"],
  result: {
    dry_run: "no bundle was written, this is what would be in it",
    bundle: "the file",
    bytes: "of the bundle; 0 in a dry run",
    encrypted: "a passphrase was given",
    files: "how many files travel",
    file_bytes: "of those files",
    classes: "files of each class",
    left_out: "path of the entry, because (derived, identity, secret, prompts, stays, excluded), files",
    passed_over: "path and because (undeclared, derived, kind, name) of what is no file of an entry",
    swept:
      "files looked through for secrets (scanned) and files that hold no text (binary); null with --include-secrets",
  },
  async prepare(args, context): Promise<ExportReport> {
    requireSettled(context.layer);
    return exportBundle({
      system: context.system,
      tree: treeOf(context.layer),
      closed: layerFolders(context),
      target: pathOf(context, args.file),
      passphrase: readPassphrase(context, args["passphrase-file"]),
      consents: { prompts: args["include-prompts"], secrets: args["include-secrets"] },
      excluded: args.exclude,
      kind: "layer",
      origin: originOf(context),
      dry: context.dry,
    });
  },
  run(args, context, report): Outcome<ExportResult> {
    const encrypted = readPassphrase(context, args["passphrase-file"]) !== undefined;
    const result = resultOf(report, { bundle: args.file, encrypted, dry_run: context.dry });
    // The bundle is outside every plan; there is nothing to show of one.
    if (context.dry) return { result, upkeep: async () => result };
    return { result, plan: planRecord(context, report) };
  },
  text: renderExport,
});

function resultOf(
  { manifest, selection, sweep, bytes }: ExportReport,
  said: Pick<ExportResult, "bundle" | "encrypted" | "dry_run">,
): ExportResult {
  return {
    ...said,
    bytes,
    files: manifest.files.length,
    file_bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
    classes: manifest.classes,
    left_out: selection.leftOut,
    passed_over: selection.passedOver,
    swept: sweep === undefined ? null : { scanned: sweep.scanned, binary: sweep.binary },
  };
}

/** Remembers what was taken along: the ancestor a later import compares with. */
function planRecord({ layer, system }: Context, { manifest }: ExportReport): Plan {
  const path = bundlePlaces.exchanged;
  const { table } = treeOf(layer);
  const before = parseExchanged(system.readText(layer.locate(path)), path);
  const now = manifest.files
    .filter((file) => needsAncestor(table.entryFor(file.path)?.holds ?? "document"))
    .map((file) => [file.path, file.sha256] as const);
  return { changes: [writeChange(layer, path, renderExchanged(before, Object.fromEntries(now)))] };
}

function renderExport(result: ExportResult): string {
  const { files, file_bytes, bundle, bytes, encrypted, swept } = result;
  const what = `${plural(files, "file")}, ${plural(file_bytes, "byte")}`;
  const head = result.dry_run
    ? `would write ${bundle}: ${what}`
    : `wrote ${bundle}: ${what}, packed into ${bytes}${encrypted ? ", encrypted" : ""}`;
  const unsafe = swept === null && !encrypted ? ["it holds secrets in the clear: keep it as you keep a password"] : [];
  const left = result.left_out.map(({ path, because, files: count }) => {
    return `left out: ${path} (${because}, ${plural(count, "file")})`;
  });
  const passed = result.passed_over.map(({ path, because }) => `passed over: ${path} (${passedWords[because]})`);
  const next = result.dry_run ? [] : [`next, in the other checkout: reeve state import ${shellWord(bundle)} --preview`];
  return [head, ...unsafe, ...left, ...passed, ...next].join("\n");
}

const passedWords: Readonly<Record<PassedOver["because"], string>> = {
  undeclared: "no entry declares it",
  derived: "a copy, lock or index of another file",
  kind: "a link, pipe or device",
  name: "its name does not fit every machine",
};
