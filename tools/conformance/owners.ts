import type { StateEntry } from "@reeve/store/table";
import type { SourceModule } from "../source/module.ts";
import { identifierName, lineAt, literalText, walk } from "../source/syntax.ts";

/** A call of `statePath` where it does not belong. */
export interface ForeignPath {
  /** The path asked for, or `?` where nobody can tell which one it is. */
  readonly symbol: string;
  readonly line: number;
  readonly says: string;
}

/**
 * Every call of `statePath` outside the folder of `core` that the entry names as its owner (state-table design): who does not
 * own a file asks its owner for it.
 */
export function judgeOwners({ path, text, program }: SourceModule, entries: readonly StateEntry[]): ForeignPath[] {
  const folder = /^packages\/core\/src\/([^/]+)\//.exec(path)?.[1];
  const found: ForeignPath[] = [];
  walk(program, ({ node }) => {
    if (node.type !== "CallExpression" || identifierName(node["callee"]) !== "statePath") return true;
    const symbol = literalText((node["arguments"] as readonly unknown[])[0]) ?? "?";
    const owner = entries.find((entry) => entry.path === symbol)?.owner;
    if (owner === undefined) {
      found.push({ symbol, line: lineAt(text, node.start), says: `statePath(${symbol}) names no entry as a literal` });
    } else if (owner !== folder) {
      const says = `statePath("${symbol}") is for its owner alone, packages/core/src/${owner}/`;
      found.push({ symbol, line: lineAt(text, node.start), says });
    }
    return true;
  });
  return found;
}
