/** `YYYY-MM-DDTHH:MM:SSZ`. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** `YYYYMMDDTHHMMSSZ`, as it stands in file names. */
export function compactTimestamp(date: Date): string {
  return timestamp(date).replaceAll(/[-:]/g, "");
}

/** `YYYY-MM-DD`. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** How long ago, in the largest unit that says enough: `12s`, `7m`, `3h`, `2d`. */
export function renderAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

const timestampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Is the text a UTC time as `timestamp` writes it, of a day that exists? */
export function isTimestamp(text: string): boolean {
  return timestampForm.test(text) && !Number.isNaN(Date.parse(text));
}
