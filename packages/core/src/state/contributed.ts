import { openLog, openStore, StoreError } from "@reeve/store";
import type { StateEntry, StateTable } from "@reeve/store/table";
import * as v from "valibot";
import { ReeveError } from "../findings/errors.ts";
import type { Layer } from "../layer/layer.ts";
import { table } from "./table.ts";

/** Where a repository declares other tools' files: one entry a line, edited by hand. */
const contributedPath = ".ai/repo/state.jsonl";

const text = v.pipe(
  v.string(),
  v.check((value) => value.trim() !== "", "must not be empty"),
);

const entrySchema = v.strictObject({
  path: text,
  purpose: text,
  because: text,
  owner: text,
  writer: text,
  holds: v.picklist(["store", "log", "document", "markdown", "blobs", "directory", "link"]),
  key: v.exactOptional(text),
  portability: v.picklist(["carry", "derived", "identity", "secret"]),
  scope: v.picklist(["repository", "checkout", "home"]),
  invalidates: v.array(text),
  why: v.exactOptional(text),
  versioned: v.exactOptional(v.literal(true)),
  authored: v.exactOptional(v.literal(true)),
  search: v.exactOptional(text),
  travels: v.exactOptional(v.picklist(["with-prompts", "never"])),
  backup: v.exactOptional(v.literal(false)),
  locked: v.exactOptional(v.literal(true)),
  bulk: v.exactOptional(v.literal(true)),
  retention: v.exactOptional(v.strictObject({ days: v.exactOptional(v.number()), keep: v.exactOptional(v.number()) })),
  note: v.exactOptional(text),
});

/**
 * The layer's table with what the repository contributes to it. Throws a store's `DAMAGED`, naming `path:line`, for a line that
 * is no entry, and `LAYER_INVALID`, naming it too, for entries that may not join the table.
 */
export function readTable(layer: Layer): StateTable {
  const contributed = readContributed(layer);
  if (contributed.length === 0) return table;
  try {
    return table.extended(contributed);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "BAD_VALUE") throw error;
    throw refused(layer, error);
  }
}

/** The table's complaints, each with the line of the entry it is about. */
function refused(layer: Layer, error: StoreError): ReeveError {
  const lines = new Map(
    Array.from(
      openLog<{ readonly path?: unknown }>({ path: layer.locate(contributedPath) }).read(),
      ({ value, line }) => [value.path, line],
    ),
  );
  const problems = error.details["problems"];
  const said = (Array.isArray(problems) ? problems.map(String) : [error.message]).map((problem) => {
    const [path] = [...lines.keys()].filter((known) => typeof known === "string" && problem.startsWith(`${known} `));
    return `${contributedPath}:${lines.get(path) ?? 1}: ${problem}`;
  });
  return new ReeveError("LAYER_INVALID", said.join("; "), { hint: `mend ${contributedPath} by hand` });
}

/** The entries alone, in the order of the file. */
function readContributed(layer: Layer): readonly StateEntry[] {
  const path = layer.locate(contributedPath);
  if (layer.system.info(path) === undefined) return [];
  const store = openStore<StateEntry>({ path, key: "path", edited: "hand", parse: parseEntry });
  return Array.from(store.entries(), ([, entry]) => entry);
}

function parseEntry(value: unknown): StateEntry {
  const result = v.safeParse(entrySchema, value);
  if (result.success) return result.output as StateEntry;
  const [issue] = result.issues;
  const member = v.getDotPath(issue);
  throw new Error(`${member === null ? "" : `${JSON.stringify(member)}: `}${issue.message}`);
}
