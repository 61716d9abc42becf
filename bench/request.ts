import type { Group } from "./group.ts";

/** What `npm run bench -- …` asks for. */
export interface BenchRequest {
  readonly groups: readonly string[];
  /** Timed runs of every case and every floor; `undefined` means as many as the group usually takes. */
  readonly runs: number | undefined;
  /** Rows to measure; none means all. */
  readonly only: readonly string[];
}

export type KnownGroups = Readonly<Record<string, Pick<Group, "rows">>>;

const usage = "npm run bench -- [group…] [--runs <n>] [--only <row>]…";

interface Words {
  readonly groups: string[];
  readonly only: string[];
  runs: string | undefined;
}

/** The value of an option in either spelling, taken from the words that follow; `undefined` when it is another word. */
function takeValue(option: string, word: string, rest: string[]): string | undefined {
  if (word === option) return rest.shift() ?? "";
  return word.startsWith(`${option}=`) ? word.slice(option.length + 1) : undefined;
}

function sortWords(words: readonly string[]): Words {
  const found: Words = { groups: [], only: [], runs: undefined };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const runs = takeValue("--runs", word, rest);
    const only = runs === undefined ? takeValue("--only", word, rest) : undefined;
    if (runs !== undefined) found.runs = runs;
    else if (only !== undefined) found.only.push(only);
    else if (!found.groups.includes(word)) found.groups.push(word);
  }
  return found;
}

/** Reads the words; a text says what is wrong with them. No group named means every group that has the rows asked for. */
export function parseBenchRequest(words: readonly string[], known: KnownGroups): BenchRequest | string {
  const { groups, only, runs } = sortWords(words);
  const names = Object.keys(known);
  const unknown = groups.find((group) => !names.includes(group));
  if (unknown !== undefined) return `There is no group "${unknown}". The groups: ${names.join(", ")}. ${usage}`;
  if (runs !== undefined && !/^[1-9]\d*$/.test(runs)) return `--runs takes a whole number from 1: ${usage}`;
  const named = groups.length === 0 ? names : groups;
  const rows = named.flatMap((group) => known[group]?.rows ?? []);
  const strange = only.find((row) => !rows.includes(row));
  if (strange !== undefined) return `There is no row "${strange}". The rows: ${rows.join(", ")}. ${usage}`;
  const having = named.filter((group) => only.length === 0 || only.some((row) => known[group]?.rows.includes(row)));
  return { groups: having, runs: runs === undefined ? undefined : Number(runs), only };
}
