import { isUtf8 } from "node:buffer";
import { basename } from "node:path";
import { isMap, parseDocument } from "yaml";
import { findHidden, type Hidden } from "./hidden.ts";

/** One memory as its file says it (reference memories, section 2.1). */
export interface Memory {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Installed only when it is named. */
  readonly internal: boolean;
  /** From the source's root, with forward slashes. */
  readonly path: string;
  readonly bytes: Buffer;
  /** Names in `[[…]]` in the body: memories this one needs. */
  readonly links: readonly string[];
  readonly hidden: readonly Hidden[];
  /** What is odd and lets it be a memory. */
  readonly warnings: readonly string[];
}

export type JudgedFile =
  | { readonly kind: "memory"; readonly memory: Memory }
  /** By its name no memory: a README or an index. */
  | { readonly kind: "skipped" }
  | { readonly kind: "invalid"; readonly path: string; readonly line: number | undefined; readonly reason: string };

const longestName = 200;
const mostBytes = 1_048_576;
/** Parsing YAML costs more than its length. */
const longestFrontMatter = 16_384;
const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const types: ReadonlySet<unknown> = new Set([undefined, "user", "feedback", "project", "reference"]);

function isMemoryName(name: string): boolean {
  return name.length <= longestName && namePattern.test(name);
}

/** Judges one file of a source. Whatever its bytes are, the answer is a value. */
export function judgeFile(path: string, bytes: Buffer): JudgedFile {
  const name = basename(path);
  if (name === "MEMORY.md" || name.toLowerCase() === "readme.md") return { kind: "skipped" };
  try {
    return { kind: "memory", memory: readMemory(path, bytes) };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { kind: "invalid", path, line: error.line, reason: error.message };
  }
}

class Unfit extends Error {
  readonly line: number | undefined;

  constructor(reason: string, line?: number) {
    super(reason);
    this.line = line;
  }
}

function readMemory(path: string, bytes: Buffer): Memory {
  if (bytes.length > mostBytes) throw new Unfit(`is larger than ${mostBytes} bytes`);
  if (!isUtf8(bytes)) throw new Unfit("is not UTF-8");
  const text = bytes.toString("utf8");
  const { yaml, body } = splitFile(text);
  const members = readMembers(yaml);
  const stem = basename(path).replace(/\.md$/, "");
  const metadata = readMetadata(members["metadata"]);
  return {
    name: readName(members["name"], stem),
    description: readDescription(members["description"]),
    internal: metadata.members["internal"] === true,
    path,
    bytes,
    links: findLinks(body),
    hidden: findHidden(text),
    warnings: metadata.warnings,
  };
}

function splitFile(text: string): { readonly yaml: string; readonly body: string } {
  const fence = /^\uFEFF?---[ \t]*\r?\n/.exec(text);
  if (fence === null) throw new Unfit("has no front matter: it does not begin with ---", 1);
  const rest = text.slice(fence[0].length);
  const end = /^---[ \t]*(?:\r?\n|$)/m.exec(rest);
  if (end === null) throw new Unfit("its front matter has no end: no second ---", 1);
  return { yaml: rest.slice(0, end.index), body: rest.slice(end.index + end[0].length) };
}

function readMembers(yaml: string): Readonly<Record<string, unknown>> {
  if (yaml.length > longestFrontMatter)
    throw new Unfit(`its front matter is longer than ${longestFrontMatter} characters`, 1);
  const document = parseDocument(yaml, { uniqueKeys: true, logLevel: "silent", version: "1.2" });
  const [error] = document.errors;
  // The fence is the file's first line.
  if (error !== undefined)
    throw new Unfit(error.message.split("\n")[0] ?? "is no YAML", (error.linePos?.[0].line ?? 1) + 1);
  if (!isMap(document.contents)) throw new Unfit("its front matter holds no members", 2);
  try {
    return document.toJS({ maxAliasCount: 20 }) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new Unfit(`its front matter cannot be read (${error instanceof Error ? error.message : String(error)})`, 2);
  }
}

function readName(name: unknown, stem: string): string {
  if (typeof name !== "string") throw new Unfit("has no name");
  if (!isMemoryName(name))
    throw new Unfit(`its name ${JSON.stringify(name)} is not lower-case words joined by hyphens`);
  if (name !== stem) throw new Unfit(`its name ${name} is not its file's (${stem})`);
  return name;
}

function readDescription(description: unknown): string {
  const text = typeof description === "string" ? description.trim() : "";
  if (text === "") throw new Unfit("has no description");
  if (/[\r\n\u2028\u2029]/.test(text)) throw new Unfit("its description is more than one line");
  return text;
}

function readMetadata(value: unknown): {
  readonly members: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
} {
  if (value === undefined || value === null) return { members: {}, warnings: [] };
  if (typeof value !== "object" || Array.isArray(value)) throw new Unfit("its metadata holds no members");
  const members = value as Readonly<Record<string, unknown>>;
  const { node_type: nodeType, type, internal } = members;
  if (nodeType !== undefined && nodeType !== "memory") throw new Unfit("its metadata.node_type is not memory");
  const warnings: string[] = [];
  if (!types.has(type)) warnings.push("metadata.type is none of user, feedback, project, reference");
  if (internal !== undefined && typeof internal !== "boolean")
    warnings.push("metadata.internal is neither true nor false");
  return { members, warnings };
}

/** Names in double brackets, code aside. */
function findLinks(body: string): readonly string[] {
  const text = body.replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm, "").replace(/`[^`\n]*`/g, "");
  return [...new Set(Array.from(text.matchAll(/\[\[([a-z0-9-]+)\]\]/g), ([, name = ""]) => name))];
}
