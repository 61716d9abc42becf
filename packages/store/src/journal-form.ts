import { isUtf8 } from "node:buffer";
import { isAbsolute } from "node:path";
import { StoreError } from "./errors.ts";
import { encodeLine } from "./line.ts";
import type { Place } from "./rooted.ts";
import type { Before, Step } from "./steps.ts";
import { parseStrict } from "./strict.ts";

/** The version of the journal's form that is written, and the newest that is read. */
const journalVersion = 1;

/** Where a step's content lies beside the journal. */
export interface Staged {
  /** The file's name in the staging folder. */
  readonly name: string;
  readonly checksum: string;
}

/** A step as the journal holds it: one whose content is staged has no bytes yet. */
export interface JournalledStep {
  readonly step: Step;
  readonly staged?: Staged;
}

/** The journal's text: one line of JSON. */
export function renderJournal(steps: readonly JournalledStep[]): string {
  const entries = steps.map(({ step, staged }) => stepForm(step, staged));
  return `${encodeLine({ version: journalVersion, steps: entries }, "version")}\n`;
}

/** Reads a journal's bytes; throws `DAMAGED` or `NEWER`, naming it. */
export function parseJournal(bytes: Uint8Array, path: string): JournalledStep[] {
  if (!isUtf8(bytes)) throw new StoreError("DAMAGED", `${path}: is not UTF-8`, { path });
  const fields = new Fields(parseStrict(Buffer.from(bytes).toString("utf8"), { path }), path);
  const version = fields.count("version");
  if (version > journalVersion) {
    const message = `${path}: a pending plan was written by a newer version (form ${version}, this one reads ${journalVersion})`;
    throw new StoreError("NEWER", message, { path, details: { version, known: journalVersion } });
  }
  if (version < 1) throw fields.damaged("version");
  return fields.list("steps").map((entry) => stepOf(new Fields(entry, path)));
}

type Form = Record<string, unknown>;

function stepForm(step: Step, staged: Staged | undefined): Form {
  const { place, before } = step;
  const form: Form = { kind: step.kind, root: place.realRoot, path: place.real, shown: place.shown };
  if (before !== undefined) form["before"] = before;
  if ("mode" in step && step.mode !== undefined) form["mode"] = step.mode;
  if ("dirMode" in step && step.dirMode !== undefined) form["dirMode"] = step.dirMode;
  if ("bytes" in step) Object.assign(form, staged === undefined ? contentForm(step.bytes) : { staged });
  if (step.kind === "write" && step.grows === true) form["grows"] = true;
  if (step.kind === "append") Object.assign(form, { offset: step.offset, anchor: step.anchor });
  if (step.kind === "rename") form["from"] = { path: step.from.real, shown: step.from.shown };
  if (step.kind === "symlink") form["target"] = step.target;
  return form;
}

function contentForm(bytes: Uint8Array): Form {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(bytes) ? { text: buffer.toString("utf8") } : { base64: buffer.toString("base64") };
}

function stepOf(fields: Fields): JournalledStep {
  const place: Place = { realRoot: fields.path("root"), real: fields.path("path"), shown: fields.text("shown") };
  const before = beforeOf(fields.inner("before"));
  const modes = { ...fields.optionalCount("mode"), ...fields.optionalCount("dirMode") };
  const kind = fields.text("kind");
  switch (kind) {
    case "write":
      return withContent(fields, (bytes) => ({ kind, place, before, bytes, grows: fields.flag("grows"), ...modes }));
    case "append": {
      const growth = { offset: fields.count("offset"), anchor: fields.text("anchor") };
      return withContent(fields, (bytes) => ({ kind, place, before, bytes, ...growth }));
    }
    case "rename": {
      const inner = fields.inner("from");
      const from: Place = { realRoot: place.realRoot, real: inner.path("path"), shown: inner.text("shown") };
      return { step: { kind, place, before, from, ...modes } };
    }
    case "symlink":
      return { step: { kind, place, before, target: fields.text("target"), ...modes } };
    case "mkdir":
      return { step: { kind, place, before, ...modes } };
    case "chmod":
      return { step: { kind, place, before, mode: fields.count("mode") } };
    case "remove":
      return { step: { kind, place, before } };
    default:
      throw fields.damaged("kind");
  }
}

function withContent(fields: Fields, make: (bytes: Uint8Array) => Step): JournalledStep {
  if (fields.has("text")) return { step: make(Buffer.from(fields.text("text"), "utf8")) };
  if (fields.has("base64")) return { step: make(Buffer.from(fields.text("base64"), "base64")) };
  const inner = fields.inner("staged");
  const name = inner.text("name");
  if (!/^\d+$/.test(name)) throw inner.damaged("name");
  return { step: make(new Uint8Array()), staged: { name, checksum: inner.text("checksum") } };
}

function beforeOf(fields: Fields): Before {
  const kind = fields.text("kind");
  switch (kind) {
    case "absent":
      return { kind };
    case "file":
      return { kind, checksum: fields.text("checksum") };
    case "directory":
      return { kind, inode: fields.count("inode") };
    case "link":
      return { kind, target: fields.text("target") };
    case "mode":
      return { kind, mode: fields.count("mode") };
    default:
      throw fields.damaged("kind");
  }
}

/** The members of an object in the journal, each read as what it must be. */
class Fields {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #journal: string;

  constructor(value: unknown, journal: string) {
    this.#journal = journal;
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw this.damaged("object");
    this.#members = value as Readonly<Record<string, unknown>>;
  }

  damaged(member: string): StoreError {
    const path = this.#journal;
    return new StoreError("DAMAGED", `${path}: a pending plan does not read (${member})`, {
      path,
      details: { member },
    });
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  text(name: string): string {
    const value = this.#members[name];
    if (typeof value !== "string") throw this.damaged(name);
    return value;
  }

  path(name: string): string {
    const value = this.text(name);
    if (!isAbsolute(value) || value.includes("\0")) throw this.damaged(name);
    return value;
  }

  count(name: string): number {
    const value = this.#members[name];
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw this.damaged(name);
    return value;
  }

  optionalCount<Name extends string>(name: Name): { [member in Name]?: number } {
    return this.has(name) ? ({ [name]: this.count(name) } as { [member in Name]?: number }) : {};
  }

  flag(name: string): boolean {
    return this.has(name) && this.#members[name] === true;
  }

  list(name: string): readonly unknown[] {
    const value = this.#members[name];
    if (!Array.isArray(value)) throw this.damaged(name);
    return value;
  }

  inner(name: string): Fields {
    return new Fields(this.#members[name], this.#journal);
  }
}
