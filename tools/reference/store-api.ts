import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeErrorTable } from "@reeve/store";
import { writeDeclarations } from "../library/declarations.ts";
import { renderTable } from "./commands.ts";
import { type Declared, type DeclaredMember, readExports } from "./declared.ts";

/** What one entry point of the library exports. */
export interface EntryPoint {
  /** What an import names. */
  readonly name: string;
  readonly exports: readonly Declared[];
}

const entryPoints = { "@reeve/store": "index", "@reeve/store/table": "table", "@reeve/store/strict": "strict" };

/** What the library's declarations say, made from its sources as they are now. */
export async function readStoreApi(): Promise<EntryPoint[]> {
  const folder = mkdtempSync(join(tmpdir(), "reeve-docs-"));
  try {
    const entries = Object.values(entryPoints);
    const project = "packages/store/tsconfig.types.json";
    await writeDeclarations({ project, entries, nodeEntries: [], outdir: folder });
    return Object.entries(entryPoints).map(([name, module]) => ({ name, exports: readExports(folder, module) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The parts of the library in the order of the page, by the beginnings of their modules' names. */
const parts: readonly (readonly [title: string, modules: readonly string[]])[] = [
  ["Stores", ["store", "appender", "inspect"]],
  ["Logs and lines", ["log", "line", "lines"]],
  ["Documents", ["document"]],
  ["Contents by hash", ["blobs"]],
  ["Files", ["atomic", "temporaries"]],
  ["Plans", ["plan", "apply", "pending"]],
  ["Locks", ["lock", "holder"]],
  ["Strict JSON", ["strict"]],
  ["State table", ["table"]],
  ["Folders of a person", ["xdg"]],
  ["Errors", ["errors"]],
];

/** `docs/reference/store-api.md`. */
export function renderStoreApi(entries: readonly EntryPoint[]): string {
  const known = new Map(entries.flatMap(({ exports }) => exports.map((one) => [one.name, one] as const)));
  const names = new Set(known.keys());
  const sections = [...groupByPart([...known.values()])].map(([title, items]) =>
    [`## ${title}`, ...items.map((item) => renderDeclared(item, names))].join("\n\n"),
  );
  const intro = "Made by `npm run docs` from the doc comments of the sources. What is not here is not for others.";
  const imports = entries.map(({ name, exports }) => [`\`${name}\``, exports.map((one) => link(one.name)).join(", ")]);
  const errors = Object.entries(storeErrorTable).map(([code, says]) => [`\`${code}\``, says]);
  const parting = ["## Error codes", "The `code` of every `StoreError`.", renderTable(["code", "meaning"], errors)];
  const parts = ["# The API of @reeve/store", intro, renderTable(["import from", "exports"], imports)];
  return `${[...parts, ...sections, ...parting].join("\n\n")}\n`;
}

/** What others call before what they only name. */
function groupByPart(items: readonly Declared[]): Map<string, Declared[]> {
  const groups = new Map(parts.map(([title]) => [title, [] as Declared[]]));
  const isType = ({ kind }: Declared): boolean => kind === "interface" || kind === "type";
  for (const item of [...items.filter((one) => !isType(one)), ...items.filter(isType)]) {
    const stem = item.module.split("-")[0] ?? "";
    const title = parts.find(([, modules]) => modules.includes(stem))?.[0] ?? stem;
    groups.set(title, [...(groups.get(title) ?? []), item]);
  }
  return new Map([...groups].filter(([, found]) => found.length > 0));
}

function renderDeclared(item: Declared, names: ReadonlySet<string>): string {
  const members = item.members.map((member) => renderMember(member, names));
  const blocks = [
    `### ${item.name}`,
    ...(item.signature === `interface ${item.name}` ? [] : [`\`\`\`ts\n${shortenValue(item)}\n\`\`\``]),
    ...(item.doc === "" ? [] : [renderDoc(item.doc, names)]),
    ...(members.length === 0 ? [] : [members.join("\n")]),
  ];
  return blocks.join("\n\n");
}

/** A table that is written out in its type is one that has a table of its own on the page. */
function shortenValue({ signature, kind }: Declared): string {
  return kind === "value" && signature.length > 120
    ? `${signature.slice(0, signature.indexOf(":"))}: { … }`
    : signature;
}

function renderMember({ signature, doc }: DeclaredMember, names: ReadonlySet<string>): string {
  return doc === "" ? `- \`${signature}\`` : `- \`${signature}\`: ${renderDoc(doc, names).replaceAll("\n\n", " ")}`;
}

/** Paragraphs on one line each, and links to what is on the page. */
function renderDoc(doc: string, names: ReadonlySet<string>): string {
  const paragraphs = doc.split(/\n\s*\n/).map((paragraph) => paragraph.replace(/\n/g, " "));
  return paragraphs.join("\n\n").replace(/\{@link ([\w.]+)\}/g, (_, target: string) => {
    const [name = target] = target.split(".");
    return names.has(name) ? link(name, target) : `\`${target}\``;
  });
}

function link(name: string, text: string = name): string {
  return `[\`${text}\`](#${name.toLowerCase()})`;
}
