import { basename, join } from "node:path";
import { ReeveError } from "../../findings/errors.ts";
import { plural } from "../../findings/plural.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import { judgeFile, type Memory } from "./memory.ts";
import { findRisky } from "./risky.ts";

/** One thing to mend, or to look at. */
export interface LintLine {
  /** From the folder that was looked through. */
  readonly path: string;
  /** From 1, where a line is meant. */
  readonly line: number | undefined;
  readonly reason: string;
}

export interface LintReport {
  /** How many files are memories. */
  readonly memories: number;
  /** What keeps a file from being installed. */
  readonly problems: readonly LintLine[];
  /** What a person should look at. */
  readonly warnings: readonly LintLine[];
  /** How many rule lines there would be over the cap. */
  readonly overCap: number;
}

export interface LintRequest {
  readonly folder: AbsPath;
  /** Folders below it, too. */
  readonly fullDepth: boolean;
  /** The most rule lines of one source. */
  readonly cap: number;
}

const mostEntries = 100_000;
const mostBytes = 1_048_576;
/** Of one kind, in one file. */
const mostShown = 20;

/**
 * Judges every memory of a folder as an install would, and all of them together. Follows no link and changes nothing.
 * @throws ReeveError NOT_FOUND, UNREADABLE, or REFUSED when there is more than anybody would install
 */
export function lintFolder(system: System, request: LintRequest): LintReport {
  const found = listFolder(system, request);
  const problems: LintLine[] = [];
  const warnings: LintLine[] = [...found.warnings];
  const memories: Memory[] = [];
  for (const path of found.files) {
    const judged = judgeFile(path, readSome(system, join(request.folder, path) as AbsPath));
    if (judged.kind === "invalid") problems.push({ path, line: judged.line, reason: judged.reason });
    if (judged.kind !== "memory") continue;
    memories.push(judged.memory);
    problems.push(...judgeHidden(judged.memory));
    problems.push(...judged.memory.warnings.map((reason) => ({ path, line: undefined, reason })));
    warnings.push(...judgeLooks(judged.memory));
  }
  problems.push(...judgeTogether(memories));
  const published = memories.filter(({ internal }) => !internal).length;
  return { memories: memories.length, problems, warnings, overCap: Math.max(0, published - request.cap) };
}

interface Listed {
  readonly files: readonly string[];
  readonly warnings: readonly LintLine[];
}

function listFolder(system: System, { folder, fullDepth }: LintRequest): Listed {
  const kind = system.info(folder)?.kind;
  if (kind === "file") {
    throw new ReeveError("NOT_FOUND", `${folder}: is a file; memories are looked for in a folder`, {
      hint: "reeve memory lint <folder>",
    });
  }
  if (kind !== "directory") {
    throw new ReeveError("NOT_FOUND", `${folder}: there is no such folder`, { hint: "reeve memory lint <folder>" });
  }
  const files: string[] = [];
  const warnings: LintLine[] = [];
  const open = [""];
  let entries = 0;
  for (let below = open.shift(); below !== undefined; below = open.shift()) {
    for (const { name, kind: is } of system.list(join(folder, below) as AbsPath) ?? []) {
      entries += 1;
      if (entries > mostEntries) {
        throw new ReeveError("REFUSED", `${folder}: holds more than ${mostEntries} entries`, {
          hint: "name the folder the memories are in",
        });
      }
      const path = `${below}${name}`;
      if (name.startsWith(".")) continue;
      if (is === "directory" && fullDepth) open.push(`${path}/`);
      if (!name.endsWith(".md")) continue;
      if (is === "file") files.push(path);
      else
        warnings.push({
          path,
          line: undefined,
          reason: `is a ${is === "other" ? "device or pipe" : is}, and is passed over`,
        });
    }
  }
  return { files, warnings };
}

/** One byte more than a memory may have is enough to refuse it. */
function readSome(system: System, path: AbsPath): Buffer {
  return Buffer.concat([...system.readPieces(path, mostBytes + 1)]);
}

function judgeHidden({ path, hidden }: Memory): readonly LintLine[] {
  const lines = hidden.slice(0, mostShown).map(({ kind, line, column, shown }) => ({
    path,
    line,
    reason: `hides something from a reader: ${kind} ${shown} in column ${column}`,
  }));
  return withRest(lines, hidden.length);
}

function judgeLooks({ path, bytes }: Memory): readonly LintLine[] {
  const risky = findRisky(bytes.toString("utf8"));
  const lines = risky
    .slice(0, mostShown)
    .map(({ shape, line }) => ({ path, line, reason: `read this twice: ${shape}` }));
  return withRest(lines, risky.length);
}

/** Says how many more there are of one kind in one file. */
function withRest(lines: readonly LintLine[], count: number): readonly LintLine[] {
  const [first] = lines;
  if (first === undefined || count === lines.length) return lines;
  return [...lines, { path: first.path, line: undefined, reason: `and ${count - lines.length} more like these` }];
}

/** Two of one name, and links that lead nowhere. */
function judgeTogether(memories: readonly Memory[]): readonly LintLine[] {
  const first = new Map<string, string>();
  const twice = memories.flatMap(({ name, path }) => {
    const other = first.get(name);
    first.set(name, other ?? path);
    return other === undefined
      ? []
      : [{ path, line: undefined, reason: `${basename(path)} is the name of ${other}, too` }];
  });
  const unmet = memories.flatMap(({ path, links }) =>
    links
      .filter((link) => !first.has(link))
      .map((link) => ({ path, line: undefined, reason: `needs [[${link}]], and no memory here has that name` })),
  );
  return [...twice, ...unmet];
}

/** A report for a person, one line each; what need only be looked at begins with `!`. */
export function renderLint({ memories, problems, warnings, overCap }: LintReport, cap: number): string {
  const show = ({ path, line, reason }: LintLine): string =>
    escapeControls(`${path}${line === undefined ? "" : `:${line}`}: ${reason}`);
  const over = overCap === 0 ? [] : [`${plural(overCap, "rule line")} over the cap of ${cap} a source`];
  const count = problems.length + over.length;
  const verdict = `${plural(memories, "memory")}, ${count === 0 ? "no problem" : plural(count, "problem")}`;
  return [...problems.map(show), ...over, ...warnings.map((warning) => `! ${show(warning)}`), verdict].join("\n");
}

/** A file's name and a parser's words may hold what moves a terminal. */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
