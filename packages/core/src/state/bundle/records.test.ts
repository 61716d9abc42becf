import { describe, expect, test } from "vitest";
import { parseExchanged, renderExchanged } from "./exchange.ts";
import { splitLines } from "./lines.ts";
import { parseManifest, renderManifest } from "./manifest.ts";

const manifest = {
  format: 1,
  kind: "layer",
  origin: { repository: null, exported_at: "2030-01-01T00:00:00Z", reeve: "0.1.0" },
  includes: { prompts: false, secrets: true },
  classes: { config: 1 },
  files: [{ path: "a", group: "config", size: 3, sha256: "0".repeat(64), mode: 0o644 }],
  left_out: [{ path: "b/", because: "derived", files: 2 }],
} as const;

describe("parseManifest", () => {
  test("reads what renderManifest wrote", () => {
    expect(parseManifest(renderManifest(manifest), "x")).toEqual(manifest);
  });

  test.each([
    ["a key of a newer format", { ...manifest, format: 7, more: 1 }, "STATE_NEWER"],
    ["a format that is none", { ...manifest, format: "1" }, "REFUSED"],
    ["format 0", { ...manifest, format: 0 }, "REFUSED"],
    ["an unknown key", { ...manifest, more: 1 }, "REFUSED"],
    ["a negative size", { ...manifest, files: [{ ...manifest.files[0], size: -1 }] }, "REFUSED"],
    ["half a byte", { ...manifest, files: [{ ...manifest.files[0], size: 0.5 }] }, "REFUSED"],
    ["a short hash", { ...manifest, files: [{ ...manifest.files[0], sha256: "00" }] }, "REFUSED"],
    ["a set-user-id mode", { ...manifest, files: [{ ...manifest.files[0], mode: 0o4755 }] }, "REFUSED"],
    ["an unknown class", { ...manifest, files: [{ ...manifest.files[0], group: "other" }] }, "REFUSED"],
    ["no object", [], "REFUSED"],
  ])("refuses %s, naming the bundle", (_what, value, code) => {
    expect(() => parseManifest(JSON.stringify(value), "x.tgz")).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining("x.tgz: ") }),
    );
  });

  test("refuses a member given twice", () => {
    const text = JSON.stringify(manifest).replace('"format":1', '"format":1,"format":1');
    expect(() => parseManifest(text, "x")).toThrow(expect.objectContaining({ code: "REFUSED" }));
  });
});

describe("parseExchanged", () => {
  test("reads what renderExchanged wrote, the newer hash of two", () => {
    const text = renderExchanged({ a: "1", b: "2" }, { b: "3" });
    expect(parseExchanged(text, "x")).toEqual({ a: "1", b: "3" });
    expect(parseExchanged(undefined, "x")).toEqual({});
  });

  test.each([
    ["{", "RECORD_DAMAGED"],
    ['{"version":2}', "STATE_NEWER"],
    ['{"version":1}', "RECORD_DAMAGED"],
    ['{"version":1,"exchanged":{"a":1}}', "RECORD_DAMAGED"],
  ])("refuses %s", (text, code) => {
    expect(() => parseExchanged(text, "x.json")).toThrow(expect.objectContaining({ code }));
  });
});

describe("splitLines", () => {
  test("finds the same lines however the bytes are cut", () => {
    const text = Buffer.from("ä\n\nb\r\nlast");
    for (let size = 1; size <= text.length; size += 1) {
      const lines: string[] = [];
      const sink = splitLines((line) => void lines.push(line.toString("utf8")));
      for (let at = 0; at < text.length; at += size) sink.write(text.subarray(at, at + size));
      sink.end();
      expect(lines, `pieces of ${size}`).toEqual(["ä", "", "b\r", "last"]);
    }
  });
});
