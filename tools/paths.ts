import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { writeProblems } from "./source/problems.ts";
import { readTree } from "./source/tree.ts";

export interface Mention {
  readonly text: string;
  readonly line: number;
  readonly kind: "code" | "link";
}

/** Top folders whose names, at the beginning of a path, mean this repository. */
const ownFolders: ReadonlySet<string> = new Set([
  "packages",
  "tools",
  "docs",
  "share",
  "tests",
  "bench",
  ".ci",
  ".changeset",
]);

export function main(): number {
  return writeProblems(check(process.cwd()));
}

/** Every path named in a document written by hand that the tree does not have. */
export function check(root: string): string[] {
  const tree = readTree(root, "");
  return tree.filter(isHandWritten).flatMap((document) =>
    parseMentions(readFileSync(join(root, document), "utf8"))
      .filter((mention) => !isThere(mention, document, { root, tree }))
      .map((mention) => `${document}:${mention.line} names ${mention.text}, which does not exist`),
  );
}

/**
 * What a Markdown text names that may be a path: words of inline code, and targets of links. Fenced blocks are left
 * out: they show other repositories' trees and what commands print.
 */
export function parseMentions(text: string): Mention[] {
  const mentions: Mention[] = [];
  let fence: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || line.trim() === fence)) {
      fence = fence === undefined ? mark : undefined;
      continue;
    }
    if (fence !== undefined) continue;
    for (const [, , code = ""] of line.matchAll(/(`+)(.+?)\1(?!`)/g)) {
      for (const word of code.split(/\s+/)) mentions.push({ text: word, line: index + 1, kind: "code" });
    }
    for (const [, target = ""] of line.matchAll(/\]\(<?([^()\s<>]+)>?\)/g)) {
      mentions.push({ text: target, line: index + 1, kind: "link" });
    }
  }
  return mentions;
}

/** Documents written by hand; `docs/reference` is generated and checked against the code instead. */
function isHandWritten(path: string): boolean {
  if (!path.endsWith(".md")) return false;
  return !path.includes("/") || /^docs\/(guide|decisions)\//.test(path) || /^packages\/[^/]+\/README\.md$/.test(path);
}

function isThere(mention: Mention, document: string, where: { root: string; tree: readonly string[] }): boolean {
  if (mention.kind === "link") {
    const target = mention.text.replace(/#.*$/, "");
    if (target === "" || /^[a-z][a-z0-9+.-]*:/i.test(target)) return true;
    return existsSync(join(where.root, posix.join(posix.dirname(document), target)));
  }
  const path = mention.text.replace(/[,;.]+$|:\d+$/g, "").replace(/\/$/, "");
  if (!isOwnPath(path, document)) return true;
  if (!/[<*{]/.test(path)) return existsSync(join(where.root, path));
  const pattern = renderPattern(path);
  return where.tree.some((file) => pattern.test(file));
}

function isOwnPath(path: string, document: string): boolean {
  const [top = "", ...rest] = path.split("/");
  if (rest.length > 0) return ownFolders.has(top);
  // The guide and the front page speak of the reader's repository, whose rule files bear the same names as ours.
  const aboutReaders = document.startsWith("docs/guide/") || document === "README.md";
  return !aboutReaders && /^[A-Z][A-Z_]*\.md$/.test(path);
}

/** `<name>` and `*` stand for part of one segment, `**` for any number, `{a,b}` for one of its words. */
function renderPattern(path: string): RegExp {
  const source = path.replace(/<[^>]*>|\*\*|\*|\{[^}]*\}|[.+?^$()|[\]\\]/g, (token) => {
    if (token === "**") return ".*";
    if (token === "*" || token.startsWith("<")) return "[^/]+";
    if (token.startsWith("{")) return `(?:${token.slice(1, -1).split(",").join("|")})`;
    return `\\${token}`;
  });
  return new RegExp(`^${source}(?:/|$)`);
}
