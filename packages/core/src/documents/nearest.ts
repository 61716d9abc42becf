/** Insertions, deletions, substitutions and swaps of neighbours that lead from one word to another. */
function distance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitute = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = swapped ? (older[column - 2] ?? 0) + 1 : substitute;
      current.push(Math.min(substitute, swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    older = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** The candidate a mistyped word most likely meant, or `undefined` when none is near enough to be worth saying. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const steps = candidate.startsWith(lower) && lower.length > 2 ? 1 : distance(lower, candidate.toLowerCase());
    if (steps < least) {
      least = steps;
      best = candidate;
    }
  }
  return best;
}
