/** A text as one word of a POSIX shell, whatever it holds. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same, and a text that is one word already as it is. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : shellQuote(text);
}
