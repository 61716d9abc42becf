import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeSystem } from "../../system/node.ts";
import type { From } from "../from.ts";
import { parseSource, type SourceWords } from "./argument.ts";

let home: string;

beforeAll(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve source ")));
  fs.mkdirSync(path.join(home, "rules ü"));
  fs.writeFileSync(path.join(home, "a file"), "");
  fs.symlinkSync("rules ü", path.join(home, "link"));
});
afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

function parse(
  text: string,
  more: Partial<SourceWords> = {},
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof parseSource> {
  return parseSource(nodeSystem({ cwd: home, env: { HOME: home, ...env } }), { text, ...more });
}

const github = (repo: string, ref = "HEAD"): From => ({ type: "github", repo, ref });

describe("a source as a person types it", () => {
  test.each<[string, From]>([
    ["Octocat/rules", github("Octocat/rules")],
    ["@Octocat/rules", github("Octocat/rules")],
    [" @o/my.rules_1 ", github("o/my.rules_1")],
    ["https://github.com/o/r", github("o/r")],
    ["https://www.github.com/o/r.git/", github("o/r")],
    ["https://github.com/o/r/tree/v2", github("o/r", "v2")],
    ["https://git.example.org/o/r", { type: "git", url: "https://git.example.org/o/r", ref: "HEAD" }],
    ["ssh://git@host:22/a b", { type: "git", url: "ssh://git@host:22/a b", ref: "HEAD" }],
    ["git@host:o/r.git", { type: "git", url: "git@host:o/r.git", ref: "HEAD" }],
    ["file:///tmp/a%20b", { type: "git", url: "file:///tmp/a%20b", ref: "HEAD" }],
  ])("is known: %s", (text, from) => {
    expect(parse(text)).toEqual({ from, memory: undefined });
  });

  test("may name one memory, and a pin", () => {
    expect(parse("@o/r@one-rule")).toEqual({ from: github("o/r"), memory: "one-rule" });
    expect(parse("o/r", { pin: "release/1" }).from).toEqual(github("o/r", "release/1"));
    expect(parse("https://github.com/o/r/tree/v2", { pin: "v2" }).from).toEqual(github("o/r", "v2"));
  });

  test("is a folder by its spelling, under its real name, and is read in place when that is asked for", () => {
    const rules = path.join(home, "rules ü");
    for (const text of ["./rules ü", "./rules ü/../link/", rules, "~/rules ü", "./link"])
      expect(parse(text).from, text).toEqual({ type: "local", path: rules });
    expect(parse("./link", { link: true }).from).toEqual({ type: "local", path: rules, live: true });
    expect(parse(".").from).toEqual({ type: "local", path: home, live: true });
  });

  test("goes by GH_HOST, but for a literal github.com", () => {
    const env = { GH_HOST: "Git.Example.org" };
    expect(parse("o/r", {}, env).from).toEqual({ ...github("o/r"), host: "git.example.org" });
    expect(parse("https://git.example.org/o/r", {}, env).from).toEqual({ ...github("o/r"), host: "git.example.org" });
    expect(parse("https://github.com/o/r", {}, env).from).toEqual(github("o/r"));
    expect(parse("https://other.example.org/o/r", {}, env).from.type).toBe("git");
    expect(parse("o/r", {}, { GH_HOST: "github.com" }).from).toEqual(github("o/r"));
  });

  test.each<[string, string, Partial<SourceWords>, Readonly<Record<string, string>>]>([
    ["nothing", " ", {}, {}],
    ["one word", "rules", {}, {}],
    ["three parts", "a/b/c", {}, {}],
    ["a name GitHub has not", "-a/b", {}, {}],
    ["two dots", "a/..", {}, {}],
    ["the end of a marker", "a/b-->", {}, {}],
    ["a line break", "a/b\nc", {}, {}],
    ["a file of a repository", "https://github.com/o/r/blob/main/a.md", {}, {}],
    ["a folder of a repository", "https://github.com/o/r/tree/main/rules", {}, {}],
    ["two pins", "https://github.com/o/r/tree/v1", { pin: "v2" }, {}],
    ["a fragment", "https://host/r#v1", {}, {}],
    ["a broken escape", "https://github.com/o/%zz", {}, {}],
    ["an address without a host", "https://", {}, {}],
    ["a pin that is an option", "o/r", { pin: "--upload-pack=x" }, {}],
    ["a pin that climbs", "o/r", { pin: "a..b" }, {}],
    ["a pin of a folder", ".", { pin: "v1" }, {}],
    ["a link to a repository", "o/r", { link: true }, {}],
    ["a host that is none", "o/r", {}, { GH_HOST: "a b" }],
  ])("is refused, saying what to type: %s", (_, text, more, env) => {
    expect(() => parse(text, more, env)).toThrow(
      expect.objectContaining({ code: "USAGE", hint: expect.stringMatching(/\S/) }),
    );
  });

  test("is never repeated with its password", () => {
    for (const text of ["https://me:hunter2@host/r#v1", "https://hunter2@github.com/o/r/blob/x"]) {
      expect(() => parse(text)).toThrow(
        expect.objectContaining({
          message: expect.not.stringContaining("hunter2"),
          hint: expect.not.stringContaining("hunter2"),
        }),
      );
    }
  });

  test.each(["./nowhere", "./a file", "/nowhere at all"])("is refused where there is no such folder: %s", (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: "NOT_FOUND", hint: expect.stringContaining("owner/name") }),
    );
  });
});
