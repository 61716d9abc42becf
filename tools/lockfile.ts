import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeProblems } from "./source/problems.ts";
import { readJson, readTree } from "./source/tree.ts";

export interface Manifest {
  readonly path: string;
  readonly name?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface Lockfile {
  readonly path: string;
  readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly link?: boolean }>>;
}

const reasonsFile = "docs/decisions/dependencies.md";

export function main(): number {
  return writeProblems(check(process.cwd()));
}

export function check(root: string): string[] {
  const tree = readTree(root, "");
  const named = (name: string): string[] => tree.filter((path) => path === name || path.endsWith(`/${name}`));
  const manifests = named("package.json").map((path) => ({ ...readJson<Manifest>(root, path), path }));
  const locks = named("package-lock.json").map((path) => ({ ...readJson<Lockfile>(root, path), path }));
  const reasons = existsSync(join(root, reasonsFile)) ? readFileSync(join(root, reasonsFile), "utf8") : "";
  return [...judgeLockfiles(locks), ...judgeManifests(manifests, reasons)];
}

/** A download address binds everybody to the registry of whoever wrote the file; the hashes alone say what to get. */
export function judgeLockfiles(locks: readonly Lockfile[]): string[] {
  return locks.flatMap((lock) =>
    Object.entries(lock.packages)
      .filter(([, entry]) => entry.resolved !== undefined && entry.link !== true)
      .map(([name]) => `${lock.path}: ${name} records a download address; set omit-lockfile-registry-resolved for npm`),
  );
}

/** Every version exact and given a reason in the document, and no reason for what is not there. */
export function judgeManifests(manifests: readonly Manifest[], document: string): string[] {
  const problems: string[] = [];
  const reasons = parseReasons(document);
  const own = new Set(manifests.map((manifest) => manifest.name));
  const used = new Set<string>();
  for (const manifest of manifests) {
    for (const [name, version] of listDependencies(manifest)) {
      if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
        problems.push(`${manifest.path}: ${name} ${version} is not one exact version`);
      }
      if (own.has(name)) continue;
      used.add(`${name} ${version}`);
      if (!reasons.has(`${name} ${version}`)) {
        problems.push(`${manifest.path}: ${name} ${version} has no line of reason in ${reasonsFile}`);
      }
    }
  }
  const gone = [...reasons].filter((line) => !used.has(line));
  return [...problems, ...gone.map((line) => `${reasonsFile}: ${line} is in no package.json any more`)];
}

/** The table rows `| \`name\` | version | reason |` whose reason is not empty, as "name version". */
function parseReasons(document: string): Set<string> {
  const rows = document.matchAll(/^\|\s*`([^`]+)`\s*\|\s*([^|\s]+)\s*\|\s*[^|\s][^|]*\|/gm);
  return new Set([...rows].map(([, name = "", version = ""]) => `${name} ${version}`));
}

function listDependencies(manifest: Manifest): [string, string][] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
  return [dependencies, devDependencies, optionalDependencies, peerDependencies].flatMap((one) =>
    Object.entries(one ?? {}),
  );
}
