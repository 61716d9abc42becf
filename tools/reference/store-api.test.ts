import { describe, expect, test } from "vitest";
import type { Declared } from "./declared.ts";
import { renderStoreApi } from "./store-api.ts";

function declared(more: Partial<Declared> & { readonly name: string }): Declared {
  return { module: "store", kind: "interface", signature: `interface ${more.name}`, doc: "", members: [], ...more };
}

function sectionOf(page: string, heading: string): string {
  const start = page.indexOf(`\n### ${heading}\n`);
  expect(start, heading).toBeGreaterThan(-1);
  return page.slice(start).split(/\n(?=##)/)[1] ?? "";
}

describe("renderStoreApi", () => {
  const open = declared({
    name: "openStore",
    kind: "function",
    signature: "function openStore(options: StoreOptions): Store",
    doc: "Opens a\nstore as {@link Store} says,\nnot {@link Hidden}.\n\nThrows.",
  });
  const store = declared({
    name: "Store",
    doc: "An open one.",
    members: [
      { signature: "get(key: string): string | undefined", doc: "By its key, see\n{@link Store.get}." },
      { signature: "readonly size: number", doc: "" },
    ],
  });
  const lock = declared({
    name: "withLock",
    module: "lock-file",
    kind: "function",
    signature: "function withLock(): void",
  });
  const page = renderStoreApi([
    { name: "@reeve/store", exports: [lock, store, open] },
    {
      name: "@reeve/store/strict",
      exports: [declared({ name: "odd", module: "odd", kind: "value", signature: "const odd: 1" })],
    },
  ]);

  test("lists what each entry point exports, and describes each once, what is called before its types", () => {
    expect(page).toContain(
      "| `@reeve/store` | [`withLock`](#withlock), [`Store`](#store), [`openStore`](#openstore) |",
    );
    expect(page.match(/^##+ .*$/gm)).toEqual([
      "## Stores",
      "### openStore",
      "### Store",
      "## Locks",
      "### withLock",
      "## odd",
      "### odd",
      "## Error codes",
    ]);
  });

  test("gives the signature, paragraphs on a line each, and links to what is on the page", () => {
    expect(sectionOf(page, "openStore")).toBe(
      [
        "### openStore",
        "",
        "```ts",
        "function openStore(options: StoreOptions): Store",
        "```",
        "",
        "Opens a store as [`Store`](#store) says, not `Hidden`.",
        "",
        "Throws.",
        "",
      ].join("\n"),
    );
  });

  test("gives members a line each, and no block for a name alone", () => {
    expect(sectionOf(page, "Store")).toBe(
      [
        "### Store",
        "",
        "An open one.",
        "",
        "- `get(key: string): string | undefined`: By its key, see [`Store.get`](#store).",
        "- `readonly size: number`",
        "",
      ].join("\n"),
    );
  });

  test("ends with every error code", () => {
    expect(page).toContain("| `DAMAGED` | The file does not hold what it must hold. |");
    expect(page.endsWith("|\n")).toBe(true);
  });
});
