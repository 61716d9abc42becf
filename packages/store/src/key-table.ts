/** A key's UTF-8 bytes, inside a larger buffer. */
export interface KeyBytes {
  bytes: Uint8Array;
  from: number;
  to: number;
}

/** Where a line lies in its file: its first byte, and how many bytes it has without its newline. */
export interface Place {
  offset: number;
  length: number;
}

/** What a table without removed keys is made of, as it goes into an index file. */
export interface KeyColumns {
  /** A power of two of them, half of them empty at least: 1 more than the row of the key that hashes there, or later. */
  readonly slots: Int32Array;
  readonly hashes: Int32Array;
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  readonly keyOffsets: Uint32Array;
  readonly keyLengths: Uint32Array;
  readonly keys: Uint8Array;
}

/**
 * Which line holds which key: about 28 bytes a key and the key's own, outside the garbage collector's heap. Rows are in
 * order of first appearance; a removed key that comes again gets a new row.
 */
export class KeyTable {
  #slots: Int32Array = new Int32Array(64);
  #hashes: Int32Array = new Int32Array(32);
  #offsets: Float64Array = new Float64Array(32);
  #lengths: Uint32Array = new Uint32Array(32);
  #keyOffsets: Uint32Array = new Uint32Array(32);
  #keyLengths: Uint32Array = new Uint32Array(32);
  #keys: Uint8Array = new Uint8Array(1024);
  #keysUsed = 0;
  #rows = 0;
  #live = 0;

  /** How many keys there are. */
  get size(): number {
    return this.#live;
  }

  /** The row of a key; -1 when there is none. */
  find(key: KeyBytes): number {
    const row = (this.#slots[this.#slotOf(key, hashOf(key))] ?? 0) - 1;
    return row >= 0 && this.#isLive(row) ? row : -1;
  }

  /** The line that holds the key from now on. */
  set(key: KeyBytes, place: Readonly<Place>): void {
    const hash = hashOf(key);
    const slot = this.#slotOf(key, hash);
    const row = (this.#slots[slot] ?? 0) - 1;
    if (row >= 0 && this.#isLive(row)) {
      this.#offsets[row] = place.offset;
      this.#lengths[row] = place.length;
      return;
    }
    if (this.#rows === this.#hashes.length || this.#rows * 2 >= this.#slots.length) {
      this.#makeRoom();
      this.set(key, place);
      return;
    }
    this.#slots[slot] = this.#rows + 1;
    this.#append(key, hash, place);
  }

  /** Answers whether the key was there. */
  delete(key: KeyBytes): boolean {
    const row = this.find(key);
    if (row < 0) return false;
    this.#lengths[row] = 0;
    this.#live -= 1;
    return true;
  }

  /** Where a row's line lies; written into `place`. */
  readPlace(row: number, place: Place): void {
    place.offset = this.#offsets[row] ?? 0;
    place.length = this.#lengths[row] ?? 0;
  }

  /** A row's key. */
  keyOf(row: number): string {
    const from = this.#keyOffsets[row] ?? 0;
    return textOf(this.#keys, from, from + (this.#keyLengths[row] ?? 0));
  }

  /** The rows of the keys that are there, in order of first appearance. */
  *rows(): Generator<number> {
    for (let row = 0; row < this.#rows; row += 1) if (this.#isLive(row)) yield row;
  }

  /** The same keys with other places: the rows' lines, one after the other from the file's start. This table is not used on. */
  packed(): KeyTable {
    const columns = this.columns();
    const offsets = new Float64Array(columns.lengths.length);
    let offset = 0;
    for (let row = 0; row < offsets.length; row += 1) {
      offsets[row] = offset;
      offset += (columns.lengths[row] ?? 0) + 1;
    }
    return KeyTable.from({ ...columns, offsets });
  }

  /** The columns, for an index file. */
  columns(): KeyColumns {
    if (this.#live < this.#rows) this.#dropDead();
    const rows = this.#rows;
    this.#fillSlots(rows);
    return {
      slots: this.#slots,
      hashes: this.#hashes.subarray(0, rows),
      offsets: this.#offsets.subarray(0, rows),
      lengths: this.#lengths.subarray(0, rows),
      keyOffsets: this.#keyOffsets.subarray(0, rows),
      keyLengths: this.#keyLengths.subarray(0, rows),
      keys: this.#keys.subarray(0, this.#keysUsed),
    };
  }

  /** A table of columns that {@link columns} gave. It keeps them; they are copied when the table grows. */
  static from(columns: KeyColumns): KeyTable {
    const table = new KeyTable();
    table.#slots = columns.slots;
    table.#hashes = columns.hashes;
    table.#offsets = columns.offsets;
    table.#lengths = columns.lengths;
    table.#keyOffsets = columns.keyOffsets;
    table.#keyLengths = columns.keyLengths;
    table.#keys = columns.keys;
    table.#keysUsed = columns.keys.length;
    table.#rows = columns.hashes.length;
    table.#live = table.#rows;
    return table;
  }

  #isLive(row: number): boolean {
    return this.#lengths[row] !== 0;
  }

  /** The slot where the key is, or where it goes. */
  #slotOf(key: KeyBytes, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const row = (this.#slots[slot] ?? 0) - 1;
      if (row < 0 || (this.#hashes[row] === hash && this.#isKey(row, key))) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isKey(row: number, key: KeyBytes): boolean {
    const { bytes, from, to } = key;
    if (this.#keyLengths[row] !== to - from) return false;
    const keys = this.#keys;
    for (let at = from, own = this.#keyOffsets[row] ?? 0; at < to; at += 1, own += 1) {
      if (keys[own] !== bytes[at]) return false;
    }
    return true;
  }

  #append(key: KeyBytes, hash: number, place: Readonly<Place>): void {
    const row = this.#rows;
    const length = key.to - key.from;
    if (this.#keysUsed + length > this.#keys.length) {
      this.#keys = grown(this.#keys, new Uint8Array(Math.max(this.#keys.length * 2, this.#keysUsed + length)));
    }
    const { bytes, from, to } = key;
    const keys = this.#keys;
    for (let at = from, own = this.#keysUsed; at < to; at += 1, own += 1) keys[own] = bytes[at] ?? 0;
    this.#hashes[row] = hash;
    this.#offsets[row] = place.offset;
    this.#lengths[row] = place.length;
    this.#keyOffsets[row] = this.#keysUsed;
    this.#keyLengths[row] = length;
    this.#keysUsed += length;
    this.#rows += 1;
    this.#live += 1;
  }

  /** Several times the rows, or as many where half of them are of removed keys. */
  #makeRoom(): void {
    if (this.#live * 2 < this.#rows) {
      this.#dropDead();
    } else if (this.#rows === this.#hashes.length) {
      const rows = Math.max(32, this.#rows * (this.#rows < 65_536 ? 4 : 2));
      this.#hashes = grown(this.#hashes, new Int32Array(rows));
      this.#offsets = grown(this.#offsets, new Float64Array(rows));
      this.#lengths = grown(this.#lengths, new Uint32Array(rows));
      this.#keyOffsets = grown(this.#keyOffsets, new Uint32Array(rows));
      this.#keyLengths = grown(this.#keyLengths, new Uint32Array(rows));
    }
    this.#fillSlots(this.#hashes.length);
  }

  #dropDead(): void {
    let to = 0;
    this.#keysUsed = 0;
    for (let row = 0; row < this.#rows; row += 1) {
      if (!this.#isLive(row)) continue;
      const from = this.#keyOffsets[row] ?? 0;
      this.#keys.copyWithin(this.#keysUsed, from, from + (this.#keyLengths[row] ?? 0));
      this.#hashes[to] = this.#hashes[row] ?? 0;
      this.#offsets[to] = this.#offsets[row] ?? 0;
      this.#lengths[to] = this.#lengths[row] ?? 0;
      this.#keyOffsets[to] = this.#keysUsed;
      this.#keyLengths[to] = this.#keyLengths[row] ?? 0;
      this.#keysUsed += this.#keyLengths[row] ?? 0;
      to += 1;
    }
    this.#rows = to;
  }

  #fillSlots(rows: number): void {
    let slots = 64;
    while (slots < rows * 2) slots *= 2;
    this.#slots = new Int32Array(slots);
    const mask = slots - 1;
    for (let row = 0; row < this.#rows; row += 1) {
      if (!this.#isLive(row)) continue;
      let slot = (this.#hashes[row] ?? 0) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = row + 1;
    }
  }
}

/** FNV-1a, folded so that its low bits say as much as its high ones. */
function hashOf({ bytes, from, to }: KeyBytes): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");
}

function grown<Column extends Int32Array | Float64Array | Uint32Array | Uint8Array>(
  old: Column,
  larger: Column,
): Column {
  larger.set(old);
  return larger;
}

const scratch: KeyBytes = { bytes: Buffer.alloc(256), from: 0, to: 0 };

/** A key's bytes, in a buffer that the next call uses again. */
export function keyBytes(key: string): KeyBytes {
  const { length } = key;
  if (length > scratch.bytes.length) return encoded(key);
  for (let at = 0; at < length; at += 1) {
    const code = key.charCodeAt(at);
    if (code > 127) return encoded(key);
    scratch.bytes[at] = code;
  }
  scratch.to = length;
  return scratch;
}

/** A text with a lone surrogate has no UTF-8, and is nobody's key: a byte that is in no key stands for it. */
function encoded(key: string): KeyBytes {
  const bytes = /\p{Cs}/u.test(key) ? Buffer.of(0xff) : Buffer.from(key, "utf8");
  return { bytes, from: 0, to: bytes.length };
}
