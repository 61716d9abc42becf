import { readModule, type SourceModule } from "./source/module.ts";
import { writeProblems } from "./source/problems.ts";
import { identifierName, isNode, lineAt, type Step, type SyntaxNode, walk } from "./source/syntax.ts";
import { isTestFile, readJson, readTree } from "./source/tree.ts";

/** `tools/sizes.json`: the budgets, and what may be larger and why. */
export interface SizeRules {
  readonly fileLines: number;
  readonly functionLines: number;
  readonly parameters: number;
  /** `what` is `file`, or the name of a function in it. */
  readonly exceptions: readonly { readonly file: string; readonly what: string; readonly because: string }[];
}

interface Excess {
  readonly what: string;
  readonly says: string;
}

const dataFile = "tools/sizes.json";
const functionTypes: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

export function main(): number {
  return writeProblems(check(process.cwd()));
}

/** The TypeScript of the repository, without its tests and without the data it ships. */
export function check(root: string): string[] {
  const paths = readTree(root, "").filter(
    (path) => path.endsWith(".ts") && !isTestFile(path) && !path.startsWith("share/"),
  );
  const modules = paths.map((path) => readModule(root, path));
  return judgeSizes(modules, readJson<SizeRules>(root, dataFile));
}

/** Every file and function over its budget, and every exception nothing needs any more. */
export function judgeSizes(modules: readonly SourceModule[], rules: SizeRules): string[] {
  const problems: string[] = [];
  const excused = new Set<SizeRules["exceptions"][number]>();
  for (const module of modules) {
    for (const excess of deriveExcesses(module, rules)) {
      const exception = rules.exceptions.find((one) => one.file === module.path && one.what === excess.what);
      if (exception === undefined) problems.push(`${module.path}${excess.says}`);
      else excused.add(exception);
    }
  }
  for (const exception of rules.exceptions) {
    const name = `${dataFile}: the exception for ${exception.what} in ${exception.file}`;
    if (!excused.has(exception)) problems.push(`${name} excuses nothing any more; remove it`);
    if (exception.because.trim() === "") problems.push(`${name} has no reason`);
  }
  return problems;
}

function deriveExcesses(module: SourceModule, rules: SizeRules): Excess[] {
  const excesses: Excess[] = [];
  const lines = module.text.split("\n").length - (module.text.endsWith("\n") ? 1 : 0);
  if (lines > rules.fileLines) {
    excesses.push({ what: "file", says: ` has ${lines} lines; ${rules.fileLines} is the limit` });
  }
  walk(module.program, (step, above) => {
    if (!functionTypes.has(step.node.type)) return true;
    const what = functionName(step, above);
    const first = lineAt(module.text, step.node.start);
    const length = lineAt(module.text, step.node.end) - first + 1;
    if (length > rules.functionLines) {
      excesses.push({ what, says: `:${first} ${what} has ${length} lines; ${rules.functionLines} is the limit` });
    }
    const parameters = countParameters(step.node);
    if (parameters > rules.parameters) {
      excesses.push({ what, says: `:${first} ${what} has ${parameters} parameters; take one object instead` });
    }
    return true;
  });
  return excesses;
}

// A `this` parameter only declares a type.
function countParameters(node: SyntaxNode): number {
  const parameters = node["params"] as readonly unknown[];
  return parameters.filter((one) => identifierName(one) !== "this").length;
}

function functionName(step: Step, above: readonly Step[]): string {
  const holder = above.at(-1)?.node;
  return identifierName(step.node["id"]) ?? identifierName(holder?.["id"]) ?? keyName(holder) ?? "a function";
}

function keyName(holder: SyntaxNode | undefined): string | undefined {
  const key = holder?.["key"];
  return isNode(key)
    ? (identifierName(key) ?? (key.type === "PrivateIdentifier" ? `#${String(key["name"])}` : undefined))
    : undefined;
}
