/** A line found to be in the writer's own form. Positions count from the start of the text. */
export interface ShapeMatch {
  /** Where the key's text begins and ends, without its quotes; both 0 in lines without a key member. */
  keyFrom: number;
  keyTo: number;
  /** After the line's newline. */
  end: number;
  isRemoval: boolean;
}

/**
 * Recognises lines in the writer's own form without `JSON.parse`: one regular expression for each list of members met so
 * far, learnt from the first line that has it. A list is learnt only when its names are plain and strictly ascending after
 * the key member, so that no member can come twice; values are strings without escapes, plain numbers, words, and arrays
 * of those. The text must be valid UTF-8, read as Latin-1 so that positions are those of the bytes.
 */
export class LineShapes {
  readonly #key: string | undefined;
  readonly #shapes: RegExp[] = [];
  readonly #removal: RegExp | undefined;
  readonly #keyStart: number;
  /** Filled by {@link match}. */
  readonly found: ShapeMatch = { keyFrom: 0, keyTo: 0, end: 0, isRemoval: false };

  /** `key`: the key member, for a store's lines; `undefined` for a log's. */
  constructor(key: string | undefined) {
    this.#key = key !== undefined && isPlainName(key) ? key : undefined;
    this.#keyStart = this.#key === undefined ? 0 : this.#key.length + 5;
    if (this.#key !== undefined) {
      this.#removal = new RegExp(`\\{"${escaped(this.#key)}":${keyForm},"\\$deleted":true\\}\\n`, "y");
    }
    this.#teachable = key === undefined || this.#key !== undefined;
  }

  readonly #teachable: boolean;

  /** Is the line that begins at `at` in a known form? Then {@link found} says where its parts are. */
  match(text: string, at: number): boolean {
    for (let index = 0; index < this.#shapes.length; index += 1) {
      const shape = this.#shapes[index];
      if (shape === undefined || !this.#isMatch(shape, text, at)) continue;
      if (index > 0) this.#shapes.unshift(...this.#shapes.splice(index, 1));
      this.found.isRemoval = false;
      return true;
    }
    if (this.#removal === undefined || !this.#isMatch(this.#removal, text, at)) return false;
    this.found.isRemoval = true;
    return true;
  }

  /** Learns the form of an entry whose line was read by the strict parser, if it is one. */
  learn(value: Readonly<Record<string, unknown>>): void {
    if (!this.#teachable || this.#shapes.length >= mostShapes) return;
    const names = Object.keys(value);
    const rest = this.#key === undefined ? names : names.slice(1);
    if (this.#key !== undefined && (names[0] !== this.#key || rest.includes(this.#key))) return;
    const isOrdered = rest.every((name, index) => index === 0 || (rest[index - 1] ?? "") < name);
    if (names.length === 0 || names.length > mostMembers || !isOrdered || !rest.every(isPlainName)) return;
    if (!rest.every((name) => isFlat(value[name]))) return;
    const first = this.#key === undefined ? [] : [`"${escaped(this.#key)}":${keyForm}`];
    const members = [...first, ...rest.map((name) => `"${escaped(name)}":${valueForm}`)];
    this.#shapes.unshift(new RegExp(`\\{${members.join(",")}\\}\\n`, "y"));
  }

  #isMatch(shape: RegExp, text: string, at: number): boolean {
    shape.lastIndex = at;
    if (!shape.test(text)) return false;
    this.found.end = shape.lastIndex;
    if (this.#key === undefined) return true;
    this.found.keyFrom = at + this.#keyStart;
    this.found.keyTo = text.indexOf('"', this.found.keyFrom);
    return true;
  }
}

/** More lists of members than this are read by the strict parser, as are longer ones. */
const mostShapes = 12;
const mostMembers = 64;

const character = String.raw`[^"\\\x00-\x1f]`;
const keyForm = `"${character}+"`;
const number = String.raw`(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?`;
const scalarForm = `(?:"${character}*"|${number}|-${number}|true|false|null)`;
const valueForm = `(?:${scalarForm}|\\[(?:${scalarForm}(?:,${scalarForm})*)?\\])`;

/** A name that stands in a line as it is, and is not one of the store's own. */
function isPlainName(name: string): boolean {
  return /^[\x20-\x7e]+$/.test(name) && !/^\$|["\\]/.test(name);
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

function isFlat(value: unknown): boolean {
  return Array.isArray(value) ? value.every((item) => typeof item !== "object" || item === null) : isScalar(value);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== "object";
}
