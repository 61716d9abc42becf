import * as v from "valibot";
import type { Node } from "yaml";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { manifestSchema } from "../layer/manifest-schema.ts";
import { policySchema, profileSchema } from "../policy/schema.ts";
import { ruleSchema, vendorManifestSchema } from "../rules/schema.ts";
import type { Decoded, DocumentKinds, Problem } from "./kinds.ts";
import { nearest } from "./nearest.ts";

const schemas: { readonly [K in keyof DocumentKinds]: v.GenericSchema<unknown, DocumentKinds[K]> } = {
  manifest: manifestSchema,
  policy: policySchema,
  profile: profileSchema,
  rule: ruleSchema,
  "vendor-manifest": vendorManifestSchema,
  plain: v.custom<Readonly<Record<string, unknown>>>((value) => typeof value === "object" && value !== null),
};

type Path = readonly (string | number)[];

function lineOf(root: Node | null, path: Path, lines: LineCounter): number | undefined {
  let node: unknown = root;
  let offset: number | undefined;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === step);
      if (pair === undefined) break;
      offset = isScalar(pair.key) ? pair.key.range?.[0] : offset;
      node = pair.value;
    } else if (typeof node === "object" && node !== null && "items" in node && Array.isArray(node.items)) {
      node = node.items[Number(step)];
      const range = typeof node === "object" && node !== null && "range" in node ? node.range : undefined;
      offset = Array.isArray(range) ? Number(range[0]) : offset;
    } else break;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

function unwrap(schema: unknown): object {
  let at = schema;
  while (typeof at === "object" && at !== null && "wrapped" in at) at = at.wrapped;
  return typeof at === "object" && at !== null ? at : {};
}

function entriesOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  const at = unwrap(schema);
  return "entries" in at ? (at.entries as Readonly<Record<string, unknown>>) : undefined;
}

function entriesAt(schema: unknown, path: Path): readonly string[] {
  let at: unknown = schema;
  for (const step of path) {
    const entries = entriesOf(at);
    const list = unwrap(at);
    at = entries === undefined ? ("item" in list ? list.item : undefined) : entries[String(step)];
  }
  return Object.keys(entriesOf(at) ?? {});
}

/** Places where a list stands and a map belongs, which the schemas would take for a map without keys. */
function findLists(schema: unknown, value: unknown, path: Path): readonly Path[] {
  const entries = entriesOf(schema);
  const list = unwrap(schema);
  if (entries !== undefined) {
    if (Array.isArray(value)) return [path];
    const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
    return members.flatMap(([key, member]) => findLists(entries[key], member, [...path, key]));
  }
  if (!("item" in list) || !Array.isArray(value)) return [];
  return value.flatMap((item, index) => findLists(list.item, item, [...path, index]));
}

/** YAML's own words where they speak of the parser and not of the document. */
const plainWords: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "holds more than one document; keep the first",
};

function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "a map" : JSON.stringify(value);
}

function problemOf(issue: v.BaseIssue<unknown>, schema: unknown): Omit<Problem, "line"> & { readonly path: Path } {
  const path = (issue.path ?? []).map((item) => item.key as string | number);
  const key = path.join(".");
  const last = String(path.at(-1) ?? "");
  if (issue.type === "strict_object" && issue.expected === "never") {
    const guess = nearest(last, entriesAt(schema, path.slice(0, -1)));
    return {
      path,
      key,
      message: `unknown key '${key}'`,
      ...(guess === undefined ? {} : { hint: `did you mean '${guess}'?` }),
    };
  }
  if (issue.received === "undefined") return { path: path.slice(0, -1), key, message: `'${key}' is missing` };
  if (key === "version" && typeof issue.input === "number" && issue.input > 1) {
    const message = `is of version ${issue.input}; this Reeve knows version 1`;
    return { path, key, message, hint: "a newer Reeve wrote it: npm install --global reeve" };
  }
  const wanted = issue.type === "regex" || issue.expected === null ? issue.message : issue.expected;
  return { path, key, message: `'${key}' is ${describe(issue.input)}; expected ${wanted.replaceAll('"', "")}` };
}

/** Parses and validates one YAML document of a known kind. Loaded only when the bytes changed since the last time. */
export function decodeDocument<K extends keyof DocumentKinds>(kind: K, text: string): Decoded<DocumentKinds[K]> {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
    version: "1.2",
    logLevel: "error",
    stringKeys: true,
  });
  // What comes after the first error of syntax only follows from it.
  const [broken] = [...document.errors, ...document.warnings];
  if (broken !== undefined) {
    const message = plainWords[broken.code] ?? broken.message.split("\n")[0]?.trim() ?? "does not parse";
    return { ok: false, problems: [{ line: lines.linePos(broken.pos[0]).line, key: "", message }] };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return {
      ok: false,
      problems: [{ line: 1, key: "", message: error instanceof Error ? error.message : "too deep" }],
    };
  }
  if (value === null || value === undefined)
    return { ok: false, problems: [{ line: 1, key: "", message: "is empty" }] };
  if (!isMap(document.contents)) {
    return { ok: false, problems: [{ line: 1, key: "", message: `is ${describe(value)}; expected a map of keys` }] };
  }
  const schema: v.GenericSchema<unknown, DocumentKinds[K]> = schemas[kind];
  const at = (path: Path): number => lineOf(document.contents, path, lines) ?? 1;
  const misplaced = findLists(schema, value, []).map((path) => {
    const key = path.join(".");
    return { line: at(path), key, message: `'${key}' is a list; expected a map of keys` };
  });
  if (misplaced.length > 0) return { ok: false, problems: misplaced };
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return { ok: true, value: parsed.output };
  return {
    ok: false,
    problems: parsed.issues.map((issue) => {
      const { path, ...problem } = problemOf(issue, schema);
      return { ...problem, line: at(path) };
    }),
  };
}
