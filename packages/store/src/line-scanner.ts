import { isUtf8 } from "node:buffer";
import { type KeyBytes, keyBytes, type Place } from "./key-table.ts";
import { type ByteRange, type LineBlock, readBlocks } from "./line-blocks.ts";
import { LineShapes } from "./line-shapes.ts";
import { parseLine } from "./lines.ts";

/** A line as the scanner hands it on: its object is used again for the next one. */
export interface ScannedLine extends Place {
  /** From 1. */
  number: number;
  /** The file's last bytes, whose newline is missing. */
  isTail: boolean;
}

/** Who is told what a file holds, line by line. */
export interface LineVisitor {
  /** An entry, and its key in a store. The bytes are valid during the call only. */
  entry(line: Readonly<ScannedLine>, key: KeyBytes): void;
  /** A line that removes a key. */
  removal(line: Readonly<ScannedLine>, key: KeyBytes): void;
  /** A line that is no entry, and why. */
  damaged(line: Readonly<ScannedLine>, reason: string): void;
  /** A line of white space. */
  blank?(line: Readonly<ScannedLine>): void;
}

/** What is read, and as what. */
export interface ScanOptions {
  readonly path: string;
  /** The key member of a store's lines; left out for a log's. */
  readonly key?: string | undefined;
  /**
   * Asked to decode every entry; what it throws makes the line damaged. Left out, entries are proven to be strict JSON and
   * not parsed where their form allows it.
   */
  readonly decode?: ((value: unknown) => unknown) | undefined;
}

/** Where a scan begins and ends, and the number of its first line. */
export interface ScanRange extends ByteRange {
  readonly line: number;
}

/** Reads the lines of files of one kind; what it learns of their form in one scan serves the next. */
export class LineScanner {
  readonly #options: ScanOptions;
  readonly #shapes: LineShapes;
  readonly #line: ScannedLine = { number: 0, offset: 0, length: 0, isTail: false };
  readonly #key: KeyBytes = { bytes: new Uint8Array(0), from: 0, to: 0 };

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#shapes = new LineShapes(options.key);
  }

  /** Tells the visitor of every line in the range; answers how many there were. Throws when the file cannot be read. */
  scan(file: number, range: ScanRange, visitor: LineVisitor): number {
    const first = range.line;
    this.#line.number = first - 1;
    for (const block of readBlocks(file, this.#options.path, range)) this.#readBlock(block, visitor);
    return this.#line.number - first + 1;
  }

  #readBlock(block: LineBlock, visitor: LineVisitor): void {
    if (block.kind === "cut") {
      this.#beginLine(block.offset, block.skipped, false);
      visitor.damaged(this.#line, "line too long");
      return;
    }
    const { kind, bytes } = block;
    const isShort = kind === "lines" && bytes.length <= quickBytes;
    if (isShort && this.#options.decode === undefined && isUtf8(bytes)) this.#readQuickly(block, visitor);
    else this.#readStrictly(block, visitor);
  }

  #readQuickly({ bytes, offset }: LineBlock, visitor: LineVisitor): void {
    const text = bytes.toString("latin1");
    const { found } = this.#shapes;
    const key = this.#key;
    key.bytes = bytes;
    for (let at = 0; at < bytes.length; ) {
      if (this.#shapes.match(text, at)) {
        this.#beginLine(offset + at, found.end - at - 1, false);
        key.from = found.keyFrom;
        key.to = found.keyTo;
        if (found.isRemoval) visitor.removal(this.#line, key);
        else visitor.entry(this.#line, key);
        at = found.end;
      } else {
        const end = text.indexOf("\n", at);
        this.#beginLine(offset + at, end - at, false);
        this.#readLine(bytes.subarray(at, end), visitor);
        at = end + 1;
      }
    }
  }

  #readStrictly({ bytes, offset, kind }: LineBlock, visitor: LineVisitor): void {
    for (let at = 0; at < bytes.length; ) {
      const newline = kind === "tail" ? bytes.length : bytes.indexOf(0x0a, at);
      this.#beginLine(offset + at, newline - at, kind === "tail");
      this.#readLine(bytes.subarray(at, newline), visitor);
      at = newline + 1;
    }
  }

  #beginLine(offset: number, length: number, isTail: boolean): void {
    const line = this.#line;
    line.number += 1;
    line.offset = offset;
    line.length = length;
    line.isTail = isTail;
  }

  /** One line by the strict parser. */
  #readLine(bytes: Uint8Array, visitor: LineVisitor): void {
    const line = this.#line;
    const { path, key, decode } = this.#options;
    const parse = (value: unknown): Readonly<Record<string, unknown>> => this.#judge(value);
    const found = parseLine(bytes, { line: line.number, isTail: line.isTail }, { path, parse });
    if (found === undefined) {
      visitor.blank?.(line);
    } else if ("reason" in found) {
      visitor.damaged(line, found.reason);
    } else {
      const { value } = found;
      if (decode === undefined && !line.isTail && bytes.length <= quickBytes) this.#shapes.learn(value);
      const name = key === undefined ? noKey : keyBytes(String(value[key]));
      if (key !== undefined && isRemoval(value)) visitor.removal(line, name);
      else visitor.entry(line, name);
    }
  }

  /** Is it what a line of this file must be? Throws the reason otherwise. */
  #judge(value: unknown): Readonly<Record<string, unknown>> {
    const members = value as Readonly<Record<string, unknown>>;
    const { key, decode } = this.#options;
    if (key !== undefined) refuseMembers(members, key);
    if (decode !== undefined && !(key !== undefined && isRemoval(members))) decode(value);
    return members;
  }
}

/** Longer lines take the strict parser, with what shares a block with them. */
const quickBytes: number = 1024 * 1024;

const noKey: KeyBytes = { bytes: new Uint8Array(0), from: 0, to: 0 };

/** The member that marks a removal; only `true` does. */
export const deletedMember = "$deleted";

function isRemoval(members: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(members, deletedMember);
}

function refuseMembers(members: Readonly<Record<string, unknown>>, key: string): void {
  const name = Object.hasOwn(members, key) ? members[key] : undefined;
  if (name === undefined) throw new Error(`the key member ${JSON.stringify(key)} is missing`);
  if (typeof name !== "string") throw new Error(`the key member ${JSON.stringify(key)} is not a string`);
  if (name === "") throw new Error(`the key member ${JSON.stringify(key)} is empty`);
  const names = Object.keys(members);
  const reserved = names.find((member) => member.startsWith("$") && member !== deletedMember && member !== key);
  if (reserved !== undefined) throw new Error(`${JSON.stringify(reserved)} is reserved`);
  if (!Object.hasOwn(members, deletedMember)) return;
  if (members[deletedMember] !== true) throw new Error(`"${deletedMember}" is not true`);
  if (names.length !== 2) throw new Error("a removal has other members");
}
