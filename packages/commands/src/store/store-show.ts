import { ReeveError } from "@reeve/core/findings/errors.ts";
import { shellWord } from "@reeve/core/findings/quote.ts";
import { openLog, openStore } from "@reeve/store";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import { findTarget, keyFlag, type Target } from "./target.ts";

interface Shown {
  readonly lines: readonly string[];
}

export const storeShow: Command = defineCommand({
  name: "store show",
  summary: "print a store's entries, or the one of a key",
  about:
    "One entry a line, as JSON. Of a store, the entry each key has now; of a log, every entry. In a file the table does not declare the first member is taken for the key unless --key names another.",
  examples: [
    { command: "reeve store show .ai/local/state/ledger.jsonl", shows: "every line that is an entry" },
    { command: "reeve store show jobs.jsonl docs-index", shows: "the entry with that key" },
  ],
  args: {
    positionals: [
      { name: "path", summary: "a store or log", required: true },
      { name: "entry", summary: "the key of the one entry to show" },
    ],
    flags: keyFlag,
  },
  class: "read-only",
  needs: "any",
  surfaces: ["cli", "mcp", "http"],
  output: "lines",
  reads: [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
  writes: [],
  result: { lines: "entries as JSON" },
  run(args, context): Outcome<Shown> {
    const target = findTarget(context, args.path, args.key);
    if (args.entry !== undefined) return { result: { lines: [findEntry(target, args.entry)] } };
    return { result: { lines: [] }, stream: () => readEntries(target) };
  },
  text: ({ lines }: Shown) => lines.join("\n"),
});

function findEntry(target: Target, name: string): string {
  const key = target.key ?? firstMember(target);
  if (key === undefined) throw missing(target, name);
  const store = openStore({ path: target.path, key, readOnly: true });
  const entry = store.get(name);
  if (entry === undefined) throw missing(target, name);
  return JSON.stringify(entry);
}

/** The writer's form has the key first. */
function firstMember({ path }: Target): string | undefined {
  for (const { value } of openLog({ path }).read()) return Object.keys(value)[0];
  return undefined;
}

async function* readEntries({ path, key, edited }: Target): AsyncGenerator<string> {
  if (key === undefined) {
    for (const { text } of openLog({ path }).read()) yield text;
  } else {
    for (const [, entry] of openStore({ path, key, edited, readOnly: true }).entries()) yield JSON.stringify(entry);
  }
}

function missing({ shown, key }: Target, name: string): ReeveError {
  const member = key === undefined ? "" : ` whose "${key}" is`;
  return new ReeveError("NOT_FOUND", `${shown} has no entry${member} ${JSON.stringify(name)}`, {
    hint: `reeve store show ${shellWord(shown)}`,
  });
}
