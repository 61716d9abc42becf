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

/** What is wrong with a file that nobody need read for: whether it is declared, its kind, who may read it. */
export function examineForm(layer: Layer, file: SurveyedFile): readonly Ailment[] {
  const { path, group, info, entry } = file;
  if (entry === undefined && !file.isDerived) {
    const where = group === undefined ? "" : `; it lies in a folder of ${group}, and never travels`;
    const link = info.kind === "link" ? `, and it ${nameLink(layer, path)}` : "";
    return [
      {
        reason: `no entry declares it${where}${link}`,
        next: `move it out of the layer${isPrivate(group) ? "" : ", or declare it in .ai/repo/state.jsonl"}`,
      },
      ...(info.kind === "file" ? judgeMode(file) : []),
    ];
  }
  if (info.kind === "link") return entry?.holds === "link" ? [] : [describeLink(layer, path)];
  if (info.kind !== "file") return [{ reason: "is no file", next: `ls -l ${shellWord(path)}` }];
  return judgeMode(file);
}

/** Classes nobody may contribute entries to. */
function isPrivate(group: SurveyedFile["group"]): boolean {
  return group === "secrets" || group === "identity";
}

function describeLink(layer: Layer, path: string): Ailment {
  return { reason: nameLink(layer, path), next: `put the file itself there: rm ${shellWord(path)}` };
}

function nameLink(layer: Layer, path: string): string {
  const target = layer.system.readLink(layer.locate(path)) ?? "nothing";
  return `is a symbolic link to ${target}, which is never followed`;
}

function judgeMode({ group, info, path }: SurveyedFile): readonly Ailment[] {
  if (!isPrivate(group) || (info.mode & 0o077) === 0) return [];
  return [
    { reason: `may be read by others (mode ${(info.mode & 0o777).toString(8)})`, next: `chmod 600 ${shellWord(path)}` },
  ];
}
