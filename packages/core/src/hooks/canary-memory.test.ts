import { describe, expect, test } from "vitest";
import type { Layer } from "../layer/layer.ts";
import { openCanaryMemory } from "./canary-memory.ts";

const proof = ["/repo/.git/hooks/pre-commit", "493", "text"];

interface Switches {
  readonly caches?: boolean;
  readonly keeps?: boolean;
  readonly exists?: boolean;
}

function layerOf(kept: string | undefined, more: Switches = {}): { readonly layer: Layer; readonly written: string[] } {
  const written: string[] = [];
  const { caches = true, keeps = true, exists = true } = more;
  const system = { writeCache: (_where: string, text: string) => void written.push(text) };
  const layer = { home: { exists }, caches, keeps, system, read: () => kept, locate: (path: string) => path };
  return { layer: layer as unknown as Layer, written };
}

function fill(): string {
  const { layer, written } = layerOf(undefined);
  const memory = openCanaryMemory(layer);
  memory.add("pre-commit", proof);
  memory.keep();
  return written[0] ?? "";
}

describe("openCanaryMemory", () => {
  test("openCanaryMemory knows a hook again by everything its answer rested on", () => {
    const memory = openCanaryMemory(layerOf(fill()).layer);
    expect(memory.has("pre-commit", proof)).toBe(true);
    expect(memory.has("pre-push", proof)).toBe(false);
    proof.forEach((_part, index) => {
      const other = proof.map((part, at) => (at === index ? `${part}x` : part));
      expect(memory.has("pre-commit", other)).toBe(false);
    });
    expect(memory.has("pre-commit", proof.slice(0, -1))).toBe(false);
    expect(memory.has("pre-commit", [...proof, ""])).toBe(false);
  });

  test.each([
    "",
    "null",
    "[]",
    "5",
    "{",
    '{"pre-commit":null}',
    '{"pre-commit":"text"}',
    '{"pre-commit":{"length":3}}',
    undefined,
  ])("openCanaryMemory knows nothing from %j", (kept) => {
    expect(openCanaryMemory(layerOf(kept).layer).has("pre-commit", proof)).toBe(false);
  });

  test("openCanaryMemory neither takes nor keeps anything where caches are off, or there is no home", () => {
    for (const more of [{ caches: false, keeps: false }, { exists: false }]) {
      const { layer, written } = layerOf(fill(), more);
      const memory = openCanaryMemory(layer);
      expect(memory.has("pre-commit", proof)).toBe(false);
      memory.add("pre-push", proof);
      memory.keep();
      expect(written).toEqual([]);
    }
  });

  test("openCanaryMemory keeps nothing in a dry run, and nothing when nothing is new", () => {
    const dry = layerOf(fill(), { keeps: false });
    const memory = openCanaryMemory(dry.layer);
    expect(memory.has("pre-commit", proof)).toBe(true);
    memory.add("pre-push", proof);
    memory.keep();
    const idle = layerOf(fill());
    openCanaryMemory(idle.layer).keep();
    expect([dry.written, idle.written]).toEqual([[], []]);
  });
});
