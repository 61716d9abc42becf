import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";

/** An entry of an archive, as hostile as one likes. */
export interface CraftedEntry {
  readonly name: string | Uint8Array;
  readonly text?: string | Uint8Array;
  /** The type flag of tar: "0" file, "1" hard link, "2" symbolic link, "3" device, "6" pipe. */
  readonly flag?: string;
  readonly link?: string;
}

export interface CraftedFile {
  readonly path: string;
  readonly text: string | Uint8Array;
  readonly group?: string;
  readonly sha256?: string;
}

/** A bundle's manifest for these files, with whatever is to be otherwise. */
export function manifestOf(files: readonly CraftedFile[], otherwise: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    format: 1,
    kind: "layer",
    origin: { repository: null, exported_at: "2030-01-01T00:00:00Z", reeve: "0.0.1" },
    includes: { prompts: false, secrets: false },
    classes: {},
    files: files.map(({ path, text, group = "records", sha256 }) => ({
      path,
      group,
      size: Buffer.byteLength(text),
      sha256: sha256 ?? createHash("sha256").update(text).digest("hex"),
      mode: 0o600,
    })),
    left_out: [],
    ...otherwise,
  });
}

/** A gzip tar of these entries, in the plain form of POSIX. */
export function packEntries(entries: readonly CraftedEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const text = Buffer.from(entry.text ?? "");
    return [headerOf(entry, text.length), text, Buffer.alloc((512 - (text.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

/** A bundle whose manifest names the files and whose entries are those, or others. */
export function packBundle(
  files: readonly CraftedFile[],
  options: { readonly otherwise?: Readonly<Record<string, unknown>>; readonly entries?: readonly CraftedEntry[] } = {},
): Buffer {
  const text = manifestOf(files, options.otherwise);
  const entries = options.entries ?? files.map(({ path, text: content }) => ({ name: path, text: content }));
  return packEntries([{ name: "reeve-bundle.json", text }, ...entries]);
}

/** The names in an archive, in order. */
export function namesIn(bundle: Uint8Array): readonly string[] {
  const bytes = gunzipSync(bundle);
  const names: string[] = [];
  for (let at = 0; at + 512 <= bytes.length; ) {
    const name = textAt(bytes, at, 100);
    if (name === "") break;
    names.push(name);
    at += 512 + 512 * Math.ceil(Number.parseInt(textAt(bytes, at + 124, 12), 8) / 512);
  }
  return names;
}

/** The manifest of an archive. */
export function manifestIn(bundle: Uint8Array): Readonly<Record<string, unknown>> {
  const bytes = gunzipSync(bundle);
  const size = Number.parseInt(textAt(bytes, 124, 12), 8);
  return JSON.parse(bytes.subarray(512, 512 + size).toString("utf8")) as Readonly<Record<string, unknown>>;
}

function headerOf({ name, flag = "0", link = "" }: CraftedEntry, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.set(Buffer.from(name).subarray(0, 100), 0);
  header.write("0000600\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(flag, 156);
  header.write(link, 157);
  header.write("ustar\0", 257);
  header.write("00", 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

function textAt(bytes: Buffer, at: number, length: number): string {
  return bytes
    .subarray(at, at + length)
    .toString("utf8")
    .replace(/[\0 ].*$/s, "");
}
