import { parseStrict } from "@reeve/store/strict";
import * as v from "valibot";
import { ReeveError } from "../../findings/errors.ts";

/** Path → SHA-256 of what a bundle last took along or brought: the common ancestor of here and there. */
export type Exchanged = Readonly<Record<string, string>>;

const schema = v.strictObject({ version: v.literal(1), exchanged: v.record(v.string(), v.string()) });

/** @throws ReeveError STATE_NEWER or RECORD_DAMAGED, naming the path */
export function parseExchanged(text: string | undefined, path: string): Exchanged {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = parseStrict(text, { path });
  } catch (error) {
    throw damaged(path, error instanceof Error ? error.message : String(error));
  }
  const version = typeof value === "object" && value !== null && "version" in value ? value.version : undefined;
  if (typeof version === "number" && version > 1) {
    throw new ReeveError("STATE_NEWER", `${path}: was written by a newer Reeve and is left untouched`, {
      hint: "install the newer Reeve: npm install --global reeve",
    });
  }
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output.exchanged;
  throw damaged(path, `${path}: ${v.getDotPath(parsed.issues[0]) ?? "its top"}: ${parsed.issues[0].message}`);
}

function damaged(path: string, message: string): ReeveError {
  return new ReeveError("RECORD_DAMAGED", message, {
    hint: `without it, files edited on both sides are taken for conflicts: mv ${path} ${path}.aside`,
  });
}

export function renderExchanged(before: Exchanged, now: Exchanged): string {
  const merged = Object.entries({ ...before, ...now }).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ version: 1, exchanged: Object.fromEntries(merged) }, null, 1)}\n`;
}

/** Lines are joined and need no ancestor. */
export function needsAncestor(holds: string): boolean {
  return holds !== "log";
}
