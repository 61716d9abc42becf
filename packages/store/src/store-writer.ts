import { type Appender, type AppendGuest, type Durability, openAppender } from "./appender.ts";
import { messageOf, StoreError } from "./errors.ts";
import { keyBytes, type Place } from "./key-table.ts";
import { encodeLine } from "./line.ts";
import { deletedMember } from "./line-scanner.ts";
import { maxLineBytes } from "./lines.ts";
import type { LockOptions } from "./lock.ts";
import { compactView } from "./store-rewrite.ts";
import type { StoreView } from "./store-view.ts";

/** How a store writes. */
export interface StoreWriterOptions {
  readonly path: string;
  readonly key: string;
  readonly lockPath: string;
  readonly durability: Durability;
  readonly mode: number | undefined;
  readonly lock: LockOptions | undefined;
  readonly parse: ((value: unknown) => unknown) | undefined;
  /** Throws when the file may not be made, for another shape of it lies there. */
  readonly create: () => void;
}

/** What an entry must be. */
export type EntryForm = Pick<StoreWriterOptions, "path" | "key" | "parse">;

/** An entry, ready to be written. */
export interface EncodedEntry {
  readonly key: string;
  /** With its newline. */
  readonly line: string;
}

/** A store is rewritten when it has more lines than twice its keys and this many. */
const slackLines = 64;

/** Appends entries and removals to a store's file, keeps the view in step, and rewrites the file when it is due. */
export class StoreWriter {
  readonly #options: StoreWriterOptions;
  readonly #view: StoreView;
  readonly #appender: Appender;
  readonly #place: Place = { offset: 0, length: 0 };
  /** Lines composed for the batch at hand. */
  #composed = 0;
  /** How many lines there were when a compaction failed: the next try waits for twice as many. */
  #failedAt = 0;

  constructor(options: StoreWriterOptions, view: StoreView) {
    this.#options = options;
    this.#view = view;
    this.#appender = openAppender({ ...options, guest: this.#guest });
  }

  /** All of them with one write, or none. */
  put(entries: readonly EncodedEntry[]): Promise<void> {
    const length = entries.reduce((sum, { line }) => sum + line.length, 0);
    return this.#appender.append(length, (offset) => {
      let at = offset;
      let text = "";
      for (const { key, line } of entries) {
        const length = Buffer.byteLength(line);
        this.#note(key, at, length - 1);
        at += length;
        text += line;
      }
      return text;
    });
  }

  /** Answers whether the key was there. */
  async remove(key: string): Promise<boolean> {
    let wasThere = false;
    await this.#appender.append(key.length, () => {
      wasThere = this.#view.table.delete(keyBytes(key));
      if (!wasThere) return "";
      this.#composed += 1;
      const { key: member } = this.#options;
      return `${encodeLine({ [member]: key, [deletedMember]: true }, member)}\n`;
    });
    return wasThere;
  }

  close(): Promise<void> {
    return this.#appender.close();
  }

  #note(key: string, offset: number, length: number): void {
    this.#place.offset = offset;
    this.#place.length = length;
    this.#view.table.set(keyBytes(key), this.#place);
    this.#composed += 1;
  }

  #isDue(): boolean {
    if (!this.#view.isTrusted) return false;
    const { lines, table } = this.#view;
    return lines > 2 * table.size + slackLines && lines >= 2 * this.#failedAt;
  }

  #compact(): void {
    try {
      compactView(this.#view, this.#options.path);
      this.#failedAt = 0;
    } catch {
      // The entries are safe where they are; a caller who wants to know asks for a compaction.
      this.#failedAt = this.#view.lines;
      this.#view.refresh();
    }
  }

  readonly #guest: AppendGuest = {
    create: () => this.#options.create(),
    begin: () => {
      this.#view.refresh();
    },
    written: (end) => {
      this.#view.wrote(this.#composed, end);
      this.#composed = 0;
    },
    failed: () => {
      this.#composed = 0;
      this.#view.distrust();
    },
    rewrite: () => {
      if (!this.#isDue()) return false;
      this.#compact();
      return true;
    },
  };
}

/** An entry's line; throws `BAD_VALUE` for what cannot be written or would not be read back. */
export function encodeEntry(value: unknown, { path, key, parse }: EntryForm): EncodedEntry {
  const line = `${encodeMembers(value, path, key)}\n`;
  const members = value as Readonly<Record<string, unknown>>;
  const name = members[key];
  if (typeof name !== "string" || name === "") {
    throw refused(path, `the key member ${JSON.stringify(key)} must be a text that is not empty`);
  }
  const reserved = line.includes('"$') ? reservedIn(members) : undefined;
  if (reserved !== undefined)
    throw refused(path, `members that begin with $ are reserved, as ${JSON.stringify(reserved)} is`);
  if (line.length > maxLineBytes / 4 && Buffer.byteLength(line) > maxLineBytes)
    throw refused(path, "the entry is too long");
  try {
    parse?.(value);
  } catch (error) {
    throw refused(path, `the entry would not be read back: ${messageOf(error)}`);
  }
  return { key: name, line };
}

function encodeMembers(value: unknown, path: string, key: string): string {
  try {
    return encodeLine(value, key);
  } catch (error) {
    throw refused(path, messageOf(error));
  }
}

function reservedIn(members: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(members).find((member) => member.startsWith("$"));
}

function refused(path: string, reason: string): StoreError {
  return new StoreError("BAD_VALUE", `${path}: ${reason}`, { path, details: { reason } });
}
