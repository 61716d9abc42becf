import { inspectLines, parseStrict, StoreError } from "@reeve/store";
import { shellWord } from "../findings/quote.ts";
import type { Layer } from "../layer/layer.ts";
import type { SurveyedFile } from "./survey.ts";

/** What is wrong with a file, and where. */
export interface Ailment {
  /** From 1, where a line is meant. */
  readonly line?: number;
  readonly reason: string;
  /** What to type or do. */
  readonly next: string;
}

/** Everything that is wrong with a file: its content, its kind, who may read it. Nothing is written. */
export async function examine(layer: Layer, file: SurveyedFile): Promise<readonly Ailment[]> {
  const { path, group, info, entry } = file;
  if (entry === undefined && !file.isDerived) {
    const where = group === undefined ? "" : `; it lies in a folder of ${group}, and never travels`;
    return [
      {
        reason: `no entry declares it${where}`,
        next: `move it out of the layer, or declare it in .ai/repo/state.jsonl`,
      },
    ];
  }
  if (info.kind === "link" && entry?.holds !== "link") return [describeLink(layer, path)];
  if (info.kind !== "file")
    return info.kind === "link" ? [] : [{ reason: "is no file", next: `ls -l ${shellWord(path)}` }];
  return [...judgeMode(file), ...(file.isDerived ? [] : await judgeContent(layer, file))];
}

function describeLink(layer: Layer, path: string): Ailment {
  const target = layer.system.readLink(layer.locate(path)) ?? "nothing";
  return {
    reason: `is a symbolic link to ${target}, which is never followed`,
    next: `put the file itself there: rm ${shellWord(path)}`,
  };
}

function judgeMode({ group, info, path }: SurveyedFile): readonly Ailment[] {
  const isPrivate = group === "secrets" || group === "identity";
  if (!isPrivate || (info.mode & 0o077) === 0) return [];
  return [
    { reason: `may be read by others (mode ${(info.mode & 0o777).toString(8)})`, next: `chmod 600 ${shellWord(path)}` },
  ];
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
