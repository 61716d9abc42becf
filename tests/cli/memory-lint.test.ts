import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, type Members } from "../answers.ts";
import { type Answer, makeScene, type Scene } from "../scene.ts";

const good = (name: string, more = ""): string => `---\nname: ${name}\ndescription: A rule\n---\nWhy.\n${more}`;

function sceneWith(files: Readonly<Record<string, string | Uint8Array>>): Scene {
  const scene = makeScene({ commits: false });
  fs.mkdirSync(scene.at("memories"));
  for (const [file, text] of Object.entries(files)) scene.write(`memories/${file}`, text);
  return scene;
}

function lint(scene: Scene, ...more: readonly string[]): Answer {
  return scene.reeve(["memory", "lint", ...more]);
}

function rowsOf(answer: Answer): readonly string[] {
  return answer.stdout.trimEnd().split("\n");
}

describe("reeve memory lint", () => {
  test("is one line when every memory is fit, and writes nothing", () => {
    const scene = sceneWith({
      "a.md": good("a"),
      "b-c.md": `\uFEFF${good("b-c").replaceAll("\n", "\r\n")}`,
      "README.md": "x",
    });
    const before = scene.sh("find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum").stdout;
    expect(lint(scene)).toEqual({ exit: 0, stdout: "2 memories, no problem\n", stderr: "" });
    expect(scene.sh("find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum").stdout).toBe(before);
  });

  test("needs no repository", () => {
    const scene = makeScene({ commits: false });
    fs.mkdirSync(`${scene.folder}/elsewhere/memories`, { recursive: true });
    fs.writeFileSync(`${scene.folder}/elsewhere/memories/a.md`, good("a"));
    const said = scene.reeve(["memory", "lint"], { cwd: `${scene.folder}/elsewhere` });
    expect(said).toMatchObject({ exit: 0, stdout: "1 memory, no problem\n" });
  });

  const bomb = ["---", "name: a", "description: d", "m0: &a0 [x]"];
  for (let at = 1; at < 12; at += 1)
    bomb.push(`m${at}: &a${at} [${Array.from({ length: 9 }, () => `*a${at - 1}`).join(", ")}]`);
  test.each<[string, string | Uint8Array, string]>([
    ["an empty file", "", "a.md:1: has no front matter"],
    ["no front matter", "# A rule\n", "a.md:1: has no front matter"],
    ["a member twice", "---\nname: a\nname: b\ndescription: d\n---\n", "a.md:3: Map keys must be unique"],
    ["a bomb", [...bomb, "---", ""].join("\n"), "a.md:2: its front matter cannot be read"],
    ["another name than its file's", good("b"), "a.md: its name b is not its file's (a)"],
    [
      "a zero-width character",
      good("a", "x\u200By\n"),
      "a.md:6: hides something from a reader: zero-width U+200B in column 2",
    ],
    ["a reversed text", good("a", "\u202Ex\n"), "a.md:6: hides something from a reader: bidi U+202E in column 1"],
    ["a colour", good("a", "\u001B[31m\n"), "a.md:6: hides something from a reader: ansi U+001B in column 1"],
    ["a comment", good("a", "<!-- do -->\n"), "a.md:6: hides something from a reader: html-comment <!-- in column 1"],
    ["another encoding", Buffer.from("---\nname: a\ndescription: \xe9\n---\n", "latin1"), "a.md: is not UTF-8"],
    ["1 MiB and a byte", Buffer.alloc(1_048_577, "a"), "a.md: is larger than 1048576 bytes"],
    [
      "a type nobody knows",
      good("a").replace("---\nWhy", "metadata: { type: other }\n---\nWhy"),
      "a.md: metadata.type is none of",
    ],
    ["a link that leads nowhere", good("a", "see [[b]]\n"), "a.md: needs [[b]], and no memory here has that name"],
  ])("names %s, and fails", (_, text, row) => {
    const said = lint(sceneWith({ "a.md": text }));
    expect(said.exit).toBe(3);
    expect(rowsOf(said)[0]).toContain(row);
    expect(rowsOf(said).at(-1)).toMatch(/, 1 problem$/);
  });

  test("passes over links and folders and says so; neither is a memory", () => {
    const scene = sceneWith({ "a.md": good("a") });
    fs.writeFileSync(scene.at("secret.md"), good("secret"));
    fs.symlinkSync("../secret.md", scene.at("memories/secret.md"));
    fs.mkdirSync(scene.at("memories/b.md"));
    const said = lint(scene);
    expect(rowsOf(said)).toEqual([
      "! b.md: is a directory, and is passed over",
      "! secret.md: is a link, and is passed over",
      "1 memory, no problem",
    ]);
    expect([said.exit, lint(scene, "--strict").exit]).toEqual([0, 3]);
  });

  test("looks below with --full-depth only, and finds two of one name there", () => {
    const scene = sceneWith({ "a.md": good("a"), "deep/a.md": good("a"), ".hidden/a.md": "x" });
    expect(lint(scene).exit).toBe(0);
    const said = lint(scene, "--full-depth");
    expect(said).toMatchObject({
      exit: 3,
      stdout: "deep/a.md: a.md is the name of a.md, too\n2 memories, 1 problem\n",
    });
  });

  test("warns of what is worth a second look without repeating it", () => {
    const token = `ghp_${"a".repeat(36)}`;
    const said = lint(sceneWith({ "a.md": good("a", `use ${token}\n`) }));
    expect(said).toMatchObject({ exit: 0, stdout: "! a.md:6: read this twice: secret-shape\n1 memory, no problem\n" });
  });

  test("shows twenty of a kind in one file, and how many more there are", () => {
    const said = lint(sceneWith({ "a.md": good("a", "\u200B".repeat(500)) }));
    expect([said.exit, rowsOf(said).length, rowsOf(said)[20]]).toEqual([3, 22, "a.md: and 480 more like these"]);
  });

  test("prints no file's name that moves a terminal", () => {
    const said = lint(sceneWith({ "a\u001B[31m.md": "x" }));
    expect(said.exit).toBe(3);
    expect(rowsOf(said)[0]).toBe("a\\u{1b}[31m.md:1: has no front matter: it does not begin with ---");
  });

  test("counts what is over the cap, internal memories aside", () => {
    const internal = good("c").replace("description", "metadata: { internal: true }\ndescription");
    const scene = sceneWith({ "a.md": good("a"), "b.md": good("b"), "c.md": internal });
    expect(lint(scene, "--cap", "2").exit).toBe(0);
    const said = lint(scene, "--cap", "1");
    expect(said).toMatchObject({ exit: 10, stdout: "1 rule line over the cap of 1 a source\n3 memories, 1 problem\n" });
  });

  test("answers as JSON", () => {
    const said = lint(sceneWith({ "a.md": good("a"), "b.md": "" }), "--json");
    expect(said.exit).toBe(3);
    const answer = JSON.parse(said.stdout) as { readonly ok: boolean; readonly result: Members };
    expect(answer).toMatchObject({
      ok: false,
      result: { memories: 1, cap: 25, overCap: 0, warnings: [], problems: [{ path: "b.md", line: 1 }] },
    });
  });

  test.each([
    ["no folder", ["nowhere"], 12, "there is no such folder"],
    ["a file", ["memories/a.md"], 12, "is a file"],
    ["a cap that is none", ["--cap", "0"], 2, "--cap 0"],
  ])("refuses %s, saying what to type", (_, args, exit, message) => {
    const said = lint(sceneWith({ "a.md": good("a") }), ...args, "--json");
    expect(said.exit).toBe(exit);
    expect(failureOf(said)).toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining("reeve memory lint"),
    });
  });
});
