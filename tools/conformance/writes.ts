import type { SourceModule } from "../source/module.ts";
import { identifierName, isNode, lineAt, literalText, type Step, type SyntaxNode, walk } from "../source/syntax.ts";

/** A place where a source can write to the disk. */
export interface WriteUse {
  /** The function of `node:fs`; or `fs` where it is handed on and nobody can tell what is done with it. */
  readonly symbol: string;
  readonly line: number;
}

/**
 * Every way a module can write files by `node:fs`, however it comes by it: named, as a whole, renamed, taken apart, loaded
 * late or passed on. A local that bears the name of a binding counts as the binding. Writing to an open file is not
 * looked for: opening it for writing is.
 */
export function deriveWrites({ program, text }: SourceModule): WriteUse[] {
  const bindings = collectBindings(program);
  const found: Found[] = [...bindings.found];
  walk(program, (step, above) => {
    const symbol = symbolOf(step, above, bindings);
    if (symbol !== undefined) found.push({ symbol, at: step.node.start });
    return !isErased(step.node);
  });
  return found.map(({ symbol, at }) => ({ symbol, line: lineAt(text, at) }));
}

interface Found {
  readonly symbol: string;
  readonly at: number;
}

const fsModules: ReadonlySet<string | undefined> = new Set(["fs", "node:fs", "fs/promises", "node:fs/promises"]);
/** Members that are the module again. */
const whole: ReadonlySet<string | undefined> = new Set(["default", "promises"]);
const writing =
  /^(?:writeFile|appendFile|rename|mkdir|mkdtemp|mkdtempDisposable|symlink|link|unlink|rm|rmdir|copyFile|cp|truncate|ftruncate|[fl]?chmod|[fl]?chown|[fl]?utimes)(?:Sync)?$|^(?:createWriteStream|WriteStream|FileWriteStream|Utf8Stream)$/;
const opening = /^open(?:Sync)?$/;

interface Bindings {
  /** Names of the module as a whole. */
  readonly modules: Set<string>;
  /** The functions that open, by their local names. */
  readonly openers: Map<string, string>;
  /** Functions that write, where they are taken from the module. */
  readonly found: Found[];
}

/** A name may be given to another one before it is seen: collects until nothing new comes. */
function collectBindings(program: SyntaxNode): Bindings {
  const modules = new Set<string>();
  const openers = new Map<string, string>();
  for (;;) {
    const known = modules.size + openers.size;
    const bindings: Bindings = { modules, openers, found: [] };
    walk(program, ({ node }) => {
      if (isErased(node)) return false;
      bind(node, bindings);
      return true;
    });
    if (modules.size + openers.size === known) return bindings;
  }
}

function bind(node: SyntaxNode, bindings: Bindings): void {
  if (fsModules.has(literalText(node["source"]))) bindSpecifiers(node, bindings);
  const [target, value] = assigned(node);
  if (!isModule(value, bindings)) return;
  const name = identifierName(target);
  if (name !== undefined) bindings.modules.add(name);
  else if (isNode(target) && target.type === "ObjectPattern") {
    for (const property of nodesOf(target["properties"])) bindProperty(property, bindings);
  } else {
    bindings.found.push({ symbol: "fs", at: node.start });
  }
}

/** Of an import or an export of `node:fs`. */
function bindSpecifiers(node: SyntaxNode, bindings: Bindings): void {
  if (node.type === "ExportAllDeclaration") bindings.found.push({ symbol: "fs", at: node.start });
  for (const one of nodesOf(node["specifiers"])) {
    if (isErased(one)) continue;
    const local = node.type === "ImportDeclaration" ? identifierName(one["local"]) : undefined;
    const name = nameOf(node.type === "ImportDeclaration" ? (one["imported"] ?? undefined) : one["local"]);
    take({ name: name ?? "default", local, at: one.start }, bindings);
  }
}

function bindProperty(property: SyntaxNode, bindings: Bindings): void {
  const value = isNode(property["value"]) ? property["value"] : property;
  const local = identifierName(value.type === "AssignmentPattern" ? value["left"] : value);
  const name = property["computed"] === true ? literalText(property["key"]) : nameOf(property["key"]);
  if (name === undefined || local === undefined) bindings.found.push({ symbol: "fs", at: property.start });
  else take({ name, local, at: property.start }, bindings);
}

interface Taken {
  readonly name: string;
  /** What it is called here; `undefined` where it is handed on at once. */
  readonly local: string | undefined;
  readonly at: number;
}

function take({ name, local, at }: Taken, bindings: Bindings): void {
  if (writing.test(name)) bindings.found.push({ symbol: name, at });
  if (!whole.has(name) && !opening.test(name)) return;
  if (local === undefined) bindings.found.push({ symbol: whole.has(name) ? "fs" : name, at });
  else if (whole.has(name)) bindings.modules.add(local);
  else bindings.openers.set(local, name);
}

function assigned(node: SyntaxNode): readonly [target: unknown, value: unknown] {
  if (node.type === "VariableDeclarator") return [node["id"], node["init"] ?? undefined];
  if (node.type === "AssignmentExpression") return [node["left"], node["right"]];
  return [undefined, undefined];
}

/** Is the expression the module? */
function isModule(value: unknown, bindings: Bindings): boolean {
  const node = unwrapped(value);
  if (node === undefined) return false;
  const name = identifierName(node);
  if (name !== undefined) return bindings.modules.has(name);
  if (node.type === "AwaitExpression") return isLoaded(unwrapped(node["argument"]));
  if (node.type === "MemberExpression") return whole.has(memberName(node)) && isModule(node["object"], bindings);
  return node.type === "CallExpression" && isLoaded(node);
}

/** `import("node:fs")`, `require("node:fs")` and `process.getBuiltinModule("node:fs")`. */
function isLoaded(node: SyntaxNode | undefined): boolean {
  if (node?.type === "ImportExpression") return fsModules.has(literalText(node["source"]));
  if (node?.type !== "CallExpression") return false;
  const callee = unwrapped(node["callee"]);
  const loads = callee?.type === "MemberExpression" ? memberName(callee) : identifierName(callee);
  if (loads !== "require" && loads !== "getBuiltinModule") return false;
  return fsModules.has(literalText(nodesOf(node["arguments"])[0]));
}

/** What a use of the module or of an opener comes to, at the outermost expression that is still one of them. */
function symbolOf(step: Step, above: readonly Step[], bindings: Bindings): string | undefined {
  const { node, member } = step;
  const holder = above.at(-1)?.node;
  if (holder === undefined || isWrapper(holder) || isOnlyAName(member, holder) || isDeclared(step, above))
    return undefined;
  const opener = bindings.openers.get(identifierName(unwrapped(node)) ?? "");
  if (opener !== undefined) return opensForReading(node, holder) ? undefined : opener;
  if (node.type === "ImportExpression" && isLoaded(node)) return holder.type === "AwaitExpression" ? undefined : "fs";
  if (!isModule(node, bindings) || isTaking(step, holder)) return undefined;
  const name = holder.type === "MemberExpression" && member === "object" ? memberName(holder) : undefined;
  if (name === undefined) return "fs";
  if (writing.test(name)) return name;
  return opening.test(name) && !opensForReading(holder, outermost(above.slice(0, -1))) ? name : undefined;
}

function outermost(above: readonly Step[]): SyntaxNode | undefined {
  return above.findLast(({ node }) => !isWrapper(node))?.node;
}

/** A call whose flags only read. Without any, a file is opened for reading. */
function opensForReading(callee: SyntaxNode, call: SyntaxNode | undefined): boolean {
  if (call?.type !== "CallExpression" || unwrapped(call["callee"]) !== unwrapped(callee)) return false;
  const [, flags] = nodesOf(call["arguments"]);
  return flags === undefined || isReading(flags);
}

const readingFlags: ReadonlySet<string | undefined> = new Set([
  "O_RDONLY",
  "O_NOFOLLOW",
  "O_NONBLOCK",
  "O_DIRECTORY",
  "O_NOATIME",
  "O_SYMLINK",
]);

function isReading(flags: SyntaxNode): boolean {
  const text = literalText(flags);
  if (text !== undefined) return text === "r" || text === "rs" || text === "sr";
  if (flags.type === "BinaryExpression" && flags["operator"] === "|") {
    return [flags["left"], flags["right"]].every((side) => isNode(side) && isReading(side));
  }
  return readingFlags.has(flags.type === "MemberExpression" ? memberName(flags) : identifierName(flags));
}

const wrappers: ReadonlySet<string> = new Set([
  "ParenthesizedExpression",
  "ChainExpression",
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSInstantiationExpression",
]);

function isWrapper({ type }: SyntaxNode): boolean {
  return wrappers.has(type);
}

function unwrapped(value: unknown): SyntaxNode | undefined {
  let node = isNode(value) ? value : undefined;
  while (node !== undefined && isWrapper(node)) node = isNode(node["expression"]) ? node["expression"] : undefined;
  return node;
}

/** Is it what a name is given to? {@link bind} has judged that. */
function isTaking({ member }: Step, { type }: SyntaxNode): boolean {
  return (
    (type === "VariableDeclarator" && member === "init") || (type === "AssignmentExpression" && member === "right")
  );
}

/** Is it a name that is being declared? */
function isDeclared({ member }: Step, above: readonly Step[]): boolean {
  const [outer, holder] = above.slice(-2).map(({ node }) => node.type);
  const type = holder ?? outer ?? "";
  if (type.startsWith("Import") && type !== "ImportExpression") return true;
  if (type === "VariableDeclarator") return member === "id";
  if (type === "AssignmentExpression" || type === "AssignmentPattern") return member === "left";
  return type === "Property" && outer === "ObjectPattern" && member === "value";
}

function isOnlyAName(member: string, holder: SyntaxNode): boolean {
  if (holder.type === "MemberExpression") return member === "property" && holder["computed"] !== true;
  if (holder.type === "ExportSpecifier") return member === "exported";
  return holder.type === "Property" && member === "key" && holder["computed"] !== true;
}

/** What leaves nothing in the program that runs. */
function isErased(node: SyntaxNode): boolean {
  if (node["importKind"] === "type" || node["exportKind"] === "type") return true;
  return node.type.startsWith("TS") && !isWrapper(node);
}

function memberName(node: SyntaxNode): string | undefined {
  const property = node["property"];
  return node["computed"] === true ? literalText(property) : identifierName(property);
}

function nameOf(node: unknown): string | undefined {
  return identifierName(node) ?? literalText(node);
}

function nodesOf(value: unknown): SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}
