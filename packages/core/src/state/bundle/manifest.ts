import { parseStrict } from "@reeve/store/strict";
import type { StateGroup } from "@reeve/store/table";
import * as v from "valibot";
import { ReeveError } from "../../findings/errors.ts";

/** The version of the bundle format (docs/reference/bundle.md). */
export const bundleFormat = 1;

/** The name of a bundle's first entry. */
export const manifestName = "reeve-bundle.json";

export interface BundledFile {
  readonly path: string;
  readonly group: StateGroup;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hexadecimal digits. */
  readonly sha256: string;
  /** Permission bits. */
  readonly mode: number;
}

/** Files of one entry that did not travel. */
export interface LeftOut {
  /** The entry's path in the table. */
  readonly path: string;
  readonly because: "derived" | "identity" | "secret" | "prompts" | "stays" | "excluded";
  readonly files: number;
}

export interface Origin {
  /** The id of the repository's first commit; `null` before there is one. */
  readonly repository: string | null;
  /** UTC, ISO 8601. */
  readonly exported_at: string;
  /** Reeve's version. */
  readonly reeve: string;
}

export interface Manifest {
  readonly format: number;
  readonly kind: "layer" | "home";
  readonly origin: Origin;
  /** What the exporter consented to. */
  readonly includes: { readonly prompts: boolean; readonly secrets: boolean };
  /** Files of each class. */
  readonly classes: Readonly<Record<string, number>>;
  /** By path, in code-unit order: the order of the entries that follow. */
  readonly files: readonly BundledFile[];
  readonly left_out: readonly LeftOut[];
}

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const schema: v.GenericSchema<unknown, Manifest> = v.strictObject({
  format: v.literal(bundleFormat),
  kind: v.picklist(["layer", "home"]),
  origin: v.strictObject({ repository: v.nullable(v.string()), exported_at: v.string(), reeve: v.string() }),
  includes: v.strictObject({ prompts: v.boolean(), secrets: v.boolean() }),
  classes: v.record(v.string(), count),
  files: v.array(
    v.strictObject({
      path: v.string(),
      group: v.picklist(["config", "records", "local", "identity", "secrets"]),
      size: count,
      sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
      mode: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0o777)),
    }),
  ),
  left_out: v.array(
    v.strictObject({
      path: v.string(),
      because: v.picklist(["derived", "identity", "secret", "prompts", "stays", "excluded"]),
      files: count,
    }),
  ),
});

export function renderManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** @throws ReeveError STATE_NEWER for a newer format, REFUSED for what is no manifest; both name the bundle. */
export function parseManifest(text: string, bundle: string): Manifest {
  const value = readJson(text, bundle);
  const format = typeof value === "object" && value !== null && "format" in value ? value.format : undefined;
  if (typeof format === "number" && Number.isInteger(format) && format > bundleFormat) {
    throw new ReeveError(
      "STATE_NEWER",
      `${bundle}: is a bundle of format ${format}; this Reeve reads ${bundleFormat}`,
      {
        hint: "install the newer Reeve: npm install --global reeve",
      },
    );
  }
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const key = v.getDotPath(issue) ?? "its top";
  throw refuseBundle(bundle, `its manifest is not valid at ${key}: ${issue.message}`);
}

function readJson(text: string, bundle: string): unknown {
  try {
    return parseStrict(text, { path: `${bundle}:${manifestName}` });
  } catch (error) {
    throw refuseBundle(
      bundle,
      `its manifest does not parse: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

export function refuseBundle(bundle: string, reason: string): ReeveError {
  return new ReeveError("REFUSED", `${bundle}: ${reason}; nothing was written`, {
    hint: "export the bundle again where it came from",
    details: { path: bundle },
  });
}
