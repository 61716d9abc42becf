import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders that hold what others made (packages, builds, git itself), never this repository's own text. */
const foreignFolders: ReadonlySet<string> = new Set(["node_modules", "dist", ".git"]);

/** Every file under `folder` ("" for the whole tree) as a path from the root, in code-unit order. */
export function readTree(root: string, folder: string): string[] {
  const found: string[] = [];
  for (const entry of readEntries(join(root, folder))) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!foreignFolders.has(entry.name)) found.push(...readTree(root, path));
    } else {
      found.push(path);
    }
  }
  return found.sort();
}

/** `folder` and every folder in it, as paths from the root; none when it does not exist. */
export function readFolders(root: string, folder: string): string[] {
  const inside = readEntries(join(root, folder)).filter(
    (entry) => entry.isDirectory() && !foreignFolders.has(entry.name),
  );
  const here = existsSync(join(root, folder)) ? [folder] : [];
  return [...here, ...inside.flatMap((entry) => readFolders(root, `${folder}/${entry.name}`))];
}

/** The parsed content of a JSON file of the repository; `Shape` is the caller's word for what it holds. */
export function readJson<Shape>(root: string, path: string): Shape {
  return JSON.parse(readFileSync(join(root, path), "utf8")) as Shape;
}

/** Tests, and what only they stand on: a file called `fixture.ts` or `x.fixture.ts`, which no source may import. */
export function isTestFile(path: string): boolean {
  return /(\.test|[./]fixture)\.ts$/.test(path) || path.startsWith("tests/");
}

function readEntries(folder: string): { name: string; isDirectory(): boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
