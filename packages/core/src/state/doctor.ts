import { StoreError } from "@reeve/store";
import type { StateTable } from "@reeve/store/table";
import { ReeveError } from "../findings/errors.ts";
import { collectFindings, type Finding, type Findings } from "../findings/finding.ts";
import { plural } from "../findings/plural.ts";
import { shellWord } from "../findings/quote.ts";
import type { Layer } from "../layer/layer.ts";
import { examineForm } from "./form.ts";
import { listFiles } from "./survey.ts";
import { table } from "./table.ts";

const contributed = ".ai/repo/state.jsonl";

/**
 * What `doctor` says of the layer's files: those no entry declares, links, and secrets that others may read. Warnings, for
 * most of these files are this machine's own and a commit never depends on one machine. Contents are not read, which is what
 * `state check` is for.
 */
export async function judgeForms(layer: Layer): Promise<readonly Finding[]> {
  const findings = collectFindings("state");
  const files = listFiles(layer, await tableOf(layer, findings));
  for (const file of files) {
    for (const { reason, next } of examineForm(layer, file)) {
      const reproduce = `reeve state explain ${shellWord(file.path)}`;
      findings.warn({ subject: file.path, message: reason, reproduce, next });
    }
  }
  // A cache changes no answer, by being there neither.
  const kept = files.filter(({ group }) => group !== "local");
  if (findings.lines.length === 0) findings.ok(".ai", `${plural(kept.length, "file")}, each declared`);
  return findings.lines;
}

/** Most repositories contribute nothing, and reading what one does is slow to load. */
async function tableOf(layer: Layer, findings: Findings): Promise<StateTable> {
  if (layer.system.info(layer.locate(contributed)) === undefined) return table;
  const { readTable } = await import("./contributed.ts");
  try {
    return readTable(layer);
  } catch (error) {
    if (!(error instanceof ReeveError) && !(error instanceof StoreError)) throw error;
    const next = (error instanceof ReeveError ? error.hint : undefined) ?? `mend ${contributed} by hand`;
    findings.fail({ subject: contributed, message: error.message, reproduce: "reeve state check", next });
    return table;
  }
}
