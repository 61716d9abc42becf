import { describe, expect, test } from "vitest";
import { blobPath, isBlobName, writerOf } from "./blobs-place.ts";
import { StoreError } from "./errors.ts";

const hash = "0123456789abcdef".repeat(4);

describe("blobPath", () => {
  test("fans out on the first two digits", () => {
    expect(blobPath("/b", hash)).toBe(`/b/01/${hash}`);
  });

  test.each([
    "",
    hash.slice(1),
    `${hash}0`,
    hash.toUpperCase(),
    `${hash}\n`,
    `../../${hash}`,
    `..${hash.slice(2)}`,
    `${hash.slice(0, 62)}/x`,
    `${hash.slice(0, 63)}g`,
    `${hash.slice(0, 63)}\0`,
    `${hash.slice(0, 63)}０`,
    undefined,
    null,
    7,
    [hash],
  ])("refuses %j, naming the folder", (value) => {
    const refused = expect(() => blobPath("/b", value as string));
    refused.toThrow(StoreError);
    refused.toThrow(expect.objectContaining({ code: "BAD_VALUE", path: "/b" }));
  });
});

describe("isBlobName", () => {
  test("tells a blob that lies in its own folder", () => {
    expect(isBlobName("/b/01", hash)).toBe(true);
    expect(isBlobName("/b/02", hash)).toBe(false);
    expect(isBlobName("/b/01", `${hash}.corrupt-1`)).toBe(false);
  });
});

describe("writerOf", () => {
  test("tells the process of the place's own temporary files only", () => {
    expect(writerOf(".blob.42.x1.tmp")).toBe(42);
    for (const name of [".blob.tmp", ".blob.0.x.tmp", ".other.42.x.tmp", "blob.42.x.tmp", ".blob.42.x.tmp.corrupt-1"]) {
      expect(writerOf(name)).toBeUndefined();
    }
  });
});
