import { closeSync } from "node:fs";
import { StoreError } from "./errors.ts";
import type { KeyBytes } from "./key-table.ts";
import { openLines } from "./line-reader.ts";
import { LineScanner } from "./line-scanner.ts";

/** A file of entries that a person edits. */
export interface HandEdited {
  readonly path: string;
  readonly key: string;
  readonly parse: ((value: unknown) => unknown) | undefined;
}

/**
 * Reads a file that a person edits, and stops at the first line that is not an entry or repeats a key: throws `DAMAGED`,
 * naming `path:line` (and the column where it is known).
 */
export function refuseHandEdited({ path, key, parse }: HandEdited): void {
  const file = openLines(path);
  if (file === undefined) return;
  const lines = new Map<string, number>();
  const decode = parse ?? ((value: unknown): unknown => value);
  try {
    new LineScanner({ path, key, decode }).scan(
      file,
      { from: 0, line: 1 },
      {
        entry: (line, name) => {
          const text = textOf(name);
          const first = lines.get(text);
          if (first !== undefined) {
            fail(path, line.number, `the key ${JSON.stringify(text)} stands on line ${first} already`);
          }
          lines.set(text, line.number);
        },
        removal: (line) =>
          fail(path, line.number, "a removal has no place in a file edited by hand: delete the entry's line"),
        damaged: (line, reason) => fail(path, line.number, reason),
      },
    );
  } finally {
    closeSync(file);
  }
}

function textOf({ bytes, from, to }: KeyBytes): string {
  return Buffer.from(bytes.subarray(from, to)).toString("utf8");
}

function fail(path: string, line: number, reason: string): never {
  const [, column, rest] = /^column (\d+): (.*)$/s.exec(reason) ?? [];
  const place = column === undefined ? `${path}:${line}` : `${path}:${line}:${column}`;
  throw new StoreError("DAMAGED", `${place}: ${rest ?? reason}`, {
    path,
    line,
    hint: "mend the line; nothing after it was read",
    details: { reason: rest ?? reason, ...(column === undefined ? {} : { column: Number(column) }) },
  });
}
