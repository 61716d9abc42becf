import { describe, expect, test } from "vitest";
import { writeFixture } from "../source/fixture.ts";
import { readExceptions } from "./exceptions.ts";

const rules = new Set(["writes-files", "lines-name"]);

function read(text: string): unknown {
  return [...readExceptions(writeFixture({ "exceptions.jsonl": text }), "exceptions.jsonl", rules)];
}

const one = '{"key":"writes-files a.ts rmSync","because":"A cache."}\n';

describe("readExceptions", () => {
  test("gives each key and its line", () => {
    expect(read(`${one}{"because":"Moved aside.","key":"lines-name t.ts state/x.*"}\n`)).toEqual([
      ["writes-files a.ts rmSync", 1],
      ["lines-name t.ts state/x.*", 2],
    ]);
  });

  test("finds none in an empty file and where there is none", () => {
    expect(read("")).toEqual([]);
    expect([...readExceptions(writeFixture({}), "exceptions.jsonl", rules)]).toEqual([]);
  });

  test.each([
    ["an unknown member", '{"key":"writes-files b.ts rmSync","because":"x","until":"y"}', /unknown member "until"/],
    ["a repeated member", '{"key":"writes-files b.ts rmSync","key":"writes-files b.ts rmSync","because":"x"}', /"key"/],
    ["a missing key", '{"because":"x"}', /key/],
    ["a missing reason", '{"key":"writes-files b.ts rmSync"}', /"because" must both be texts/],
    ["a reason of another type", '{"key":"writes-files b.ts rmSync","because":7}', /texts/],
    ["a key of another type", '{"key":7,"because":"x"}', /key/],
    ["an empty reason", '{"key":"writes-files b.ts rmSync","because":" "}', /"because" must say why/],
    [
      "a rule nobody knows",
      '{"key":"writes b.ts rmSync","because":"x"}',
      /no rule "writes"; the rules are writes-files/,
    ],
    ["a key of two words", '{"key":"writes-files b.ts","because":"x"}', /<rule> <path> <symbol>/],
    ["a key with two spaces", '{"key":"writes-files  rmSync","because":"x"}', /<rule> <path> <symbol>/],
    ["a repeated key", one.trimEnd(), /line 1 already/],
    ["no object", '["writes-files b.ts rmSync"]', /object/],
    ["no JSON", "# why", /./],
    ["a removal", '{"key":"writes-files a.ts rmSync","$deleted":true}', /./],
  ])("refuses %s, naming the line, and reads nothing past it", (_, line, reason) => {
    let error: unknown;
    try {
      read(`${one}${line}\nnot read\n`);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "DAMAGED", line: 2, message: expect.stringMatching(/exceptions\.jsonl:2:/) });
    expect((error as Error).message).toMatch(reason);
  });
});
