import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import type { Decoded, DocumentKinds } from "./kinds.ts";

interface Kept {
  readonly kind: string;
  readonly text: string;
  readonly value: unknown;
}

interface CacheFile {
  readonly reeve: string;
  readonly documents: Readonly<Record<string, Kept>>;
}

export interface ReaderOptions {
  readonly system: System;
  /** The cache's file; `undefined` runs without one. */
  readonly cache: AbsPath | undefined;
  /** May a changed cache be written back? Never in a dry run. */
  readonly keep: boolean;
  /** Reeve's version: a cache of another one is not read. */
  readonly version: string;
}

/**
 * Decodes the YAML documents of a layer. A document is parsed only when its text is not the one the parsed form was kept
 * for; the comparison is of the text itself, so deleting the cache changes time and never an answer.
 */
export interface DocumentReader {
  decode<K extends keyof DocumentKinds>(kind: K, name: string, text: string): Promise<Decoded<DocumentKinds[K]>>;
  /** Writes what was parsed anew, once, at the end of a command. */
  keep(): void;
}

function readCache(options: ReaderOptions): Map<string, Kept> {
  if (options.cache === undefined) return new Map();
  try {
    const file = JSON.parse(options.system.readText(options.cache) ?? "null") as CacheFile | null;
    return file !== null && file.reeve === options.version ? new Map(Object.entries(file.documents)) : new Map();
  } catch {
    return new Map();
  }
}

export function openDocumentReader(options: ReaderOptions): DocumentReader {
  const known = readCache(options);
  const used = new Map<string, Kept>();
  let changed = false;
  return {
    async decode<K extends keyof DocumentKinds>(kind: K, name: string, text: string) {
      const kept = used.get(name) ?? known.get(name);
      if (kept?.kind === kind && kept.text === text) {
        used.set(name, kept);
        return { ok: true, value: kept.value as DocumentKinds[K] };
      }
      const { decodeDocument } = await import("./decode.ts");
      const decoded = decodeDocument(kind, text);
      if (decoded.ok) {
        used.set(name, { kind, text, value: decoded.value });
        changed = true;
      }
      return decoded;
    },
    keep() {
      if (!changed || !options.keep || options.cache === undefined) return;
      const documents = Object.fromEntries(new Map([...known, ...used]));
      options.system.writeCache(options.cache, JSON.stringify({ reeve: options.version, documents }));
    },
  };
}
