/** Milliseconds of the timed runs of one command, in the order of the rounds. */
export type Samples = readonly number[];

export interface Summary {
  readonly median: number;
  readonly minimum: number;
}

function median(values: Samples): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new Error("a median of nothing");
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

export function deriveSummary(samples: Samples): Summary {
  return { median: median(samples), minimum: Math.min(...samples) };
}

/** What commands that run one after the other take together, round by round. */
export function addSamples(all: readonly Samples[]): Samples {
  const rounds = Math.min(...all.map((samples) => samples.length));
  return Array.from({ length: rounds }, (_, round) =>
    all.reduce((sum, samples) => sum + (samples[round] ?? Number.NaN), 0),
  );
}
