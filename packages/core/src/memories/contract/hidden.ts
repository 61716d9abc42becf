/** A character a person does not see, or a comment that only a model reads. */
export interface Hidden {
  readonly kind: "zero-width" | "bidi" | "control" | "ansi" | "html-comment";
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** `U+200B`; `<!--` for a comment. */
  readonly shown: string;
}

const suspicious =
  /<!--|(?![\t\n\r])\p{Cc}|[\u061C\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/gu;
const bidi = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const zeroWidth = /[\u200B-\u200D\u2060\uFEFF]|[\u{E0000}-\u{E007F}]/u;

/**
 * Everything in a file that hides from a person's eye (reference memories, section 2.1), tag characters included. A byte
 * order mark at the very start hides nothing.
 */
export function findHidden(text: string): readonly Hidden[] {
  const found: Hidden[] = [];
  let line = 1;
  let column = 1;
  let from = 0;
  for (const match of text.matchAll(suspicious)) {
    if (match.index === 0 && match[0] === "\uFEFF") continue;
    // Counted on from the last one: a file may hold a million of them.
    const between = text.slice(from, match.index);
    const ends = between.split("\n").length - 1;
    line += ends;
    column = (ends === 0 ? column : 1) + Array.from(between.slice(between.lastIndexOf("\n") + 1)).length;
    from = match.index;
    found.push({ kind: kindOf(match[0]), line, column, shown: showCharacter(match[0]) });
  }
  return found;
}

function kindOf(match: string): Hidden["kind"] {
  if (match === "<!--") return "html-comment";
  if (match === "\u001B") return "ansi";
  if (bidi.test(match)) return "bidi";
  return zeroWidth.test(match) ? "zero-width" : "control";
}

function showCharacter(match: string): string {
  if (match === "<!--") return match;
  return `U+${(match.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
