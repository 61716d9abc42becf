import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { type Entry, registry } from "@reeve/commands/registry.ts";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { parse, stringify } from "yaml";
import { writeDeclarations } from "./library/declarations.ts";

const cli = "packages/cli";
const commandsFolder = path.resolve("packages/commands/src");
/** Modules that are slow to load and seldom needed: each a chunk of its own, loaded where it is imported. */
const lazyModules = [
  "packages/core/src/documents/decode.ts",
  "packages/core/src/state/contributed.ts",
  "packages/core/src/state/conversions/run.ts",
  "packages/commands/src/apply.ts",
  ...["archive.ts", "encryption.ts", "sweep.ts"].map((name) => `packages/core/src/state/bundle/${name}`),
].map((file) => path.resolve(file));
/** The group whose commands speak of all commands; their chunk also answers words that name none. */
const wholeGroup = "meta";

const common = {
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "cjs",
  minify: true,
  legalComments: "none",
  conditions: ["reeve-source"],
  supported: { "dynamic-import": false },
  logLevel: "warning",
  write: false,
} as const satisfies BuildOptions;

interface Chunk {
  readonly name: string;
  readonly bytes: Uint8Array;
}

function nameChunk(stem: string, bytes: Uint8Array): Chunk {
  // Chunks are read as Latin-1, which is quicker; esbuild escapes whatever lies beyond ASCII.
  if (bytes.some((byte) => byte > 127)) throw new Error(`${stem} is not ASCII`);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { name: `${stem}-${hash}.cjs`, bytes };
}

/** What only a command that opens a repository can need. */
const opening = [
  path.join(commandsFolder, "execute.ts"),
  ...["plan.ts", "prefetch.ts"].map((name) => path.resolve(cli, "src", name)),
];

const seen = Symbol("resolved by esbuild itself");

interface Split {
  /** The one command the chunk runs; `undefined` for the chunk that knows them all. */
  readonly command: string | undefined;
  /** Lazy modules, by file, and the chunk each became. */
  readonly lazy: ReadonlyMap<string, string>;
  /** The command opens no repository. */
  readonly alone: boolean;
}

/** A command's file: its group's folder, and its words joined by a dash. */
function fileOf(entry: Entry): string {
  const stem = entry.name === "" ? "overview" : entry.name.replace(" ", "-");
  return path.join(commandsFolder, entry.group, `${stem}.ts`);
}

/** Modules a chunk never asks for: other commands, the help, and what opens a repository where none is opened. */
function isOutside({ command, alone }: Split, importer: string, file: string): boolean {
  if (command === undefined) return false;
  if (file === path.join(commandsFolder, "help.ts")) return true;
  if (alone && opening.includes(file)) return true;
  return importer === path.join(commandsFolder, "registry.ts") && file !== command;
}

/** Lazy modules become chunks beside; what a chunk never asks for stays out of it. */
function splitting(split: Split): Plugin {
  return {
    name: "splitting",
    setup(bundler) {
      bundler.onResolve({ filter: /\.ts$/ }, async (args) => {
        if (args.kind !== "dynamic-import" || args.pluginData === seen) return null;
        const { resolveDir, importer, kind } = args;
        const { path: file } = await bundler.resolve(args.path, { resolveDir, importer, kind, pluginData: seen });
        const chunk = split.lazy.get(file);
        if (chunk !== undefined) return { path: `./${chunk}`, external: true };
        return isOutside(split, importer, file) ? { path: "./absent", external: true } : null;
      });
    },
  };
}

async function bundle(entry: string, options: BuildOptions): Promise<Uint8Array> {
  const result = await build({ ...common, ...options, write: false, entryPoints: [entry] });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error(`${entry} gave no output`);
  return file.contents;
}

/** A chunk is one function of what a CommonJS module gets: the loader compiles the file as it is. */
async function bundleChunk(entry: string, split: Split): Promise<Uint8Array> {
  const bytes = await bundle(entry, { plugins: [splitting(split)] });
  return Buffer.concat([Buffer.from("(function(exports,require,module){"), bytes, Buffer.from("\n})")]);
}

/** Each lazy module in turn, so that a later one finds an earlier one beside it. */
async function buildLazy(): Promise<ReadonlyMap<string, Chunk>> {
  const chunks = new Map<string, Chunk>();
  for (const file of lazyModules) {
    const lazy = new Map([...chunks].map(([known, chunk]) => [known, chunk.name]));
    const bytes = await bundleChunk(file, { command: undefined, lazy, alone: false });
    chunks.set(file, nameChunk(path.basename(file, ".ts"), bytes));
  }
  return chunks;
}

/** One chunk a command, by its name, and one under `?` that knows them all. */
async function buildCommands(built: ReadonlyMap<string, Chunk>): Promise<ReadonlyMap<string, Chunk>> {
  const lazy = new Map([...built].map(([file, chunk]) => [file, chunk.name]));
  const entry = `${cli}/src/chunk.ts`;
  const single = registry
    .filter((known) => known.group !== wholeGroup)
    .map(async (known) => {
      const alone = (await known.load()).needs === "nothing";
      const command = fileOf(known);
      const bytes = await bundleChunk(entry, { command, lazy, alone });
      return [known.name, nameChunk(path.basename(command, ".ts"), bytes)] as const;
    });
  const whole = nameChunk(wholeGroup, await bundleChunk(entry, { command: undefined, lazy, alone: false }));
  const ofGroup = registry.filter((known) => known.group === wholeGroup).map((known) => [known.name, whole] as const);
  return new Map([...(await Promise.all(single)), ...ofGroup, ["?", whole] as const]);
}

async function buildEntry(chunks: ReadonlyMap<string, Chunk>): Promise<Uint8Array> {
  const table = Object.fromEntries([...chunks].map(([name, chunk]) => [name, chunk.name]));
  const { version } = JSON.parse(fs.readFileSync(`${cli}/package.json`, "utf8")) as { version: string };
  const define = { REEVE_CHUNKS: JSON.stringify(table), REEVE_VERSION: JSON.stringify(version) };
  return bundle(`${cli}/src/main.ts`, { define });
}

interface RulesManifest {
  readonly rules: readonly { readonly file: string }[];
}

/** The shipped data, its rules manifest completed with the hashes of the files it names. */
function copyShare(target: string): void {
  fs.cpSync("share", target, { recursive: true, filter: (from) => !from.endsWith(".test.ts") });
  const file = path.join(target, "rules/manifest.yaml");
  const manifest = parse(fs.readFileSync(file, "utf8")) as RulesManifest;
  const { version } = JSON.parse(fs.readFileSync(`${cli}/package.json`, "utf8")) as { version: string };
  const hash = (name: string): string =>
    createHash("sha256")
      .update(fs.readFileSync(path.join(target, "rules", name)))
      .digest("hex");
  const rules = manifest.rules.map((rule) => ({ ...rule, sha256: hash(rule.file) }));
  fs.writeFileSync(file, stringify({ ...manifest, source_revision: version, rules }));
}

async function buildCli(): Promise<void> {
  const lazy = await buildLazy();
  const chunks = await buildCommands(lazy);
  const entry = await buildEntry(chunks);
  const fresh = freshOf(cli);
  fs.mkdirSync(`${fresh}/chunks`, { recursive: true });
  for (const chunk of [...lazy.values(), ...chunks.values()])
    fs.writeFileSync(`${fresh}/chunks/${chunk.name}`, chunk.bytes);
  fs.writeFileSync(`${fresh}/reeve.cjs`, entry);
  copyShare(`${fresh}/share`);
}

const store = "packages/store";
const storeEntries = ["index", "table", "strict"];

/** The library as modules with their types. */
async function buildStore(): Promise<void> {
  const fresh = freshOf(store);
  fs.mkdirSync(fresh);
  const types = writeDeclarations({
    project: `${store}/tsconfig.types.json`,
    entries: storeEntries,
    nodeEntries: ["index"],
    outdir: fresh,
  });
  const modules = build({
    ...common,
    format: "esm",
    splitting: true,
    write: true,
    outdir: fresh,
    entryPoints: storeEntries.map((name) => `${store}/src/${name}.ts`),
  });
  await settle([types, modules]);
}

/** Waits for all of it even when a part fails: nothing is written any more when what there is is cleared away. */
async function settle(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Where what is to be a package's `dist` is built. */
function freshOf(folder: string): string {
  return `${folder}/dist.${process.pid}`;
}

/** Two renames: whoever reads meanwhile finds the old one or the new one. */
function replaceDist(folder: string): void {
  const old = `${folder}/dist.${process.pid}.old`;
  if (fs.existsSync(`${folder}/dist`)) fs.renameSync(`${folder}/dist`, old);
  fs.renameSync(freshOf(folder), `${folder}/dist`);
  fs.rmSync(old, { recursive: true, force: true });
}

/** `npm run build`: an executable `bin` and the library. Nothing is replaced unless all of it could be built. */
export async function main(): Promise<number> {
  const folders = [store, cli];
  try {
    await settle([buildStore(), buildCli()]);
    for (const folder of folders) replaceDist(folder);
  } finally {
    for (const folder of folders) fs.rmSync(freshOf(folder), { recursive: true, force: true });
  }
  return 0;
}
