import { readFileSync } from "node:fs";
import { join } from "node:path";
import { identifierName, isNode, lineAt, literalText, parseSource, type SyntaxNode, walk } from "./syntax.ts";

export interface ModuleImport {
  readonly specifier: string;
  /** A `type` import leaves nothing in the program that runs. */
  readonly kind: "type" | "value";
  readonly line: number;
}

export interface SourceModule {
  /** From the repository root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: SyntaxNode;
  readonly imports: readonly ModuleImport[];
}

export function readModule(root: string, path: string): SourceModule {
  return parseModule(path, readFileSync(join(root, path), "utf8"));
}

/** One source file with everything it imports: statements, `import()`, `require` and `process.getBuiltinModule`. */
export function parseModule(path: string, text: string): SourceModule {
  const program = parseSource(path, text);
  const imports: ModuleImport[] = [];
  walk(program, ({ node }) => {
    const specifier = deriveSpecifier(node);
    if (specifier !== undefined) {
      imports.push({ specifier, kind: isTypeOnly(node) ? "type" : "value", line: lineAt(text, node.start) });
    }
    return true;
  });
  return { path, text, program, imports };
}

function deriveSpecifier(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return literalText(node["source"]);
    case "CallExpression":
      return loadsModule(node["callee"]) ? literalText((node["arguments"] as readonly unknown[])[0]) : undefined;
    default:
      return undefined;
  }
}

function loadsModule(callee: unknown): boolean {
  if (identifierName(callee) === "require") return true;
  return (
    isNode(callee) && callee.type === "MemberExpression" && identifierName(callee["property"]) === "getBuiltinModule"
  );
}

// `import { type A }` still loads the module when it runs; only `import type` does not.
function isTypeOnly(node: SyntaxNode): boolean {
  return node.type === "TSImportType" || node["importKind"] === "type" || node["exportKind"] === "type";
}
