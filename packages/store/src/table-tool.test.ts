import { describe, expect, test } from "vitest";
import { cacheDirFor, isDerivedSpelling, stateDirFor } from "./table.ts";
import { loosePath } from "./table-paths.ts";

const hostile = [
  ...["..", ".", "...", ".git", "a/../../b", "../secrets", "/", "\\", "a\\b", "a/b", "a b", "a\0b", "C:", "a:b", "a*"],
  ...["con", "con.txt", "nul", "COM1", "com1", "lpt9.x", "a.lock", "a.idx", "a.corrupt-x", ".a.1.b.tmp", "a.", "a.."],
  ...[
    "A",
    "a",
    "é",
    "e\u0301",
    "ﬁ",
    "fi",
    "İ",
    "=41",
    "=",
    "\u200b",
    "a\u200b",
    "@acme/tool",
    "acme.tool",
    "\ufffd",
    "💾",
  ],
];

describe("a tool's own folders", () => {
  test("bear its identity where that is a safe name", () => {
    expect(stateDirFor("acme.tool")).toBe(".ai/local/state/tools/acme.tool/");
    expect(cacheDirFor("acme_tool-2")).toBe(".ai/local/cache/tools/acme_tool-2/");
    expect(stateDirFor("@acme/tool")).toBe(".ai/local/state/tools/=40acme=2ftool/");
    expect(stateDirFor("Acme")).toBe(".ai/local/state/tools/=41cme/");
  });

  test("are one segment of harmless characters, whatever the identity", () => {
    for (const identity of hostile) {
      const [, segment = ""] = /^\.ai\/local\/state\/tools\/([^/]+)\/$/.exec(stateDirFor(identity)) ?? [];
      expect(segment, identity).toMatch(/^[a-z0-9=_-](?:[a-z0-9=._-]*[a-z0-9=_-])?$/);
      expect(segment, identity).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:$|\.)/);
      expect(isDerivedSpelling(segment), identity).toBe(false);
      expect(cacheDirFor(identity)).toBe(`.ai/local/cache/tools/${segment}/`);
    }
  });

  test("are no two identities' at once, as the most forgiving file system sees them", () => {
    expect(new Set(hostile.map((identity) => loosePath(stateDirFor(identity)))).size).toBe(hostile.length);
  });

  test.each(["", "\ud800", "x".repeat(181), "/".repeat(61)])(
    "are refused for an identity that is empty, too long or no text: %j",
    (identity) => {
      expect(() => stateDirFor(identity)).toThrow(expect.objectContaining({ code: "BAD_VALUE" }));
      expect(() => cacheDirFor(identity)).toThrow(expect.objectContaining({ code: "BAD_VALUE" }));
    },
  );
});
