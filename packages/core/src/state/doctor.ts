import type { StateTable } from "@reeve/store/table";
import { collectFindings, type Finding, type Findings } from "../findings/finding.ts";
import { shellWord } from "../findings/quote.ts";
import type { Layer } from "../layer/layer.ts";
import { examineForm } from "./form.ts";
import { type LayerName, listNames, surveyAt } from "./survey.ts";
import { table } from "./table.ts";

const refusals: ReadonlySet<string> = new Set(["ReeveError", "StoreError"]);
const contributed = ".ai/repo/state.jsonl";

/**
 * What `doctor` says of the layer's files: those no entry declares, links, and secrets that others may read. Warnings, for
 * most of these files are this machine's own and a commit never depends on one machine. Contents are not read, which is what
 * `state check` is for.
 */
export async function judgeForms(layer: Layer): Promise<readonly Finding[]> {
  const findings = collectFindings("state");
  const known = await tableOf(layer, findings);
  const suspects = listNames(layer).filter((name) => !isSound(known, name));
  for (const { path } of suspects.sort((left, right) => (left.path < right.path ? -1 : 1))) {
    const file = surveyAt(layer, known, path);
    for (const { reason, next } of file === undefined ? [] : examineForm(layer, file)) {
      findings.warn({ subject: path, message: reason, reproduce: `reeve state explain ${shellWord(path)}`, next });
    }
  }
  if (findings.lines.length === 0) findings.ok(".ai", "every file is declared, and none of the secret ones is open");
  return findings.lines;
}

/** Is a plain file where one belongs, of a class that anybody may read? Most are, and need no second look. */
function isSound(known: StateTable, { path, kind }: LayerName): boolean {
  const entry = kind === "file" ? known.entryFor(path) : undefined;
  return entry !== undefined && entry.portability !== "secret" && entry.portability !== "identity";
}

/** Most repositories contribute nothing, and reading what one does is slow to load. */
async function tableOf(layer: Layer, findings: Findings): Promise<StateTable> {
  if (layer.system.info(layer.locate(contributed)) === undefined) return table;
  const { readTable } = await import("./contributed.ts");
  try {
    return readTable(layer);
  } catch (error) {
    // The error comes from another chunk, whose classes are not these (docs/decisions/chunks.md).
    if (!(error instanceof Error) || !refusals.has(error.name)) throw error;
    const next = ("hint" in error && typeof error.hint === "string" && error.hint) || `mend ${contributed} by hand`;
    findings.fail({ subject: contributed, message: error.message, reproduce: "reeve state check", next });
    return table;
  }
}
