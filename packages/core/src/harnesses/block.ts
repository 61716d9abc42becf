import { findMarkers, type Marker } from "./markers.ts";

/** What one source publishes in a rule file. */
export interface WantedBlock {
  /** The source's key. */
  readonly key: string;
  /** The revision its lines come from. */
  readonly sha: string;
  /** Rule lines, without line ends. */
  readonly lines: readonly string[];
}

/** A block of ours as it stands in a file. Offsets count UTF-16 units, without a byte order mark. */
export interface FoundBlock {
  readonly key: string;
  readonly sha: string;
  /** Of the begin marker. */
  readonly start: number;
  /** After the end marker's line. */
  readonly end: number;
  readonly lines: readonly string[];
  /** Somebody changed its lines since they were written. */
  readonly isEdited: boolean;
  /** What was put between the person's text and the block. */
  readonly separator: string;
  /** The file was made for the block. */
  readonly isFounder: boolean;
}

export interface WrittenBlocks {
  /** The file's text; `undefined` when the file was made for blocks and nothing is left in it. */
  readonly text: string | undefined;
  /** The blocks that were edited by hand and are written again or removed. */
  readonly edited: readonly FoundBlock[];
}

/** Twelve hexadecimal digits over a text. */
export type ShortHash = (text: string) => string;

const mark = "\uFEFF";
const beginning = /^<!-- reeve:memories:begin (.+) sha=(\S+) block=([0-9a-f]{12}) sep=(\S*?)( new)? -->$/;
const ending = /^<!-- reeve:memories:end (.+) -->$/;

/** The blocks of a rule file, in order. A begin marker counts only when the very next marker ends it. */
export function readBlocks(text: string, hash: ShortHash): readonly FoundBlock[] {
  const plain = text.startsWith(mark) ? text.slice(1) : text;
  const markers = findMarkers(plain);
  return markers.flatMap((marker, at) => readBlock(plain, [marker, markers[at + 1]], hash) ?? []);
}

function readBlock(text: string, pair: readonly [Marker, Marker | undefined], hash: ShortHash): FoundBlock | undefined {
  const [from, to] = pair;
  const [, key, sha, written, separator, founder] = beginning.exec(from.text) ?? [];
  if (key === undefined || sha === undefined || to === undefined || ending.exec(to.text)?.[1] !== key) return undefined;
  const lines = text.slice(from.end, to.start).split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return {
    key,
    sha,
    start: from.start,
    end: to.end,
    lines,
    isEdited: hash(lines.join("\n")) !== written,
    separator: decode(separator ?? ""),
    isFounder: founder !== undefined,
  };
}

function decode(separator: string): string {
  try {
    return decodeURIComponent(separator);
  } catch {
    return "";
  }
}

type Piece =
  | { readonly text: string }
  | { readonly block: WantedBlock; readonly separator: string; readonly found?: FoundBlock };

/**
 * Puts the wanted blocks into a file's text and takes every other block of ours out; bytes outside blocks stay. What is
 * there is replaced in place, what is new comes after the last block, or at the end. Taking all of them out again gives
 * the first text back.
 *
 * Answers `undefined` when the person's text leaves no place in which the markers would be read as such.
 */
export function writeBlocks(
  text: string | undefined,
  wanted: readonly WantedBlock[],
  hash: ShortHash,
): WrittenBlocks | undefined {
  const bom = text?.startsWith(mark) === true ? mark : "";
  const plain = (text ?? "").slice(bom.length);
  const found = readBlocks(plain, hash);
  const founded = text === undefined || found.some(({ isFounder }) => isFounder);
  const eol = plain.includes("\r\n") ? "\r\n" : "\n";
  const kept = keepBlocks(cut(plain, found), wanted, eol);
  const known = new Set(kept.flatMap((piece) => ("block" in piece ? [piece.block.key] : [])));
  const missing = wanted.filter(({ key }) => !known.has(key));
  const form: Form = { eol, hash, founded };
  const whole = missing.length === 0 ? render(kept, form) : addBlocks(kept, missing, form);
  if (whole === undefined || readBlocks(whole, hash).length !== wanted.length) return undefined;
  const unchanged = new Set(
    kept.flatMap((piece) => ("block" in piece && isSame(piece.block, piece.found) ? [piece.found] : [])),
  );
  return {
    text: wanted.length === 0 && founded && whole === "" ? undefined : bom + whole,
    edited: found.filter((block) => block.isEdited && !unchanged.has(block)),
  };
}

function isSame(wanted: WantedBlock, found: FoundBlock | undefined): boolean {
  return found !== undefined && wanted.lines.join("\n") === found.lines.join("\n");
}

interface Form {
  readonly eol: string;
  readonly hash: ShortHash;
  readonly founded: boolean;
}

interface Cut {
  /** The person's text before each block, and after the last one. */
  readonly texts: readonly string[];
  readonly blocks: readonly { readonly found: FoundBlock; readonly separator: string }[];
}

function cut(text: string, found: readonly FoundBlock[]): Cut {
  const texts: string[] = [];
  const blocks: { found: FoundBlock; separator: string }[] = [];
  let from = 0;
  for (const block of found) {
    const before = text.slice(from, block.start);
    const separator = before.endsWith(block.separator) ? block.separator : "";
    texts.push(before.slice(0, before.length - separator.length));
    blocks.push({ found: block, separator });
    from = block.end;
  }
  return { texts: [...texts, text.slice(from)], blocks };
}

/**
 * Replaces what is wanted and drops the rest, a second block of one source included. What separated a dropped block from the
 * person's text separates the one that follows it.
 */
function keepBlocks({ texts, blocks }: Cut, wanted: readonly WantedBlock[], eol: string): readonly Piece[] {
  const open = new Map(wanted.map((block) => [block.key, block]));
  const pieces: Piece[] = [];
  let held = texts[0] ?? "";
  let inherited: string | undefined;
  for (const [at, { found, separator }] of blocks.entries()) {
    const block = open.get(found.key);
    const after = texts[at + 1] ?? "";
    if (block === undefined) {
      const joins = held !== "" && after !== "" && !held.endsWith("\n");
      held = `${held}${joins ? eol : ""}${after}`;
      inherited = after === "" ? (inherited ?? separator) : undefined;
      continue;
    }
    open.delete(found.key);
    pieces.push({ text: held }, { block, separator: inherited ?? separator, found });
    inherited = undefined;
    held = after;
  }
  return [...pieces, { text: held }];
}

function render(pieces: readonly Piece[], { eol, hash, founded }: Form): string {
  let isFirst = true;
  return pieces
    .map((piece) => {
      if ("text" in piece) return piece.text;
      const { key, sha, lines } = piece.block;
      const founder = founded && isFirst ? " new" : "";
      isFirst = false;
      const facts = `sha=${sha} block=${hash(lines.join("\n"))} sep=${encodeURIComponent(piece.separator)}${founder}`;
      const rows = [`<!-- reeve:memories:begin ${key} ${facts} -->`, ...lines, `<!-- reeve:memories:end ${key} -->`];
      return `${piece.separator}${rows.map((row) => `${row}${eol}`).join("")}`;
    })
    .join("");
}

/** New blocks follow the last one; a construct the person's text leaves open (a fence, a comment) is closed before them. */
function addBlocks(kept: readonly Piece[], missing: readonly WantedBlock[], form: Form): string | undefined {
  const { eol, hash } = form;
  const last = kept.findLastIndex((piece) => "block" in piece);
  const ahead = last < 0 ? kept : kept.slice(0, last + 1);
  const behind = last < 0 ? [] : kept.slice(last + 1);
  const before = render(ahead, form);
  const count = kept.filter((piece) => "block" in piece).length + missing.length;
  for (const separator of separators(before, eol)) {
    const added = missing.map((block, at): Piece => ({ block, separator: at === 0 ? separator : eol }));
    const whole = render([...ahead, ...added, ...behind], form);
    if (readBlocks(whole, hash).length === count) return whole;
  }
  return undefined;
}

const closers = ["-->", "?>", "]]>", "</script>", "</pre>", "</style>", "</textarea>", ">"];

function separators(before: string, eol: string): readonly string[] {
  if (before === "") return [""];
  const lineEnd = before.endsWith("\n") ? "" : eol;
  const fences = new Set([...before.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)].map(([, fence = ""]) => fence));
  return [`${lineEnd}${eol}`, ...[...fences, ...closers].map((closer) => `${lineEnd}${closer}${eol}${eol}`)];
}
