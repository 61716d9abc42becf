import type { StateEntry } from "@reeve/store/table";
import type { SourceModule } from "../source/module.ts";
import { identifierName, lineAt, literalText, walk } from "../source/syntax.ts";

/** What a state file breaks, and why that is one. */
export interface TableBreak {
  readonly rule: TableRule;
  /** The entry's path. */
  readonly symbol: string;
  readonly says: string;
}

type TableRule =
  | "lines-name"
  | "blobs-folder"
  | "document-reason"
  | "document-form"
  | "file-per-entry"
  | "text-with-entries";

type Entry = Pick<StateEntry, "path" | "holds" | "because" | "writer" | "portability">;

/**
 * The conventions of state files (seed: everything is a file; the store design, "Store or document?"). A cache may have any
 * form, for deleting it changes nothing; what a person writes and git reviews is text of that person's.
 */
const rules: Readonly<Record<TableRule, { readonly breaks: (entry: Entry) => boolean; readonly says: string }>> = {
  "lines-name": {
    breaks: ({ path, holds }) => (holds === "store" || holds === "log") && !path.endsWith(".jsonl"),
    says: "a store or log is one file of JSON Lines and its name ends in .jsonl",
  },
  "blobs-folder": {
    breaks: ({ path, holds }) => holds === "blobs" && !path.endsWith("/"),
    says: "blobs lie in a folder, fanned out by their hash",
  },
  "document-reason": {
    breaks: ({ holds, because }) => holds === "document" && because.trim() === "",
    says: "a document says why it is not a store (`because`)",
  },
  "document-form": {
    breaks: ({ path, holds, writer }) =>
      holds === "document" && !path.endsWith(".json") && !(writer === person && path.endsWith(".yaml")),
    says: "a document that the tool writes is JSON; YAML is for what a person writes",
  },
  "file-per-entry": {
    breaks: ({ holds, portability }) => holds === "directory" && portability !== "derived",
    says: "entries are lines of a store or log, not a file each",
  },
  "text-with-entries": {
    breaks: ({ holds, writer }) => holds === "markdown" && writer !== person,
    says: "what the tool adds entries to is a store or a log, not a text",
  },
};

const person = "a person";

/** The rules' names. */
export const tableRules: readonly string[] = Object.keys(rules);

/** Every convention an entry breaks. */
export function judgeTable(entries: readonly Entry[]): TableBreak[] {
  return entries.flatMap((entry) =>
    (Object.keys(rules) as TableRule[])
      .filter((rule) => rules[rule].breaks(entry))
      .map((rule) => ({ rule, symbol: entry.path, says: rules[rule].says })),
  );
}

/** The line on which an entry's path is declared; 1 where it is not found. */
export function lineOfPath({ program, text }: SourceModule, path: string): number {
  let line = 1;
  walk(program, ({ node }) => {
    if (node.type === "Property" && identifierName(node["key"]) === "path" && literalText(node["value"]) === path) {
      line = lineAt(text, node.start);
    }
    return true;
  });
  return line;
}
