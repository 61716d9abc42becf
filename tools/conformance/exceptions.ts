import { join } from "node:path";
import { openLog, openStore, StoreError } from "@reeve/store";

/** One exception to the conventions. */
export interface Exception {
  /** `rule path symbol`. */
  readonly key: string;
  readonly because: string;
}

/** Exceptions by their key, with the line each stands on. */
export type Exceptions = ReadonlyMap<string, number>;

/**
 * Reads the exceptions, strictly: throws `DAMAGED`, naming `path:line`, at the first line with an unknown, missing or
 * repeated member, a wrong type, a bad value or a key that has been. An absent file has none.
 */
export function readExceptions(root: string, file: string, rules: ReadonlySet<string>): Exceptions {
  const path = join(root, file);
  const parse = (value: unknown): Exception => parseException(value, rules);
  // The store refuses what a person must not write; the log tells the lines.
  void openStore({ path, key: "key", edited: "hand", readOnly: true, parse }).close();
  return new Map([...openLog({ path, parse }).read()].map(({ line, value }) => [value.key, line]));
}

function parseException(value: unknown, rules: ReadonlySet<string>): Exception {
  const { key, because, ...others } = value as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw refused(`unknown member "${unknown}"; an exception has "key" and "because"`);
  if (typeof key !== "string" || typeof because !== "string") throw refused('"key" and "because" must both be texts');
  const parts = key.split(" ");
  if (parts.length !== 3 || parts.includes("")) throw refused('"key" must be "<rule> <path> <symbol>"');
  if (!rules.has(parts[0] ?? ""))
    throw refused(`there is no rule "${parts[0]}"; the rules are ${[...rules].join(", ")}`);
  if (because.trim() === "") throw refused('"because" must say why');
  return { key, because };
}

function refused(reason: string): StoreError {
  return new StoreError("BAD_VALUE", reason);
}
