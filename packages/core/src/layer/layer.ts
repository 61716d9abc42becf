import { join } from "node:path";
import { type Change, type PendingPlan, readLock, readPending, StoreError, type WriteChange } from "@reeve/store";
import { type DocumentReader, openDocumentReader } from "../documents/reader.ts";
import { ReeveError } from "../findings/errors.ts";
import type { Repository } from "../git/repository.ts";
import type { AbsPath } from "../system/paths.ts";
import type { FileKind, System } from "../system/port.ts";
import { type Home, readHome } from "./home.ts";

/**
 * The `.ai/` folder of a repository, opened for one command: each file is read once. Reads go through a plan a crash left
 * unfinished.
 */
export interface Layer {
  readonly system: System;
  readonly repository: Repository;
  readonly home: Home;
  readonly documents: DocumentReader;
  /** Paths of a plan nobody is at work on any more; the next writing command finishes it. */
  readonly pending: readonly string[];
  /** Reeve's own version. */
  readonly version: string;
  /** May caches be read, and may they be written? */
  readonly caches: boolean;
  readonly keeps: boolean;
  /** Where a path of the state table lies on this machine. */
  locate(statePath: string): AbsPath;
  read(statePath: string): string | undefined;
  readBytes(statePath: string): Uint8Array | undefined;
  /** Names in a folder of the layer, in code-unit order. */
  list(statePath: string): readonly string[];
}

export interface LayerOptions {
  readonly system: System;
  readonly repository: Repository;
  readonly version: string;
  readonly caches: boolean;
  /** No cache is written in a dry run. */
  readonly dry: boolean;
}

const localPrefix = ".ai/local/";

export function lockFile(home: Home): AbsPath {
  return join(home.path, "run", "layer.lock") as AbsPath;
}

export function journalFile(home: Home): AbsPath {
  return join(home.path, "run", "journal.json") as AbsPath;
}

export function hasLayer(system: System, repository: Repository): boolean {
  return system.info(join(repository.top, ".ai", "manifest.yaml") as AbsPath) !== undefined;
}

/** What to type when something else stands where the layer belongs. */
export const moveAside = "mv .ai .ai.aside";

export function describeSquatter(kind: FileKind): string {
  return `.ai is ${kind === "link" ? "a symbolic link" : kind === "file" ? "a file" : "no folder"}, not a folder`;
}

/** Throws `NO_LAYER` when there is none, naming what stands in its place. */
export function requireLayer(system: System, repository: Repository): void {
  if (hasLayer(system, repository)) return;
  const info = system.info(join(repository.top, ".ai") as AbsPath);
  if (info === undefined) {
    throw new ReeveError("NO_LAYER", `${repository.top} has no .ai/ layer`, { hint: "reeve init" });
  }
  if (
    info.kind === "directory" &&
    (system.list(join(repository.top, ".ai") as AbsPath) ?? []).every((entry) => entry.name === "local")
  ) {
    throw new ReeveError("NO_LAYER", "this branch has no .ai/ layer; the checkout's own records are kept", {
      hint: "switch to a branch that has one, or begin one here: reeve init",
    });
  }
  if (info.kind === "directory") {
    throw new ReeveError("NO_LAYER", ".ai/manifest.yaml is missing", {
      hint: "reeve init --extend adds what is missing",
    });
  }
  throw new ReeveError("NO_LAYER", describeSquatter(info.kind), { hint: moveAside });
}

/** A journal that does not parse stops writers; readers take the files as they are. */
function readPendingPlan(journal: AbsPath): PendingPlan | undefined {
  try {
    return readPending(journal);
  } catch (error) {
    if (error instanceof StoreError && (error.code === "DAMAGED" || error.code === "NEWER")) return undefined;
    throw error;
  }
}

export function openLayer(options: LayerOptions): Layer {
  const { system, repository, version } = options;
  const home = readHome(system, repository);
  const pending = home.exists ? readPendingPlan(journalFile(home)) : undefined;
  const cache = home.exists && options.caches ? (join(home.path, "cache", "parsed.json") as AbsPath) : undefined;
  const locate = (statePath: string): AbsPath =>
    join(
      statePath.startsWith(localPrefix) ? home.path : repository.top,
      statePath.startsWith(localPrefix) ? statePath.slice(localPrefix.length) : statePath,
    ) as AbsPath;
  const readAnew = (statePath: string): Uint8Array | undefined => {
    if (statePath.startsWith(localPrefix) && !home.exists) return undefined;
    const where = locate(statePath);
    const planned = pending?.read(where);
    return planned === "absent" ? undefined : (planned ?? system.readBytes(where));
  };
  const known = new Map<string, Uint8Array | undefined>();
  const readBytes = (statePath: string): Uint8Array | undefined => {
    if (!known.has(statePath)) known.set(statePath, readAnew(statePath));
    return known.get(statePath);
  };
  return {
    system,
    repository,
    home,
    version,
    caches: options.caches,
    keeps: options.caches && !options.dry,
    pending: pending === undefined || readLock(lockFile(home))?.state === "alive" ? [] : pending.paths,
    documents: openDocumentReader({ system, cache, keep: !options.dry, version }),
    locate,
    readBytes,
    read(statePath) {
      const bytes = readBytes(statePath);
      return bytes === undefined
        ? undefined
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    },
    list(statePath) {
      if (statePath.startsWith(localPrefix) && !home.exists) return [];
      const where = locate(statePath);
      const names = new Set((system.list(where) ?? []).map((entry) => entry.name));
      const planned = pending?.list(where);
      for (const name of planned?.removed ?? []) names.delete(name);
      for (const name of planned?.added ?? []) names.add(name);
      return [...names].sort();
    },
  };
}

function place(layer: Layer, statePath: string): { readonly root: string; readonly path: string } {
  return statePath.startsWith(localPrefix)
    ? { root: layer.home.path, path: statePath.slice(localPrefix.length) }
    : { root: layer.repository.top, path: statePath };
}

/** A change of a plan, named by its path in the layer. */
export function writeChange(layer: Layer, statePath: string, bytes: string | Uint8Array): WriteChange {
  const local = statePath.startsWith(localPrefix);
  return { kind: "write", ...place(layer, statePath), bytes, ...(local ? { mode: 0o600 } : {}) };
}

/** The same, refused when the file is no longer what the change was planned on. */
export function replaceChange(
  layer: Layer,
  statePath: string,
  texts: { readonly before: string | Uint8Array; readonly after: string | Uint8Array },
): Change {
  return { ...writeChange(layer, statePath, texts.after), expect: { bytes: texts.before } };
}

/** A new file; refused when something is there already. */
export function createChange(layer: Layer, statePath: string, bytes: string | Uint8Array): Change {
  return { ...writeChange(layer, statePath, bytes), expect: "absent" };
}

export function removeChange(layer: Layer, statePath: string): Change {
  return { kind: "remove", ...place(layer, statePath) };
}

export function appendChange(layer: Layer, statePath: string, text: string): Change {
  return { kind: "append", ...place(layer, statePath), bytes: text, mode: 0o600 };
}
