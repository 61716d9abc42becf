import { plural } from "@reeve/core/findings/plural.ts";
import { inspectLines } from "@reeve/store";
import { type Command, defineCommand } from "../command.ts";
import { listTargets } from "./target.ts";

/** A store or log of the table, as it lies on the disk. */
interface ListedStore {
  readonly path: string;
  readonly holds: "store" | "log";
  readonly exists: boolean;
  readonly bytes: number;
  readonly lines: number;
  readonly entries: number;
  readonly keys: number | null;
  readonly damaged: number;
}

export const storeList: Command = defineCommand({
  name: "store list",
  summary: "list the layer's stores and logs, and what is in them",
  examples: [{ command: "reeve store list", shows: "each file of lines: entries, size, damaged lines" }],
  args: {},
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [".ai/local/state/ledger.jsonl", ".ai/local/state/ledger.*"],
  writes: [],
  result: { stores: "path, holds, exists, bytes, lines, entries, keys (null in a log), damaged" },
  run(_args, context) {
    const stores = listTargets(context.layer).map(({ path, shown, holds, key }): ListedStore => {
      const { exists, bytes, lines, entries, keys, damaged } = inspectLines(path, { key });
      return { path: shown, holds, exists, bytes, lines, entries, keys: keys ?? null, damaged: damaged.length };
    });
    return { result: { stores } };
  },
  text({ stores }: { readonly stores: readonly ListedStore[] }) {
    const wide = Math.max(...stores.map(({ path }) => path.length));
    return stores.map((store) => `${store.path.padEnd(wide)}  ${store.holds.padEnd(5)}  ${describe(store)}`).join("\n");
  },
});

function describe({ exists, bytes, entries, keys, damaged }: ListedStore): string {
  if (!exists) return "not there yet";
  const parts = [
    ...(keys === null ? [] : [plural(keys, "key")]),
    plural(entries, "entry"),
    plural(bytes, "byte"),
    ...(damaged === 0 ? [] : [`${plural(damaged, "damaged line")}: reeve store verify`]),
  ];
  return parts.join(", ");
}
