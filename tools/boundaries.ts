import { posix } from "node:path";
import { type ModuleImport, readModule, type SourceModule } from "./source/module.ts";
import { writeProblems } from "./source/problems.ts";
import { identifierName, walk } from "./source/syntax.ts";
import { isTestFile, readJson, readTree } from "./source/tree.ts";

/** `tools/boundaries.json`: for each package, and each feature folder of `core`, what it may import. */
export interface Boundaries {
  readonly packages: Readonly<Record<string, readonly string[]>>;
  readonly features: Readonly<Record<string, readonly string[]>>;
}

/** The sources of the packages, without their tests, and the folder each package name stands for. */
export interface PackageSources {
  readonly modules: readonly SourceModule[];
  readonly folders: ReadonlyMap<string, string>;
}

interface Edge {
  readonly kind: "package" | "feature";
  readonly from: string;
  readonly to: string;
  readonly where: string;
}

const dataFile = "tools/boundaries.json";

/** `--edges` prints the edges the code has, in the form of the data file, for a reader to compare with it. */
export function main(args: readonly string[]): number {
  const root = process.cwd();
  if (args.includes("--edges")) {
    process.stdout.write(`${JSON.stringify(renderEdges(readPackageSources(root)), null, 2)}\n`);
    return 0;
  }
  return writeProblems(check(root));
}

export function check(root: string): string[] {
  return judgeImports(readPackageSources(root), readJson<Boundaries>(root, dataFile));
}

export function readPackageSources(root: string): PackageSources {
  const folders = new Map<string, string>();
  const modules: SourceModule[] = [];
  for (const path of readTree(root, "packages")) {
    const [, folder = "", ...inside] = path.split("/");
    if (inside.join("/") === "package.json") folders.set(readJson<{ name: string }>(root, path).name, folder);
    if (inside[0] === "src" && path.endsWith(".ts") && !isTestFile(path)) modules.push(readModule(root, path));
  }
  return { modules, folders };
}

/** Every import that crosses a border it may not, and every border the data file opens for nobody. */
export function judgeImports(sources: PackageSources, boundaries: Boundaries): string[] {
  const edges: Edge[] = [];
  const problems: string[] = [];
  const commands = new Set(sources.modules.filter(definesCommand).map((module) => module.path));
  for (const module of sources.modules) {
    for (const found of module.imports) {
      const where = `${module.path}:${found.line}`;
      const target = resolveImport(module.path, found, sources.folders);
      if (target === undefined) continue;
      const problem = judgeTarget(module.path, target, commands);
      if (problem !== undefined) problems.push(`${where} ${problem}`);
      else edges.push(...deriveEdges(module.path, target.path, where));
    }
  }
  const places = derivePlaces(sources.modules.map((module) => module.path));
  return [
    ...problems,
    ...judgeEdges(edges, "package", boundaries.packages),
    ...judgeEdges(edges, "feature", boundaries.features),
    ...judgePlaces(places.packages, "package", boundaries.packages),
    ...judgePlaces(places.features, "feature folder of core", boundaries.features),
  ];
}

interface Target {
  readonly path: string;
  readonly relative: boolean;
}

function resolveImport(
  importer: string,
  found: ModuleImport,
  folders: ReadonlyMap<string, string>,
): Target | undefined {
  const { specifier } = found;
  if (specifier.startsWith(".")) return { path: posix.join(posix.dirname(importer), specifier), relative: true };
  for (const [name, folder] of folders) {
    if (specifier === name) return { path: `packages/${folder}/src/index.ts`, relative: false };
    if (specifier.startsWith(`${name}/`)) {
      return { path: `packages/${folder}/src/${specifier.slice(name.length + 1)}`, relative: false };
    }
  }
  return undefined;
}

function judgeTarget(importer: string, target: Target, commands: ReadonlySet<string>): string | undefined {
  const home = sourceFolder(importer);
  const there = sourceFolder(target.path);
  if (there === undefined) return `imports ${target.path}: the packages import nothing outside packages/*/src`;
  if (isTestFile(target.path)) return `imports ${target.path}: nothing imports a test or a fixture`;
  if (target.relative && home !== there) return `imports ${target.path} by a relative path; use the package's name`;
  const besideCommands = home === "commands" && importer.split("/").length > 4;
  if (besideCommands && commands.has(target.path)) return `imports ${target.path}: a command is imported by no other`;
  return undefined;
}

function deriveEdges(importer: string, target: string, where: string): Edge[] {
  const from = sourceFolder(importer) ?? "";
  const to = sourceFolder(target) ?? "";
  if (from !== to) return [{ kind: "package", from, to, where }];
  const feature = featureOf(importer);
  const used = featureOf(target);
  if (feature === undefined || used === undefined || feature === used) return [];
  return [{ kind: "feature", from: feature, to: used, where }];
}

function judgeEdges(edges: readonly Edge[], kind: Edge["kind"], allowed: Boundaries["packages"]): string[] {
  const mine = edges.filter((edge) => edge.kind === kind);
  const forbidden = mine
    .filter((edge) => allowed[edge.from] !== undefined && !allowed[edge.from]?.includes(edge.to))
    .map((edge) => `${edge.where} lets ${edge.from} use ${edge.to}: no such edge among the ${kind}s of ${dataFile}`);
  const stale = Object.entries(allowed).flatMap(([from, targets]) =>
    targets
      .filter((to) => !mine.some((edge) => edge.from === from && edge.to === to))
      .map((to) => `${dataFile}: no import goes from ${kind} ${from} to ${to} any more; remove the edge`),
  );
  return [...forbidden, ...stale];
}

function judgePlaces(found: ReadonlySet<string>, kind: string, listed: Boundaries["packages"]): string[] {
  const unknown = [...found].filter((name) => listed[name] === undefined);
  const gone = Object.keys(listed).filter((name) => !found.has(name));
  return [
    ...unknown.map((name) => `${dataFile}: the ${kind} ${name} is not listed`),
    ...gone.map((name) => `${dataFile}: there is no ${kind} ${name} any more`),
  ];
}

function derivePlaces(paths: readonly string[]): { packages: Set<string>; features: Set<string> } {
  const packages = new Set(paths.map(sourceFolder).filter((name) => name !== undefined));
  const features = new Set(paths.map(featureOf).filter((name) => name !== undefined));
  return { packages, features };
}

function renderEdges(sources: PackageSources): Boundaries {
  const places = derivePlaces(sources.modules.map((module) => module.path));
  const edges = sources.modules.flatMap((module) =>
    module.imports.flatMap((found) => {
      const target = resolveImport(module.path, found, sources.folders);
      return target === undefined ? [] : deriveEdges(module.path, target.path, "");
    }),
  );
  const list = (names: ReadonlySet<string>, kind: Edge["kind"]): Record<string, string[]> =>
    Object.fromEntries(
      [...names].sort().map((name) => {
        const used = edges.filter((edge) => edge.kind === kind && edge.from === name).map((edge) => edge.to);
        return [name, [...new Set(used)].sort()];
      }),
    );
  return { packages: list(places.packages, "package"), features: list(places.features, "feature") };
}

/** The package a path under `packages/<folder>/src` belongs to. */
function sourceFolder(path: string): string | undefined {
  const [top, folder, src] = path.split("/");
  return top === "packages" && src === "src" ? folder : undefined;
}

/** The feature folder of a file of `core`; a file that lies in none is a feature of its own name, and so is reported. */
function featureOf(path: string): string | undefined {
  return path.startsWith("packages/core/src/") ? path.split("/")[3] : undefined;
}

function definesCommand(module: SourceModule): boolean {
  if (!module.path.startsWith("packages/commands/src/")) return false;
  let defines = false;
  walk(module.program, ({ node }) => {
    if (node.type === "CallExpression" && identifierName(node["callee"]) === "defineCommand") defines = true;
    return !defines;
  });
  return defines;
}
