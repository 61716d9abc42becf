/** How much more than usual is looked at: `FAMILIES_SCALE`, a number from 1 (which is usual). */
export const scale: number = Math.max(1, Number(process.env["FAMILIES_SCALE"] ?? 1) || 1);

/** What random choices begin with: `FAMILIES_SEED`. */
export const seed: number = Number(process.env["FAMILIES_SEED"] ?? 20_250_301);

/** A line of a test's output that says what was counted. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function spelledCount(count: number): string {
  return count.toLocaleString("en-US");
}
