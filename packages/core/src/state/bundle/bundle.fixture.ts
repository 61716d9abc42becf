import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { applyPlan } from "@reeve/store";
import { defineStateTable, type StateTable } from "@reeve/store/table";
import { onTestFinished } from "vitest";
import { nodeSystem } from "../../system/node.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import { compareBundle } from "./compare.ts";
import { parseExchanged } from "./exchange.ts";
import { type ExportReport, type ExportRequest, exportBundle } from "./export.ts";
import { planImport } from "./import.ts";
import { type Bundle, openBundle } from "./open.ts";
import type { StateTree } from "./tree.ts";

const entryOf = (path: string, more: object): object => ({
  path,
  purpose: "For a test.",
  because: "A test needs it.",
  owner: "test",
  writer: "test",
  scope: "home",
  invalidates: [],
  why: "Nothing shows it.",
  holds: path.endsWith("/") ? "directory" : "document",
  ...more,
});

/** A table with an entry of every class, whose files lie in one folder. */
const table: StateTable = defineStateTable({
  roots: { config: ["c/"], records: ["r/"], local: ["l/"], identity: ["i/"], secrets: ["s/"] },
  entries: [
    entryOf("c/policy.yaml", { portability: "carry", versioned: true }),
    entryOf("c/notes/", { portability: "carry", versioned: true }),
    entryOf("r/log.jsonl", { portability: "carry", holds: "log" }),
    entryOf("r/jobs.jsonl", { portability: "carry", holds: "store", key: "id" }),
    entryOf("r/files/", { portability: "carry" }),
    entryOf("r/exchanged.json", { portability: "carry", travels: "never" }),
    entryOf("l/replaced/", { portability: "derived" }),
    entryOf("l/tmp/", { portability: "derived" }),
    entryOf("i/id.json", { portability: "identity" }),
    entryOf("s/token", { portability: "secret" }),
  ] as never,
});

/** One side: a folder with the files of the table. */
export interface Side {
  readonly root: AbsPath;
  readonly tree: StateTree;
  write(file: string, text: string | Uint8Array): void;
  read(file: string): string;
}

export function makeSide(): Side {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve-side-"))) as AbsPath;
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const at = (file: string): AbsPath => path.join(root, file) as AbsPath;
  return {
    root,
    tree: { table, locate: at, place: (file) => ({ root, path: file }) },
    read: (file) => fs.readFileSync(at(file), "utf8"),
    write(file, text) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), text);
    },
  };
}

/** A path for a bundle beside every side. */
export function bundlePath(): AbsPath {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve-bundle-")));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, "bundle.tgz") as AbsPath;
}

export function exportSide(side: Side, target: AbsPath, more: Partial<ExportRequest> = {}): Promise<ExportReport> {
  return exportBundle({
    system: nodeSystem(),
    tree: side.tree,
    closed: [side.root],
    target,
    passphrase: undefined,
    consents: { prompts: false, secrets: false },
    excluded: [],
    kind: "home",
    origin: { repository: null, exported_at: "2030-01-01T00:00:00Z", reeve: "0.0.1" },
    dry: false,
    ...more,
  });
}

export function openFor(side: Side, file: AbsPath, system: System = nodeSystem()): Promise<Bundle> {
  return openBundle({ system, path: file, shown: "the bundle", passphrase: undefined }, side.tree);
}

/** Imports as a command would; answers how each file stood. */
export async function importInto(
  side: Side,
  file: AbsPath,
  secrets = false,
): Promise<Readonly<Record<string, string>>> {
  const system = nodeSystem();
  const bundle = await openFor(side, file);
  const places = { exchanged: "r/exchanged.json", replaced: "l/replaced/", staging: "l/tmp/" };
  const exchanged = parseExchanged(system.readText(side.tree.locate(places.exchanged)), places.exchanged);
  const comparison = await compareBundle({
    system,
    tree: side.tree,
    bundle,
    shown: "the bundle",
    consents: { prompts: false, secrets },
    only: [],
    exchanged,
    shipped: () => undefined,
  });
  const request = { system, tree: side.tree, bundle, comparison, exchanged, places, stamp: system.randomHex(8) };
  const { plan, stage } = await planImport(request);
  await stage?.();
  await applyPlan(plan, { journal: path.join(side.root, "journal") });
  return Object.fromEntries(comparison.files.map(({ file: { path: name }, standing }) => [name, standing]));
}
