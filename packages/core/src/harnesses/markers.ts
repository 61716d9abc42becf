import { parse, postprocess, preprocess } from "micromark";

/** A line of a Markdown file that is a marker of ours, outside code, quotes and lists. Offsets count UTF-16 units. */
export interface Marker {
  readonly start: number;
  /** After the line, its end included where it has one. */
  readonly end: number;
  readonly text: string;
}

const containers: ReadonlySet<string> = new Set(["blockQuote", "listOrdered", "listUnordered"]);
const marked = /<!-- reeve:memories:(?:begin|end) /;

/**
 * Finds the lines of a Markdown text that are markers as CommonMark reads it: a comment of its own at the start of a line.
 * What stands in fenced code, raw HTML, a quote or a list is a person's example and none.
 */
export function findMarkers(text: string): readonly Marker[] {
  if (!marked.test(text)) return [];
  const markers: Marker[] = [];
  let depth = 0;
  for (const [phase, { type, start, end }] of postprocess(
    parse()
      .document()
      .write(preprocess()(text, undefined, true)),
  )) {
    if (containers.has(type)) depth += phase === "enter" ? 1 : -1;
    if (phase !== "enter" || type !== "htmlFlow" || depth > 0 || start.column !== 1) continue;
    const line = text.slice(start.offset, end.offset);
    if (!marked.test(line) || !/^<!-- [^\r\n]* -->$/.test(line)) continue;
    const ending = /^(?:\r\n|\n|\r)?/.exec(text.slice(end.offset, end.offset + 2))?.[0] ?? "";
    markers.push({ start: start.offset, end: end.offset + ending.length, text: line });
  }
  return markers;
}
