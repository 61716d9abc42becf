import type { Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";

/**
 * Hooks whose canary answered, each with everything the answer depended on. A cache: it is asked only where git's
 * configuration cannot have moved the hooks folder, and deleting it makes git answer again.
 */
export interface CanaryMemory {
  has(hook: string, proof: readonly string[]): boolean;
  add(hook: string, proof: readonly string[]): void;
  keep(): void;
}

const file = statePath(".ai/local/cache/canary.json");

function parse(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function openCanaryMemory(layer: Layer): CanaryMemory {
  const on = layer.home.exists && layer.caches;
  const known = new Map(Object.entries(on ? parse(layer.read(file)) : {}));
  let changed = false;
  return {
    has(hook, proof) {
      const kept = known.get(hook);
      return Array.isArray(kept) && kept.length === proof.length && proof.every((part, index) => kept[index] === part);
    },
    add(hook, proof) {
      known.set(hook, proof);
      changed = true;
    },
    keep() {
      if (on && changed && layer.keeps)
        layer.system.writeCache(layer.locate(file), JSON.stringify(Object.fromEntries(known)));
    },
  };
}
