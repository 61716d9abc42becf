import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shellQuote } from "./quote.ts";

const hostile = [
  "",
  " ",
  "it's",
  "$(id)",
  "`id`",
  "$HOME",
  "a\nb",
  '"',
  "\\",
  "-n",
  "*",
  "!",
  "läs mig",
  "'; exit 9 #",
  "a\\'b",
];

describe("shellQuote", () => {
  test("shellQuote gives a shell back every text as it is", () => {
    const text = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "grapheme" }));
    const texts = [...hostile, ...fc.sample(text, 200)].filter((one) => !/[\0\ud800-\udfff]/u.test(one));
    const script = texts.map((one) => `printf '%s\\0' ${shellQuote(one)}`).join("\n");
    const done = spawnSync("sh", ["-c", script], { env: { PATH: "/usr/bin:/bin", HOME: "/" }, encoding: "utf8" });
    expect([done.status, done.stderr]).toEqual([0, ""]);
    expect(done.stdout.split("\0").slice(0, -1)).toEqual(texts);
  });
});
