import { expect, test } from "vitest";
import { readStoreApi, renderStoreApi } from "./store-api.ts";

test("the library's own page names no type that is not on it, says something of every export, and repeats no heading", async () => {
  const entries = await readStoreApi();
  const items = entries.flatMap(({ exports }) => exports);
  const names = new Set(items.map(({ name }) => name));
  expect([...names]).toEqual(expect.arrayContaining(["openStore", "openBlobs", "StoreError", "defineStateTable"]));
  expect(items.filter(({ doc }) => doc === "").map(({ name }) => name)).toEqual([]);
  const page = renderStoreApi(entries);
  const headings = (page.match(/^##+ .*$/gm) ?? []).map((line) => line.replace(/^#+ /, "").toLowerCase());
  expect(headings.filter((heading, index) => headings.indexOf(heading) !== index)).toEqual([]);
  const given =
    /^(?:T|Entry|Path|Info|Error|Promise|(?:Async)?(?:Generator|Iterable)|IterableIterator|Readonly(?:Set|Map)?|Record|Pick|Buffer|Uint8Array|AbortSignal)$/;
  const named = items.flatMap(({ signature, members }) =>
    [signature, ...members.map((member) => member.signature)].flatMap(
      (text) => text.replace(/"[^"]*"/g, "").match(/\b[A-Z][A-Za-z]+\b|\bT\b/g) ?? [],
    ),
  );
  const strangers = new Set(
    named.filter((name) => !names.has(name) && !given.test(name) && name !== name.toUpperCase()),
  );
  expect([...strangers]).toEqual([]);
});
