import { parseStrict } from "@reeve/store/strict";

/** A Markdown file with YAML front matter, taken apart. */
export interface FrontMatter {
  /** The YAML between the two `---` lines, without them; `undefined` when the file has none. */
  readonly yaml: string | undefined;
  readonly body: string;
}

export function splitFrontMatter(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (!plain.startsWith("---\n")) return { yaml: undefined, body: plain };
  const end = plain.indexOf("\n---\n", 3);
  if (end < 0) {
    return plain.endsWith("\n---") ? { yaml: plain.slice(4, -3), body: "" } : { yaml: undefined, body: plain };
  }
  return { yaml: plain.slice(4, end + 1), body: plain.slice(end + 5).replace(/^\n/, "") };
}

type Flat = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

const line = /^([a-z][a-z0-9_]*): ([^\n]*)$/;
const bare = /^[A-Za-z0-9./_][A-Za-z0-9./_@+:-]*$/;
const notText = /^(?:true|false|null|yes|no|on|off|~|[-+.]?[0-9][0-9_.]*(?:e[-+]?[0-9]+)?|0[xob].*|\.inf|\.nan)$/i;

function isBareText(text: string): boolean {
  return bare.test(text) && !notText.test(text) && !text.endsWith(":") && !text.startsWith(".");
}

function renderValue(value: Flat): string {
  return typeof value === "string" && isBareText(value) ? value : JSON.stringify(value);
}

/**
 * Renders a flat record as YAML that is also one `key: JSON value` a line (words that need no quotes stand bare), so that
 * `parseFlat` can read it back without a YAML parser. Members that are `undefined` are left out.
 */
export function renderFlat(members: Readonly<Record<string, Flat | undefined>>): string {
  return Object.entries(members)
    .filter((entry): entry is [string, Flat] => entry[1] !== undefined)
    .map(([key, value]) => `${key}: ${renderValue(value)}\n`)
    .join("");
}

/** Reads what `renderFlat` wrote; `undefined` for any other YAML, which wants the real parser. */
export function parseFlat(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.endsWith("\n")) return undefined;
  const members: Record<string, unknown> = {};
  for (const row of text.slice(0, -1).split("\n")) {
    const match = line.exec(row);
    const [key, value] = [match?.[1], match?.[2]];
    if (key === undefined || value === undefined || Object.hasOwn(members, key)) return undefined;
    if (isBareText(value)) members[key] = value;
    else if (/^(?:["[{]|true$|false$|-?(?:0|[1-9][0-9]*)$)/.test(value)) {
      try {
        members[key] = parseStrict(value, { path: key, line: 1 });
      } catch {
        return undefined;
      }
    } else return undefined;
  }
  return members;
}
