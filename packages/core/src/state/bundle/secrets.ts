import type { System } from "../../system/port.ts";
import type { ClaimedFile, StateTree } from "./tree.ts";

/** A line of a file that looks like a secret. Never the secret. */
export interface SuspectLine {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
}

export interface SweepReport {
  readonly suspects: readonly SuspectLine[];
  /** Files looked through, and files that hold no text. */
  readonly scanned: number;
  readonly binary: number;
}

/** What is given to the rules at once, and how much of it again: a secret of several lines must not fall between two. */
const windowBytes = 256 * 1024;
const overlapBytes = 16 * 1024;
/** A NUL among the first bytes makes a file binary, as git has it. */
const binaryBytes = 8000;

/** Looks through every text among the files for what looks like a secret. */
export async function sweepFiles(system: System, tree: StateTree, files: readonly ClaimedFile[]): Promise<SweepReport> {
  const suspects: SuspectLine[] = [];
  let binary = 0;
  for (const [index, { path }] of files.entries()) {
    if (index % 50 === 0) system.showProgress(`looking for secrets: ${index} of ${files.length} files`);
    if (system.info(tree.locate(path)) === undefined) continue;
    const found = await sweepPieces(system.readPieces(tree.locate(path)));
    if (found === "binary") binary += 1;
    else suspects.push(...found.map((one) => ({ path, ...one })));
  }
  system.showProgress("");
  return { suspects, scanned: files.length - binary, binary };
}

type Found = Omit<SuspectLine, "path">;

/** The suspect lines of one text, in order, each rule once a line. */
export async function sweepPieces(pieces: Iterable<Uint8Array>): Promise<readonly Found[] | "binary"> {
  const { findSecrets } = await import("./sweep.ts");
  const found = new Map<string, Found>();
  let linesBefore = 0;
  let first = true;
  for (const { text, isLast, kept } of windowsOf(pieces)) {
    if (first && text.subarray(0, binaryBytes).includes(0)) return "binary";
    first = false;
    for (const { line, rule } of await findSecrets(text.toString("utf8"))) {
      found.set(`${linesBefore + line} ${rule}`, { line: linesBefore + line, rule });
    }
    if (!isLast) linesBefore += countLines(text.subarray(0, text.length - kept));
  }
  return [...found.values()].sort((a, b) => a.line - b.line);
}

interface Window {
  readonly text: Buffer;
  readonly isLast: boolean;
  /** Bytes at its end that the next one begins with. */
  readonly kept: number;
}

function* windowsOf(pieces: Iterable<Uint8Array>): Generator<Window> {
  let rest: Buffer = Buffer.alloc(0);
  for (const piece of pieces) {
    rest = Buffer.concat([rest, piece]);
    if (rest.length < windowBytes) continue;
    const from = startOfLine(rest, rest.length - overlapBytes);
    yield { text: rest, isLast: false, kept: rest.length - from };
    rest = rest.subarray(from);
  }
  yield { text: rest, isLast: true, kept: 0 };
}

/** The first line to begin at or after the place, or the place itself in a line without end. */
function startOfLine(text: Buffer, place: number): number {
  const end = text.indexOf(0x0a, place);
  return end < 0 ? place : end + 1;
}

function countLines(text: Uint8Array): number {
  let lines = 0;
  for (const byte of text) if (byte === 0x0a) lines += 1;
  return lines;
}
