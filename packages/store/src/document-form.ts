import { isUtf8 } from "node:buffer";
import { messageOf, StoreError } from "./errors.ts";
import { parseStrict, type Source } from "./strict.ts";

/** The members of a document, without `version` and `writtenBy`, which belong to the engine. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * One step of a document's ladder: turns the members of one version into those of the next. Named for what it changes;
 * pure; idempotent.
 */
export type DocumentStep = (members: Members) => Members;

/** How a document's text is read and written. */
export interface DocumentCodec {
  /** Throws when the text is none of its kind. */
  parse(text: string, source: Source): unknown;
  /** Renders the members; `previous` is the text they replace, for what a person has put in it. */
  render(members: Members, previous: string | undefined): string;
}

/** What a document is. */
export interface DocumentForm<T> {
  readonly path: string;
  /** The ladder. The current version is one more than it has steps. */
  readonly steps: readonly DocumentStep[];
  /** Turns current members into the value; throws when they are none. */
  readonly parse: (members: Members) => T;
  readonly codec: DocumentCodec;
}

/** What was found when a document was read. */
export type DocumentState<T> =
  | { readonly kind: "absent" }
  | {
      readonly kind: "loaded";
      readonly value: T;
      /** The version that is written in the file; an older one was migrated in memory. */
      readonly version: number;
      /** Who wrote it, where it says so. */
      readonly writtenBy: string | undefined;
    }
  | {
      readonly kind: "newer";
      readonly path: string;
      readonly version: number;
      /** The newest version that is understood here. */
      readonly known: number;
      /** Who wrote it, where it says so. */
      readonly writtenBy: string | undefined;
    }
  | { readonly kind: "damaged"; readonly path: string; readonly reason: string; readonly line: number | undefined };

/** JSON with two spaces, members in the order they are given. */
export const jsonCodec: DocumentCodec = {
  parse: parseStrict,
  render: (members) => `${JSON.stringify(members, null, 2)}\n`,
};

/** The current version of a document with this ladder. */
function currentVersion(steps: readonly DocumentStep[]): number {
  return 1 + steps.length;
}

/** Reads a document's bytes: the version first, then the ladder from there, then the shape. */
export function parseDocument<T>(bytes: Uint8Array, form: DocumentForm<T>): DocumentState<T> {
  const { path, steps } = form;
  try {
    if (!isUtf8(bytes)) throw new StoreError("DAMAGED", `${path}: is not UTF-8`, { path });
    const { version, writtenBy, members } = readHead(
      form.codec.parse(Buffer.from(bytes).toString("utf8"), { path }),
      path,
    );
    const known = currentVersion(steps);
    if (version > known) return { kind: "newer", path, version, known, writtenBy };
    const current = steps.slice(version - 1).reduce<Members>((climbed, step) => step(climbed), members);
    return { kind: "loaded", value: form.parse(current), version, writtenBy };
  } catch (error) {
    const line = error instanceof StoreError ? error.line : undefined;
    return { kind: "damaged", path, reason: messageOf(error), line };
  }
}

/** The text of a document of the current version. */
export function renderDocument<T>(
  members: Members,
  form: DocumentForm<T>,
  extras: { readonly writtenBy: string | undefined; readonly previous: string | undefined },
): string {
  const { writtenBy, previous } = extras;
  for (const name of reserved) {
    if (Object.hasOwn(members, name)) {
      throw new StoreError("BAD_VALUE", `${form.path}: the member "${name}" is the engine's own`, { path: form.path });
    }
  }
  const version = currentVersion(form.steps);
  return form.codec.render({ version, ...(writtenBy === undefined ? {} : { writtenBy }), ...members }, previous);
}

const reserved = ["version", "writtenBy"] as const;

function readHead(value: unknown, path: string): { version: number; writtenBy: string | undefined; members: Members } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new StoreError("DAMAGED", `${path}: is not an object`, { path });
  }
  const { version, writtenBy, ...members } = value as Record<string, unknown>;
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) {
    throw new StoreError("DAMAGED", `${path}: has no version`, { path });
  }
  return { version, writtenBy: typeof writtenBy === "string" ? writtenBy : undefined, members };
}
