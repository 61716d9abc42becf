/** What `npm run bench -- …` asks for. */
export interface BenchRequest {
  readonly groups: readonly string[];
  /** Timed runs of every case and every floor. */
  readonly runs: number;
}

const usage = "npm run bench -- [group…] [--runs <n>]";
const usualRuns = 25;

/** Reads the words; a text says what is wrong with them. No group named means every group. */
export function parseBenchRequest(words: readonly string[], known: readonly string[]): BenchRequest | string {
  const groups: string[] = [];
  let runs = usualRuns;
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const given = word === "--runs" ? (rest.shift() ?? "") : /^--runs=(.*)$/.exec(word)?.[1];
    if (given !== undefined) {
      runs = /^\d+$/.test(given) ? Number(given) : 0;
      if (runs < 1) return `--runs takes a whole number from 1: ${usage}`;
    } else if (known.includes(word)) {
      if (!groups.includes(word)) groups.push(word);
    } else {
      return `There is no group "${word}". The groups: ${known.join(", ")}. ${usage}`;
    }
  }
  return { groups: groups.length === 0 ? known : groups, runs };
}
