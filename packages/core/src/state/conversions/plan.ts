import { ReeveError } from "../../findings/errors.ts";
import type { Conversions } from "./conversion.ts";
import { type FileChange, openOverlay } from "./overlay.ts";
import type { ConversionPlace } from "./place.ts";

/** What the steps together want. */
export interface ConversionPlan {
  readonly changes: readonly FileChange[];
  /** The identities of the steps that wanted something. */
  readonly wanted: readonly string[];
}

/**
 * Plans all steps over one overlay, each seeing what those before it planned; nothing is written. Throws `INTERNAL` naming
 * the step that fails, or that wants something again on what it planned itself; `UNREADABLE` for a file that cannot be read.
 */
export function planConversions(place: ConversionPlace, conversions: Conversions): ConversionPlan {
  const files = openOverlay(place);
  const wanted: string[] = [];
  for (const conversion of conversions) {
    if (planOne(conversion, files)) wanted.push(conversion.id);
  }
  for (const conversion of wanted.length === 0 ? [] : conversions) {
    if (planOne(conversion, files)) throw failed(conversion.id, "wants to change its own output again");
  }
  return { changes: files.changes(), wanted };
}

function planOne({ id, plan }: Conversions[number], files: ReturnType<typeof openOverlay>): boolean {
  try {
    const changes = plan(files) ?? [];
    for (const change of changes) files.add(change);
    return changes.length > 0;
  } catch (error) {
    if (error instanceof ReeveError && error.code !== "INTERNAL") throw error;
    throw failed(id, error instanceof Error ? error.message : String(error), error);
  }
}

function failed(id: string, reason: string, cause?: unknown): ReeveError {
  return new ReeveError("INTERNAL", `the conversion '${id}' failed: ${reason}; nothing was changed`, { cause });
}
