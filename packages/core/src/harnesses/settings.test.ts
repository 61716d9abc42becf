import { describe, expect, test } from "vitest";
import { editSettings, type SettingsEntry } from "./settings.ts";

const command = "reeve sync --quiet";
const value = { hooks: [{ type: "command", command, timeout: 20 }] };
const isOurs = (given: unknown): boolean => JSON.stringify(given).includes("reeve sync");
const wanted: SettingsEntry = { path: ["hooks", "SessionStart"], value, isOurs };
const none: SettingsEntry = { ...wanted, value: undefined };

function put(text: string | undefined, entry: SettingsEntry = wanted): string | undefined {
  const edit = editSettings(text, entry);
  if (edit.kind === "refused") throw new Error(edit.reason);
  return edit.text;
}

const files: readonly (readonly [string, string])[] = [
  ["an empty object", "{}"],
  ["an empty object over two lines", "{\n}\n"],
  ["another member", '{\n  "model": "x"\n}\n'],
  ["tabs and no newline at the end", '{\n\t"model": "x"\n}'],
  ["CRLF", '{\r\n  "model": "x"\r\n}\r\n'],
  ["a byte order mark", '\uFEFF{\n  "model": "x"\n}\n'],
  ["comments", '// mine\n{\n  "model": "x" // keep\n  /* and this */\n}\n'],
  ["nothing but a comment", "{\n  // nothing yet\n}\n"],
  ["a trailing comma", '{\n  "model": "x",\n}\n'],
  ["another event", '{\n  "hooks": {\n    "Stop": [{ "hooks": [] }]\n  }\n}\n'],
  [
    "another hook of the event",
    '{\n  "hooks": {\n    "SessionStart": [\n      { "hooks": [{ "command": "mine" }] } // mine\n    ]\n  },\n  "z": 1\n}\n',
  ],
  ["all in one line", '{"hooks":{"SessionStart":[{"a":1}]},"b":[1,2]}'],
];

describe("an entry of a settings file", () => {
  test.each(files)("comes, stays and goes, and every other byte stays: %s", (_, text) => {
    const written = put(text) ?? "";
    expect(written).toContain('"command": "reeve sync --quiet"');
    expect(put(written)).toBe(written);
    expect(put(written, none)).toBe(text);
    expect(put(text, none)).toBe(text);
  });

  test("makes a file that goes with it", () => {
    const written = put(undefined, { ...wanted, head: { version: 1 } });
    expect(JSON.parse(written ?? "")).toEqual({ version: 1, hooks: { SessionStart: [value] } });
    expect(put(written, { ...none, head: { version: 1 } })).toBeUndefined();
    expect(put(undefined, none)).toBeUndefined();
  });

  test("is replaced in place when it is to be another, between the person's", () => {
    const behind = JSON.stringify({ hooks: { SessionStart: [{ a: 1 }, value, { b: 2 }] } });
    const changed =
      put(behind, { ...wanted, value: { hooks: [{ type: "command", command: `${command} --new` }] } }) ?? "";
    const list = (JSON.parse(changed) as { hooks: { SessionStart: unknown[] } }).hooks.SessionStart;
    expect(list).toEqual([{ a: 1 }, { hooks: [{ type: "command", command: `${command} --new` }] }, { b: 2 }]);
  });

  test("is there once, however often it was", () => {
    const twice = JSON.stringify({ hooks: { SessionStart: [value, { a: 1 }, value] } }, null, 2);
    const list = (JSON.parse(put(twice) ?? "") as { hooks: { SessionStart: unknown[] } }).hooks.SessionStart;
    expect(list).toEqual([{ a: 1 }, value]);
  });

  test.each([
    ["an empty file", "", "is not JSON", 1],
    ["a truncated one", '{\n  "a": ', "is not JSON", 2],
    ["no JSON", "model = 1\n", "is not JSON", 1],
    ["a list at its top", "[]", "its top is no object", 1],
    ["hooks that are a list", '{\n  "hooks": []\n}', "hooks is no object", 2],
    ["an event that is an object", '{ "hooks": { "SessionStart": {} } }', "hooks.SessionStart is no list", 1],
    ["a member twice", '{ "hooks": {},\n "hooks": {} }', "hooks is there twice", 2],
  ])("is refused, naming the line: %s", (_, text, reason, line) => {
    expect(editSettings(text, wanted)).toMatchObject({
      kind: "refused",
      line,
      reason: expect.stringContaining(reason),
    });
  });
});
