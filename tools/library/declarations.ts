import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** How the types of a package are made of its sources. */
export interface DeclarationOptions {
  /** What the compiler is told. */
  readonly project: string;
  /** The modules others import, by their names without an ending. */
  readonly entries: readonly string[];
  /** Those of them that speak of Node's own types; others run where these are not installed. */
  readonly nodeEntries: readonly string[];
  readonly outdir: string;
}

const compiler = "node_modules/typescript/bin/tsc";

/** Writes the types that the entries lead to, and no others, as modules that name each other by the endings of JavaScript. */
export async function writeDeclarations(options: DeclarationOptions): Promise<void> {
  const { project, entries, nodeEntries, outdir } = options;
  await runCompiler(["-p", project, "--outDir", outdir]);
  const reached = new Set<string>();
  const next = entries.map((entry) => `${entry}.d.ts`);
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    const { text, imports } = rewriteDeclaration(readFileSync(join(outdir, name), "utf8"));
    next.push(...imports);
    const needsNode = nodeEntries.includes(name.slice(0, -".d.ts".length));
    writeFileSync(join(outdir, name), needsNode ? `/// <reference types="node" />\n${text}` : text);
  }
  for (const name of readdirSync(outdir, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".d.ts") && !reached.has(name)) rmSync(join(outdir, name));
  }
}

/** The compiler says what is wrong on standard output. */
function runCompiler(args: readonly string[]): Promise<void> {
  return new Promise((done, failed) => {
    execFile(process.execPath, [compiler, ...args], (error, stdout) => {
      if (error === null) done();
      else failed(new Error(stdout.trim() || error.message));
    });
  });
}

/**
 * A declaration with the endings of its relative imports changed, and the files of those imports. What the compiler writes
 * has one form, so that no parser is needed, which would take longer to load than the compiler takes.
 */
function rewriteDeclaration(text: string): { text: string; imports: string[] } {
  const imports = new Set<string>();
  const rewritten = text.replace(relativeImport, (_, before: string, stem: string) => {
    imports.add(`${stem}.d.ts`);
    return `${before}"./${stem}.js"`;
  });
  return { text: rewritten, imports: [...imports] };
}

const relativeImport = /(\bfrom |\bimport\(|\bimport )"\.\/([^"]+)\.ts"/g;
