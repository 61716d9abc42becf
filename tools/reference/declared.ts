import { readFileSync } from "node:fs";
import { join } from "node:path";
import { identifierName, isNode, parseSource, type SyntaxNode } from "../source/syntax.ts";

/** Something a library exports, as its declaration files say. */
export interface Declared {
  readonly name: string;
  /** The module that declares it, without an ending. */
  readonly module: string;
  readonly kind: "function" | "class" | "value" | "interface" | "type";
  /** Its first lines: a function's, or everything but the members of what has any. */
  readonly signature: string;
  /** Without its comment marks. */
  readonly doc: string;
  readonly members: readonly DeclaredMember[];
}

export interface DeclaredMember {
  readonly signature: string;
  readonly doc: string;
}

/**
 * Everything a module exports, in the order in which it says so. What an interface has from one that is not exported stands
 * among its own members.
 */
export function readExports(folder: string, module: string): Declared[] {
  const library: Library = { folder, modules: new Map() };
  const exported = exportsOf(library, module);
  const names = new Set(exported.map(({ name }) => name));
  return exported.map((one) => withMembersOfBases(library, findDeclared(library, one), names));
}

function withMembersOfBases(library: Library, item: Declared, exported: ReadonlySet<string>): Declared {
  const [, head, bases] = /^(interface .+?) extends ([\w, ]+)$/.exec(item.signature) ?? [];
  if (head === undefined || bases === undefined) return item;
  const hidden = bases.split(", ").filter((base) => !exported.has(base));
  const shown = bases.split(", ").filter((base) => exported.has(base));
  const inherited = hidden.flatMap((base) => {
    const found = findDeclared(library, { name: base, local: base, from: item.module });
    return withMembersOfBases(library, found, exported).members;
  });
  const signature = shown.length === 0 ? head : `${head} extends ${shown.join(", ")}`;
  return { ...item, signature, members: [...inherited, ...item.members] };
}

interface Library {
  readonly folder: string;
  readonly modules: Map<string, Module>;
}

interface Module {
  readonly text: string;
  readonly body: readonly SyntaxNode[];
}

/** An exported name, what it is called in the module that it comes from, and that module. */
interface Export {
  readonly name: string;
  readonly local: string;
  readonly from: string;
}

function openModule({ folder, modules }: Library, name: string): Module {
  const known = modules.get(name);
  if (known !== undefined) return known;
  const file = join(folder, `${name}.d.ts`);
  const text = readFileSync(file, "utf8");
  const opened = { text, body: nodesOf(parseSource(file, text)["body"]) };
  modules.set(name, opened);
  return opened;
}

function exportsOf(library: Library, module: string): Export[] {
  return openModule(library, module).body.flatMap((node) => {
    if (!node.type.startsWith("Export")) return [];
    if (node.type !== "ExportNamedDeclaration") throw new Error(`${module} exports something without naming it`);
    const source = moduleNamed(node["source"]) ?? module;
    const listed = nodesOf(node["specifiers"]).map((one) => ({
      name: nameOf(one["exported"]),
      local: nameOf(one["local"]),
      from: source,
    }));
    const declared = isNode(node["declaration"]) ? [declaredName(node["declaration"])] : [];
    return [...listed, ...declared.map((name) => ({ name, local: name, from: module }))];
  });
}

function findDeclared(library: Library, { name, local, from }: Export): Declared {
  const { text, body } = openModule(library, from);
  for (const node of body) {
    const declaration = isNode(node["declaration"]) ? node["declaration"] : node;
    if (kinds[declaration.type] !== undefined && declaredName(declaration) === local) {
      return describe({ name, module: from, text, node, declaration });
    }
  }
  const next = exportsOf(library, from).find((one) => one.name === local && one.from !== from) ?? importOf(body, local);
  if (next === undefined) throw new Error(`${from} declares no ${local}`);
  return findDeclared(library, { ...next, name });
}

function importOf(body: readonly SyntaxNode[], local: string): Export | undefined {
  for (const node of body) {
    const from = node.type === "ImportDeclaration" ? moduleNamed(node["source"]) : undefined;
    const found = nodesOf(node["specifiers"]).find((one) => identifierName(one["local"]) === local);
    if (from !== undefined && found !== undefined) return { name: local, local: nameOf(found["imported"]), from };
  }
  return undefined;
}

interface Place {
  readonly name: string;
  readonly module: string;
  readonly text: string;
  readonly node: SyntaxNode;
  readonly declaration: SyntaxNode;
}

const kinds: Readonly<Record<string, Declared["kind"]>> = {
  TSDeclareFunction: "function",
  ClassDeclaration: "class",
  VariableDeclaration: "value",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
};

function describe({ name, module, text, node, declaration }: Place): Declared {
  const kind = kinds[declaration.type];
  if (kind === undefined) throw new Error(`${module} exports ${name}, a ${declaration.type}`);
  const body = isNode(declaration["body"]) ? declaration["body"] : undefined;
  const head = text.slice(declaration.start, body?.start ?? declaration.end);
  return {
    name,
    module,
    kind,
    signature: clean(head.replace(/^declare /, "")),
    doc: docBefore(text, node.start),
    members: nodesOf(body?.["body"]).map((member) => ({
      signature: clean(text.slice(member.start, member.end)),
      doc: docBefore(text, member.start),
    })),
  };
}

/** On one line, without comments and without the semicolon. */
function clean(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/;?\s*$/, "")
    .trim();
}

/** The doc comment that ends right before an offset. */
function docBefore(text: string, offset: number): string {
  const start = text.lastIndexOf("/**", offset);
  const comment = start === -1 ? "" : text.slice(start, offset).trimEnd();
  if (!comment.endsWith("*/") || comment.indexOf("*/") !== comment.length - 2) return "";
  const lines = comment.slice(3, -2).split("\n");
  return lines
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join("\n")
    .trim();
}

function declaredName(declaration: SyntaxNode): string {
  const [first] = nodesOf(declaration["declarations"]);
  return nameOf(first === undefined ? declaration["id"] : first["id"]);
}

/** The module a relative specifier names; they all lie in one folder. */
function moduleNamed(source: unknown): string | undefined {
  const value = isNode(source) ? source["value"] : undefined;
  return typeof value === "string" ? /^\.\/(.+)\.js$/.exec(value)?.[1] : undefined;
}

function nameOf(node: unknown): string {
  const name = identifierName(node);
  if (name === undefined) throw new Error("an export without a plain name");
  return name;
}

function nodesOf(value: unknown): SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}
