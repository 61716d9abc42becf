import { parseSync } from "vite";

/** A node of the parsed source, as far as the checks look into it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** A node on the way down from the program: the node, and the member of its parent that holds it. */
export interface Step {
  readonly node: SyntaxNode;
  readonly member: string;
}

class SyntaxProblem extends Error {}

/** Parses TypeScript; throws `SyntaxProblem` naming the place when it is not. */
export function parseSource(path: string, text: string): SyntaxNode {
  const result = parseSync(path, text);
  const problem = result.errors[0];
  if (problem !== undefined) {
    const line = lineAt(text, problem.labels[0]?.start ?? 0);
    throw new SyntaxProblem(`${path}:${line} does not parse: ${problem.message}`);
  }
  return result.program as unknown as SyntaxNode;
}

export type Visit = (step: Step, above: readonly Step[]) => boolean;

/** Calls `visit` on every node, outermost first, with the steps above it; answering `false` leaves its inside out. */
export function walk(program: SyntaxNode, visit: Visit): void {
  descend({ node: program, member: "" }, [], visit);
}

function descend(step: Step, above: readonly Step[], visit: Visit): void {
  if (!visit(step, above)) return;
  const inside = [...above, step];
  for (const [member, value] of Object.entries(step.node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) descend({ node: child, member }, inside, visit);
    }
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** The text of a string literal, or of a template without a hole; `undefined` for any other expression. */
export function literalText(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === "Literal" && typeof value["value"] === "string") return value["value"];
  if (value.type !== "TemplateLiteral") return undefined;
  const quasis = value["quasis"];
  const only: unknown = Array.isArray(quasis) && quasis.length === 1 ? quasis[0] : undefined;
  const cooked = isNode(only) ? (only["value"] as { cooked?: unknown }).cooked : undefined;
  return typeof cooked === "string" ? cooked : undefined;
}

/** The name of an identifier node; `undefined` for any other. */
export function identifierName(value: unknown): string | undefined {
  return isNode(value) && value.type === "Identifier" && typeof value["name"] === "string" ? value["name"] : undefined;
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
