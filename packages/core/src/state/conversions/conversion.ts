import { ReeveError } from "../../findings/errors.ts";
import type { System } from "../../system/port.ts";

/** One change a conversion asks for. Paths are the state table's: from the repository's root, with forward slashes. */
export type ConversionChange =
  | { readonly kind: "write"; readonly path: string; readonly bytes: string | Uint8Array; readonly mode?: number }
  | { readonly kind: "remove"; readonly path: string }
  /** Moves a file, or every file below a folder. */
  | { readonly kind: "rename"; readonly from: string; readonly path: string };

/** The layer's files as a conversion sees them: the disk, with everything planned before it already done. */
export interface Overlay {
  /** A file's content; `undefined` where there is no file. Links are not followed. */
  read(path: string): Uint8Array | undefined;
  readText(path: string): string | undefined;
  /** The paths of all files below a folder, in code-unit order. */
  list(folder: string): readonly string[];
}

/** A step that turns files of an older shape, or at an older place, into those of today. */
export interface Conversion {
  /** Never used twice, also not after the step is gone. */
  readonly id: string;
  /** What it does, in one sentence for a person. */
  readonly describe: string;
  /**
   * `local`: done once in a checkout. `tracked`: looked at by every writing command, for git may bring older files back;
   * such a step reads one small file when there is nothing to do.
   */
  readonly touches: "local" | "tracked";
  /**
   * The changes it wants, or `undefined` for none. Pure. Wants nothing on its own output, and leaves what it does not
   * understand (a damaged file) alone.
   */
  readonly plan: (files: Overlay) => readonly ConversionChange[] | undefined;
}

/** Every step, in the order they are done. Steps are only ever added. */
export type Conversions = readonly Conversion[];

/** Declares the steps; throws `INTERNAL` when two share an identity or one says nothing of itself. */
export function defineConversions(conversions: Conversions): Conversions {
  const seen = new Set<string>();
  for (const { id, describe } of conversions) {
    const problem = !/^[a-z0-9][a-z0-9-]*$/.test(id) ? "no identity" : describe.trim() === "" ? "no description" : "";
    if (problem !== "") throw new ReeveError("INTERNAL", `the conversion '${id}' has ${problem}`);
    if (seen.has(id)) throw new ReeveError("INTERNAL", `two conversions are called '${id}'`);
    seen.add(id);
  }
  return conversions;
}

/** The digest of no steps at all, which is also that of a layer no conversion ever touched. */
export const noConversions = "none";

/**
 * What tells one set of steps from another, whatever their order: 16 hexadecimal digits of the SHA-256 of their identities
 * and descriptions, or {@link noConversions}.
 */
export function digestOf(system: System, conversions: Conversions): string {
  if (conversions.length === 0) return noConversions;
  const lines = conversions.map(({ id, describe }) => JSON.stringify([id, describe])).sort();
  return system.sha256(lines.join("\n")).slice(0, 16);
}
