import { isBuiltin } from "node:module";
import { readModule, type SourceModule } from "./source/module.ts";
import { writeProblems } from "./source/problems.ts";
import { identifierName, lineAt, literalText, type Step, walk } from "./source/syntax.ts";
import { isTestFile, readJson, readTree } from "./source/tree.ts";

/** `tools/machine-access.json`. */
export interface MachineRules {
  /** Path beginnings of the sources that may touch the machine. */
  readonly owners: readonly string[];
  /** The one file that ends the process or sets its exit code. */
  readonly exitCodeOwner: string;
  /** The modules of Node that only calculate; every other one reaches the machine. */
  readonly pureModules: readonly string[];
  /** Global names that reach the machine, and single members of names that otherwise only calculate. */
  readonly globals: readonly string[];
  readonly members: readonly string[];
  readonly exceptions: readonly { readonly file: string; readonly uses: string; readonly because: string }[];
}

interface Use {
  /** `node:fs`, `process.env`, `console.log`, `new Date()`, … */
  readonly name: string;
  readonly line: number;
}

const dataFile = "tools/machine-access.json";
const endsProcess: ReadonlySet<string> = new Set([
  "process.exit",
  "process.exitCode",
  "process.abort",
  "process.reallyExit",
]);

export function main(): number {
  return writeProblems(check(process.cwd()));
}

export function check(root: string): string[] {
  const paths = readTree(root, "packages").filter((path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path));
  const modules = paths.filter((path) => !isTestFile(path)).map((path) => readModule(root, path));
  return judgeAccess(modules, readJson<MachineRules>(root, dataFile));
}

/** Every place that touches the machine without being its owner, and every exception that excuses nothing. */
export function judgeAccess(modules: readonly SourceModule[], rules: MachineRules): string[] {
  const problems: string[] = [];
  const excused = new Set<MachineRules["exceptions"][number]>();
  for (const module of modules) {
    for (const use of [...deriveImportUses(module, rules), ...deriveGlobalUses(module, rules)]) {
      const reason = judgeUse(module.path, use.name, rules);
      if (reason === undefined) continue;
      const exception = rules.exceptions.find((one) => one.file === module.path && one.uses === use.name);
      if (exception === undefined) problems.push(`${module.path}:${use.line} uses ${use.name}: ${reason}`);
      else excused.add(exception);
    }
  }
  for (const exception of rules.exceptions) {
    const name = `${dataFile}: the exception for ${exception.uses} in ${exception.file}`;
    if (!excused.has(exception)) problems.push(`${name} excuses nothing any more; remove it`);
    if (exception.because.trim() === "") problems.push(`${name} has no reason`);
  }
  return problems;
}

function judgeUse(path: string, name: string, rules: MachineRules): string | undefined {
  if (name === "console" || name.startsWith("console.")) return "a command returns what is to be printed";
  if (endsProcess.has(name)) {
    return path === rules.exitCodeOwner ? undefined : `only ${rules.exitCodeOwner} ends the process`;
  }
  if (rules.owners.some((owner) => path.startsWith(owner))) return undefined;
  return `only ${rules.owners.join(", ")} touch the machine`;
}

function deriveImportUses(module: SourceModule, rules: MachineRules): Use[] {
  return module.imports
    .filter((found) => found.kind === "value" && isBuiltin(found.specifier))
    .map((found) => ({ name: `node:${found.specifier.replace(/^node:/, "")}`, line: found.line }))
    .filter((use) => !rules.pureModules.includes(use.name));
}

function deriveGlobalUses(module: SourceModule, rules: MachineRules): Use[] {
  const uses: Use[] = [];
  walk(module.program, (step, above) => {
    if (isTypeSyntax(step.node.type)) return false;
    const name = deriveUse(step, above);
    const head = name?.split(".")[0] ?? "";
    if (name !== undefined && (rules.globals.includes(head) || rules.members.includes(name) || name === "new Date()")) {
      uses.push({ name, line: lineAt(module.text, step.node.start) });
    }
    return true;
  });
  return uses;
}

// `a as B`, `a satisfies B` and `a!` are types wrapped around a value; everything else of TypeScript's own is erased.
function isTypeSyntax(type: string): boolean {
  if (!type.startsWith("TS")) return false;
  return !["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSInstantiationExpression"].includes(
    type,
  );
}

/**
 * The dotted name a free identifier begins, at most two long. A local that bears a global's name counts as the global:
 * who renames it is safe, and nobody hides one behind the other.
 */
function deriveUse(step: Step, above: readonly Step[]): string | undefined {
  const name = identifierName(step.node);
  const holder = above.at(-1);
  if (name === undefined || holder === undefined || isOnlyAName(step, holder)) return undefined;
  if (name === "Date" && holder.node.type === "NewExpression" && step.member === "callee") {
    return (holder.node["arguments"] as readonly unknown[]).length === 0 ? "new Date()" : undefined;
  }
  const member = memberOf(step, holder);
  if (name !== "globalThis" && name !== "global") return member === undefined ? name : `${name}.${member}`;
  if (member === undefined) return undefined;
  const outer = above.at(-2);
  const inner = outer === undefined ? undefined : memberOf(holder, outer);
  return inner === undefined ? member : `${member}.${inner}`;
}

function memberOf(step: Step, holder: Step): string | undefined {
  if (holder.node.type !== "MemberExpression" || step.member !== "object") return undefined;
  const property = holder.node["property"];
  return holder.node["computed"] === true ? literalText(property) : identifierName(property);
}

/** An identifier that names a member or a label and refers to no variable. */
function isOnlyAName(step: Step, holder: Step): boolean {
  const { type } = holder.node;
  if (type === "MemberExpression") return step.member === "property" && holder.node["computed"] !== true;
  if (["Property", "MethodDefinition", "PropertyDefinition", "AccessorProperty"].includes(type)) {
    return step.member === "key" && holder.node["computed"] !== true;
  }
  if (type === "ImportSpecifier") return step.member === "imported";
  if (type === "ExportSpecifier") return step.member === "exported";
  return type === "LabeledStatement" || type === "BreakStatement" || type === "ContinueStatement";
}
