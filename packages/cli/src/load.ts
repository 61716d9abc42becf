import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { codeCacheFolder, readCodeCache, writeCodeCache } from "./code-cache.ts";

interface Loaded {
  readonly script: Script;
  readonly name: string;
  readonly cached: boolean;
}

/** The chunks of an installation, each loaded at most once. */
export interface Chunks {
  load(name: string): Record<string, unknown>;
  /** Keeps the compiled code of what was loaded, for the next start. */
  keep(): void;
}

export function openChunks(folder: string, env: NodeJS.ProcessEnv): Chunks {
  const cache = codeCacheFolder(env);
  const modules = new Map<string, Record<string, unknown>>();
  const loaded: Loaded[] = [];
  const load = (name: string): Record<string, unknown> => {
    const known = modules.get(name);
    if (known !== undefined) return known;
    const filename = join(folder, name);
    const source = readFileSync(filename, "latin1");
    const cachedData = cache === undefined ? undefined : readCodeCache(cache, name);
    const script = new Script(source, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    loaded.push({ script, name, cached: cachedData !== undefined && script.cachedDataRejected === false });
    const module = { exports: {} as Record<string, unknown> };
    modules.set(name, module.exports);
    const near = (id: string): unknown => (id.startsWith("./") ? load(id.slice(2)) : require(id));
    script.runInThisContext()(module.exports, near, module);
    modules.set(name, module.exports);
    return module.exports;
  };
  return {
    load,
    keep() {
      if (cache === undefined) return;
      for (const { script, name, cached } of loaded) {
        if (!cached) writeCodeCache(cache, name, script.createCachedData());
      }
    },
  };
}
