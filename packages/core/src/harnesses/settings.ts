import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** One entry of a list in a settings file, and how to know which entries are ours. */
export interface SettingsEntry {
  /** Members from the top to the list, e.g. `["hooks", "SessionStart"]`. */
  readonly path: readonly string[];
  /** What belongs there; `undefined` for nothing. */
  readonly value: unknown;
  readonly isOurs: (value: unknown) => boolean;
  /** Members the file needs at its top when we make it, e.g. `{ version: 1 }`. */
  readonly head?: Readonly<Record<string, unknown>>;
}

export type SettingsEdit =
  /** `undefined`: the file holds nothing but what we put there, and goes. */
  | { readonly kind: "text"; readonly text: string | undefined }
  | { readonly kind: "refused"; readonly line: number | undefined; readonly reason: string };

const mark = "\uFEFF";

/**
 * Makes a list of a settings file hold our entry once, or not at all; every byte outside the entry stays, comments and
 * trailing commas included. What was made for the entry (the list, the member around it, the file) goes with it.
 */
export function editSettings(text: string | undefined, entry: SettingsEntry): SettingsEdit {
  if (text === undefined) return { kind: "text", text: entry.value === undefined ? undefined : renderFile(entry) };
  const bom = text.startsWith(mark) ? mark : "";
  const plain = text.slice(bom.length);
  const errors: ParseError[] = [];
  const root = parseTree(plain, errors, { allowTrailingComma: true });
  if (root === undefined || errors.length > 0) return refuse(plain, errors[0], "is not JSON");
  const wrong = judgeShape(root, entry.path);
  if (wrong !== undefined) return refuse(plain, { ...wrong, error: 0 }, wrong.reason);
  const owned = findOwned(root, entry);
  const [first, ...rest] = owned;
  if (entry.value !== undefined && first !== undefined && rest.length === 0) {
    const kept = JSON.stringify(toValue(first)) === JSON.stringify(entry.value);
    return { kind: "text", text: kept ? text : bom + replaceNode(plain, first, entry.value) };
  }
  const without = owned.length === 0 ? plain : removeOwned(plain, entry);
  if (entry.value === undefined) return { kind: "text", text: without === undefined ? undefined : bom + without };
  return { kind: "text", text: without === undefined ? renderFile(entry) : bom + insertEntry(without, entry) };
}

function refuse(
  text: string,
  at: { readonly offset: number; readonly error: number } | undefined,
  reason: string,
): SettingsEdit {
  const line = at === undefined ? undefined : text.slice(0, at.offset).split("\n").length;
  const what = at === undefined || at.error === 0 ? "" : ` (${printParseErrorCode(at.error)})`;
  return { kind: "refused", line, reason: `${reason}${what}` };
}

function toValue(node: Node): unknown {
  if (node.type === "object") {
    return Object.fromEntries(
      (node.children ?? []).map(({ children = [] }) => [children[0]?.value, children[1] && toValue(children[1])]),
    );
  }
  return node.type === "array" ? (node.children ?? []).map(toValue) : node.value;
}

/** Everything on the way to the list is an object, the list is one, and no member of the way comes twice. */
function judgeShape(
  root: Node,
  path: readonly string[],
): { readonly offset: number; readonly reason: string } | undefined {
  let node: Node | undefined = root;
  for (const [at, name] of path.entries()) {
    const shown = path.slice(0, at).join(".") || "its top";
    if (node.type !== "object") return { offset: node.offset, reason: `${shown} is no object` };
    const named: readonly Node[] = (node.children ?? []).filter(({ children }) => children?.[0]?.value === name);
    if (named.length > 1)
      return { offset: named[1]?.offset ?? 0, reason: `${[...path.slice(0, at), name].join(".")} is there twice` };
    node = named[0]?.children?.[1];
    if (node === undefined) return undefined;
  }
  return node.type === "array" ? undefined : { offset: node.offset, reason: `${path.join(".")} is no list` };
}

function findOwned(root: Node, { path, isOurs }: SettingsEntry): readonly Node[] {
  return (findNodeAtLocation(root, [...path])?.children ?? []).filter((node) => isOurs(toValue(node)));
}

interface Style {
  readonly eol: string;
  readonly unit: string;
}

function styleOf(text: string): Style {
  return { eol: text.includes("\r\n") ? "\r\n" : "\n", unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? "  " };
}

/** JSON whose first line stands after `indent`. */
function renderValue(value: unknown, indent: string, { eol, unit }: Style): string {
  return JSON.stringify(value, null, unit).split("\n").join(`${eol}${indent}`);
}

/** What a file holds that is made for the entry. */
function renderFile({ path, value, head = {} }: SettingsEntry): string {
  const nested = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), [value]);
  return `${JSON.stringify({ ...head, ...(nested as object) }, null, 2)}\n`;
}

function replaceNode(text: string, node: Node, value: unknown): string {
  const style = styleOf(text);
  const lineStart = text.lastIndexOf("\n", node.offset - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart, node.offset))?.[0] ?? "";
  return text.slice(0, node.offset) + renderValue(value, indent, style) + text.slice(node.offset + node.length);
}

/** Puts the entry behind the last of its list, or makes what is missing on the way behind the last member there is. */
function insertEntry(text: string, { path, value }: SettingsEntry): string {
  const root = parseTree(text) as Node;
  let node = root;
  let depth = 0;
  for (const name of path) {
    const next = findNodeAtLocation(node, [name]);
    if (next === undefined) break;
    node = next;
    depth += 1;
  }
  const missing = path.slice(depth);
  const style = styleOf(text);
  const indent = style.unit.repeat(depth + 1);
  const [name, ...inner] = missing;
  const nested = inner.reduceRight<unknown>((below, member) => ({ [member]: below }), [value]);
  const body =
    name === undefined
      ? renderValue(value, indent, style)
      : `${JSON.stringify(name)}: ${renderValue(nested, indent, style)}`;
  return insertBehind(text, { node, body, indent, style });
}

interface Insertion {
  readonly node: Node;
  readonly body: string;
  readonly indent: string;
  readonly style: Style;
}

function insertBehind(text: string, { node, body, indent, style }: Insertion): string {
  const last = node.children?.at(-1);
  if (last !== undefined) {
    const at = last.offset + last.length;
    return `${text.slice(0, at)},${style.eol}${indent}${body}${text.slice(at)}`;
  }
  const at = node.offset + 1;
  const closing = style.eol + indent.slice(style.unit.length);
  return `${text.slice(0, at)}${style.eol}${indent}${body}${closing}${text.slice(at)}`;
}

/**
 * Takes our entries out, and with them the list and the members around it that are then empty. Where putting the entry back
 * would give the text as it is, that is what was there before.
 */
function removeOwned(text: string, entry: SettingsEntry): string | undefined {
  if (text === renderFile({ ...entry, value: firstOwned(text, entry) })) return undefined;
  let left = text;
  for (;;) {
    const root = parseTree(left, [], { allowTrailingComma: true }) as Node;
    const node = findOwned(root, entry)[0];
    if (node === undefined) return left;
    left = cutNode(left, outermost(node));
  }
}

function firstOwned(text: string, entry: SettingsEntry): unknown {
  const node = findOwned(parseTree(text, [], { allowTrailingComma: true }) as Node, entry)[0];
  return node === undefined ? undefined : toValue(node);
}

/** The node itself, or the widest member around it that holds nothing else; never the file's top. */
function outermost(node: Node): Node {
  let widest = node;
  for (let around = node.parent; around?.parent !== undefined; around = around.parent) {
    if (around.type !== "property" && (around.children ?? []).length > 1) break;
    widest = around.type === "property" ? around : widest;
    if (around.type === "property" && (around.parent?.children ?? []).length > 1) break;
  }
  return widest;
}

function cutNode(text: string, node: Node): string {
  const siblings = node.parent?.children ?? [];
  const at = siblings.indexOf(node);
  const before = siblings[at - 1];
  const end = node.offset + node.length;
  if (before !== undefined) return text.slice(0, before.offset + before.length) + text.slice(end);
  const after = siblings[at + 1];
  if (after !== undefined) return text.slice(0, node.offset) + text.slice(after.offset);
  const open = (node.parent?.offset ?? 0) + 1;
  const close = /^,?(?:\r\n|\n)?[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  return text.slice(0, open) + text.slice(end + close);
}
