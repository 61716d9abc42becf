import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { installPackage, npm, packageFolder, readManifest, runIn } from "./testing/package.ts";

const root = join(packageFolder, "../..");
const manifest = readManifest(packageFolder);

function packedFiles(): string[] {
  const [packed] = JSON.parse(npm(packageFolder, ["pack", "--dry-run", "--json"])) as { files: { path: string }[] }[];
  return (packed?.files ?? []).map(({ path }) => path).sort();
}

/** What the packed entries lead to. A declaration names another by the name of the module it describes. */
function reachable(entries: readonly string[]): string[] {
  const reached = new Set<string>();
  const next = [...entries];
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const text = readFileSync(join(packageFolder, path), "utf8");
    for (const [, specifier = ""] of text.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*"(\.[^"]+)"/g)) {
      const target = posix.join(posix.dirname(path), specifier);
      next.push(path.endsWith(".d.ts") ? target.replace(/\.js$/, ".d.ts") : target);
    }
  }
  return [...reached].sort();
}

const consumer = `
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Blobs, openBlobs, openLog, openStore, type Store, StoreError, storeErrorTable } from "@reeve/store";
import { parseStrict } from "@reeve/store/strict";
import { isDerivedSpelling } from "@reeve/store/table";

interface Job {
  readonly id: string;
  readonly state: "open" | "done";
}
const folder = mkdtempSync(join(tmpdir(), "consumer-"));
const jobs: Store<Job> = openStore<Job>({ path: join(folder, "jobs.jsonl"), key: "id", parse: (value) => value as Job });
await jobs.put({ id: "a", state: "open" });
await jobs.put({ id: "a", state: "done" });
const state: "open" | "done" | undefined = jobs.get("a")?.state;
await jobs.close();
const log = openLog<Job>({ path: join(folder, "log.jsonl") });
await log.append({ id: "b", state: "open" });
await log.close();
const lines: number[] = Array.from(log.read(), ({ line }) => line);
const blobs: Blobs = openBlobs({ path: join(folder, "blobs") });
const { hash } = await blobs.put("x");
const content: string | undefined = blobs.get(hash)?.toString("utf8");
let code: keyof typeof storeErrorTable | undefined;
try {
  parseStrict('{"a":1,"a":2}', { path: "x" });
} catch (error) {
  if (error instanceof StoreError) code = error.code;
}
// @ts-expect-error: an entry of another form
export const wrong = (): unknown => jobs.put({ id: "a", state: "lost" });
// @ts-expect-error: no such code
export const none: typeof code = "NOPE";
console.log(JSON.stringify({ state, lines, content, code, derived: isDerivedSpelling("a.lock") }));
`;

const browser = `
import { parseStrict } from "@reeve/store/strict";
import { defineStateTable, type StateTable } from "@reeve/store/table";
export const value: unknown = parseStrict("1", { path: "x" });
export const declare: (options: Parameters<typeof defineStateTable>[0]) => StateTable = defineStateTable;
`;

function compile(project: string, options: readonly string[]): string {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const common = ["--ignoreConfig", "--strict", "--target", "es2022", "--skipLibCheck", "false"];
  return runIn(project, process.execPath, [tsc, ...common, ...options]);
}

describe("the package", () => {
  test("holds its modules, their types, its license and its page, and nothing else", () => {
    const entries = Object.values(manifest.exports).flatMap(({ types, default: module }) => [
      types ?? "",
      module ?? "",
    ]);
    const files = reachable(entries.map((path) => posix.normalize(path)));
    expect(files.filter((path) => !/^dist\/[\w-]+\.(?:d\.ts|js)$/.test(path))).toEqual([]);
    expect(packedFiles()).toEqual([...files, "LICENSE", "README.md", "package.json"].sort());
    expect(readFileSync(join(packageFolder, "LICENSE"), "utf8")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
  });

  test("says what a registry needs to know", () => {
    const whole = readManifest(root);
    expect(manifest).toMatchObject({
      name: "@reeve/store",
      license: whole["license"],
      engines: whole["engines"],
      type: "module",
      sideEffects: false,
      publishConfig: { access: "public", provenance: true },
    });
    expect(manifest["keywords"]).toEqual(expect.arrayContaining(["jsonl", "store"]));
    for (const member of ["private", "dependencies", "peerDependencies", "optionalDependencies"]) {
      expect(manifest).not.toHaveProperty(member);
    }
  });

  test("leads everybody to what is packed: only this repository asks for its sources", () => {
    const packed = new Set(packedFiles().map((path) => `./${path}`));
    expect(Object.keys(manifest.exports)).toEqual([".", "./table", "./strict"]);
    for (const [name, conditions] of Object.entries(manifest.exports)) {
      expect(Object.keys(conditions), name).toEqual(["reeve-source", "types", "default"]);
      const missing = Object.entries(conditions).filter(([, target]) => !packed.has(target));
      expect(
        missing.map(([condition]) => condition),
        name,
      ).toEqual(["reeve-source"]);
    }
  });
});

describe("the package, installed from its tarball", () => {
  test("is type-checked under both ways to resolve modules, and runs on plain Node", () => {
    const project = installPackage();
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["@reeve"]);
    mkdirSync(join(project, "node_modules/@types"));
    symlinkSync(join(root, "node_modules/@types/node"), join(project, "node_modules/@types/node"));
    writeFileSync(join(project, "consumer.ts"), consumer);
    for (const resolution of [
      ["--module", "nodenext", "--moduleResolution", "nodenext"],
      ["--module", "esnext", "--moduleResolution", "bundler"],
    ]) {
      compile(project, [...resolution, "--noEmit", "consumer.ts"]);
      compile(project, [...resolution, "--noEmit", "--exactOptionalPropertyTypes", "--lib", "es2022", "consumer.ts"]);
    }
    compile(project, ["--module", "nodenext", "--outDir", ".", "consumer.ts"]);
    expect(runIn(project, process.execPath, ["consumer.js"])).toBe(
      '{"state":"done","lines":[1],"content":"x","code":"DAMAGED","derived":true}\n',
    );
  }, 120_000);

  test("needs no types of Node where a browser's code imports it", () => {
    const project = installPackage();
    writeFileSync(join(project, "browser.ts"), browser);
    compile(project, [
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
      "--noEmit",
      "--lib",
      "es2022",
      "browser.ts",
    ]);
  });
});
