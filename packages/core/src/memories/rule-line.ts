/** How the harness reads a line (see `Harness.expands`). */
type Expands = "at-import" | "none" | "undocumented";

export interface RuleLine {
  /** One line of the memory's own words. */
  readonly description: string;
  /** Of the body, as the line names it. */
  readonly path: string;
  /** The content's hash: `sha256:` and 64 digits. */
  readonly content: string;
}

/** The most characters of a description a line holds (reference memories, section 2.1). */
const longest = 300;

/**
 * The line of a rule file that stands for one memory. Nothing in it ends a comment or is taken for an import: a source's
 * words must not become another file's.
 */
export function renderRuleLine({ description, path, content }: RuleLine, expands: Expands): string {
  const points = Array.from(description);
  const short = points.length > longest ? `${points.slice(0, longest).join("").trimEnd()}...` : description;
  const hash = content.replace(/^sha256:/, "").slice(0, 7);
  return `- ${guard(short, expands)} (detail: ${guard(path, expands)}, ${hash})`;
}

function guard(text: string, expands: Expands): string {
  const plain = text.replaceAll("<!--", "&lt;!--").replaceAll("-->", "--&gt;");
  if (expands === "none") return plain;
  const isImport = (word: string): boolean => word.includes("@") || (expands === "undocumented" && /#\w+:/.test(word));
  const words = plain.split(/(\s+)/);
  if (!words.some(isImport)) return plain;
  // A code span is opened by the nearest backtick, so none of the text's own may stand beside ours.
  return words.map((word) => (isImport(word) ? `\`${unmark(word)}\`` : unmark(word))).join("");
}

function unmark(word: string): string {
  return word.replaceAll("`", "'");
}
