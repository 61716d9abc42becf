import { ReeveError } from "../findings/errors.ts";

/** A text that is kept as one line: trimmed, not empty, without line breaks and control characters. */
export function checkOneLine(what: string, text: string): string {
  const line = text.trim();
  if (line === "") throw new ReeveError("USAGE", `${what} is empty`);
  if (/[\r\n\u2028\u2029]/.test(line)) throw new ReeveError("USAGE", `${what} must be one line`);
  const control = /\p{Cc}/u.exec(line);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(2, "0");
    throw new ReeveError("USAGE", `${what} holds a control character (0x${code})`, {
      hint: "leave it out: it would reach terminals",
    });
  }
  return line;
}
