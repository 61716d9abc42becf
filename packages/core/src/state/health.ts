import { inspectLines, parseStrict, StoreError } from "@reeve/store";
import { shellWord } from "../findings/quote.ts";
import type { Layer } from "../layer/layer.ts";
import { type Ailment, examineForm } from "./form.ts";
import type { SurveyedFile } from "./survey.ts";

/** Everything that is wrong with a file: its content, its kind, who may read it. Nothing is written. */
export async function examine(layer: Layer, file: SurveyedFile): Promise<readonly Ailment[]> {
  const form = examineForm(layer, file);
  const isRead = file.info.kind === "file" && !file.isDerived && file.entry !== undefined;
  return isRead ? [...form, ...(await judgeContent(layer, file))] : form;
}

async function judgeContent(layer: Layer, { path, entry }: SurveyedFile): Promise<readonly Ailment[]> {
  if (entry?.holds === "store" || entry?.holds === "log") {
    const { damaged } = inspectLines(layer.locate(path), { key: entry.key });
    const mend = (line: number): string =>
      entry.writer === "a person" ? `mend line ${line} by hand` : `reeve store repair ${shellWord(path)}`;
    return damaged.map(({ line, reason }) => ({ line, reason, next: mend(line) }));
  }
  if (path.endsWith(".json") && entry?.holds === "document") return judgeJson(layer, path);
  return /\.ya?ml$/.test(path) ? judgeYaml(layer, path) : [];
}

function judgeJson(layer: Layer, path: string): readonly Ailment[] {
  try {
    parseStrict(layer.read(path) ?? "", { path });
    return [];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const reason = error.details["reason"];
    const said = typeof reason === "string" ? reason : error.message;
    return [{ ...(error.line === undefined ? {} : { line: error.line }), reason: said, next: `mend ${path} by hand` }];
  }
}

/** The documents whose members are known. */
function kindOf(path: string): "policy" | "manifest" | "profile" | "plain" {
  if (path === ".ai/repo/policy.yaml") return "policy";
  if (path === ".ai/manifest.yaml") return "manifest";
  return path.startsWith(".ai/repo/profiles/") ? "profile" : "plain";
}

async function judgeYaml(layer: Layer, path: string): Promise<readonly Ailment[]> {
  const decoded = await layer.documents.decode(kindOf(path), path, layer.read(path) ?? "");
  if (decoded.ok) return [];
  return decoded.problems.map(({ line, message, hint }) => ({
    line,
    reason: message,
    next: hint ?? `mend ${path} by hand`,
  }));
}
