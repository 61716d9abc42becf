import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitFrontMatter } from "../documents/front-matter.ts";
import { openDocumentReader } from "../documents/reader.ts";
import type { Layer } from "../layer/layer.ts";
import type { System } from "../system/port.ts";
import {
  checkNoteBody,
  isNote,
  missingSections,
  type NoteFrontMatter,
  parseSections,
  readNotes,
  renderNote,
  renderNoteName,
} from "./note.ts";

const front: NoteFrontMatter = {
  schema_version: 1,
  created_at: "2026-09-03T19:30:12Z",
  task_id: "t-20260903193012-a4f1",
  profile: "implementation",
  owner: "ada",
  repository_id: "/some where/.git",
  worktree: "/some where",
  branch: "feature/läs mig",
  head: "b71e0c9".padEnd(40, "0"),
  working_tree: "dirty",
  changed_files: ["src/a.ts", "läs\nmig"],
  changed_files_excluded: 0,
};

function layerOf(files: Readonly<Record<string, string>>): Layer {
  const documents = openDocumentReader({ system: {} as System, cache: undefined, keep: false, version: "1" });
  const folder = ".ai/local/state/handovers/";
  const read = (path: string): string | undefined => files[path.slice(folder.length)];
  return { documents, read, list: () => Object.keys(files).sort() } as unknown as Layer;
}

async function problemOf(text: string): Promise<string | undefined> {
  const [note] = await readNotes(layerOf({ "a.md": text }), "handover");
  return note === undefined || isNote(note) ? undefined : note.problem;
}

describe("renderNoteName", () => {
  test("renderNoteName names the time, the branch without odd characters, the commit and a random part", () => {
    expect(renderNoteName(front, "0123456789abcdef")).toBe(
      "20260903T193012Z--feature-l-s-mig--b71e0c9--0123456789abcdef.md",
    );
    expect(renderNoteName({ ...front, branch: "DETACHED", head: "NONE" }, "0".repeat(16))).toBe(
      `20260903T193012Z--DETACHED--NONE--${"0".repeat(16)}.md`,
    );
  });

  test("renderNoteName makes one plain file name of any branch", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (branch) => {
        expect(renderNoteName({ ...front, branch }, "0")).toMatch(/^[0-9TZ]+--[A-Za-z0-9._-]*--b71e0c9--0\.md$/);
      }),
      { numRuns: 200 },
    );
  });
});

describe("readNotes", () => {
  test("readNotes reads back what renderNote wrote", async () => {
    const body = fc.oneof(fc.string(), fc.constantFrom("---\na: b\n---\n", "# A\r\n\r\nb", "---", "\ufeffa"));
    await fc.assert(
      fc.asyncProperty(body, fc.string(), async (written, owner) => {
        const [note] = await readNotes(layerOf({ "a.md": renderNote({ ...front, owner }, written) }), "handover");
        if (note === undefined || !isNote(note)) throw new Error(`not read back: ${note?.problem}`);
        expect(note.front).toEqual({ ...front, owner });
        expect(note.body).toBe(`${written.trim().replaceAll("\r\n", "\n")}\n`);
      }),
      { numRuns: 200 },
    );
  });

  test("readNotes reads front matter a person wrote as other YAML", async () => {
    const text = renderNote(front, "body").replace("owner: ada", "owner: 'ada' # me");
    expect(await readNotes(layerOf({ "a.md": text }), "handover")).toMatchObject([{ front: { owner: "ada" } }]);
  });

  test("readNotes passes over names that are no records", async () => {
    const files = { "a.md": renderNote(front, "x"), ".a.md.1.2.tmp": "", ".hidden.md": "", "README.txt": "" };
    expect((await readNotes(layerOf(files), "handover")).map((note) => note.path)).toEqual([
      ".ai/local/state/handovers/a.md",
    ]);
  });

  test.each([
    ["no front matter", () => "# Objective\n\ntext\n", /front matter/],
    ["an empty file", () => "", /front matter/],
    ["front matter without an end", () => "---\na: b\n", /front matter/],
    ["another version", (text: string) => text.replace("schema_version: 1", "schema_version: 2"), /schema_version/],
    ["no list of files", (text: string) => text.replace(/changed_files: .*/, "changed_files: a"), /changed_files/],
    ["no owner", (text: string) => text.replace(/owner: .*\n/, ""), /owner/],
    ["a commit that is a number", (text: string) => text.replace(/head: .*/, "head: 5"), /head/],
    ["YAML that does not parse", (text: string) => text.replace("owner: ada", "owner: 'ada"), /line \d+/],
    ["a key twice", (text: string) => text.replace("owner: ada", "owner: ada\nowner: bob"), /line \d+/],
    ["a list for front matter", () => "---\n- a\n---\nbody\n", /./],
    ["nothing for front matter", () => "---\n---\nbody\n", /./],
  ])("readNotes says what is wrong with a record with %s", async (_what, damage, says) => {
    expect(await problemOf(damage(renderNote(front, "body")))).toMatch(says);
  });

  test("readNotes counts lines from the top of the file", async () => {
    const text = renderNote(front, "body").replace("owner: ada", "owner: ada\nowner: bob");
    const row = text.split("\n").lastIndexOf("owner: bob") + 1;
    expect(await problemOf(text)).toMatch(new RegExp(`^line ${row}:`));
  });
});

describe("parseSections", () => {
  test("parseSections tells what stands below each heading", () => {
    const body = "before\n# One\n\na\n\n## Two\n\nb\n# Three  \nc\n# One\nd\n";
    expect(Object.fromEntries(parseSections(body))).toEqual({
      One: "\na\n\n## Two\n\nb\nd\n\n",
      Three: "c\n",
    });
  });

  test.each([
    ["```\n# No\n```\n# Yes\n", ["Yes"]],
    ["```sh\n# No\n~~~\n# No\n```\n# Yes\n", ["Yes"]],
    ["~~~\n```\n# No\n~~~\n# Yes\n", ["Yes"]],
    ["````\n```\n# No\n````\n# Yes\n", ["Yes"]],
    ["```\n# No\n", []],
    ["#No\n # No\n## No\n# Yes\r\n", ["Yes"]],
  ])("parseSections finds in %j the headings %j", (body, names) => {
    expect([...parseSections(body).keys()]).toEqual(names);
  });
});

describe("missingSections", () => {
  const required = ["Objective", "Next Action"];

  test.each([
    ["# Objective\nx\n# Next Action\ny\n", []],
    ["# Objective\r\nx\r\n# Next Action\r\ny\r\n", []],
    ["# Objective\nx\n", ["Next Action"]],
    ["# Objective\n\n# Next Action\ny\n", ["Objective"]],
    ["# Objective\n<what is to be done>\n# Next Action\n  \n", ["Objective", "Next Action"]],
    ["# Objective\n<what> then more\n# Next Action\n<!-- nothing -->\n", ["Next Action"]],
    ["## Objective\nx\n## Next Action\ny\n", ["Objective", "Next Action"]],
    ["# objective\nx\n# Next Action\ny\n", ["Objective"]],
    ["", ["Objective", "Next Action"]],
  ])("missingSections names for %j what is missing: %j", (body, missing) => {
    expect(missingSections(body, required)).toEqual(missing);
  });
});

describe("checkNoteBody", () => {
  test.each(["head: abc", "text\r\nbranch: main", "schema_version: 1", "changed_files: []", "working_tree: clean"])(
    "checkNoteBody refuses a body with %j",
    (body) => {
      expect(() => checkNoteBody("handover", body)).toThrow(
        expect.objectContaining({ code: "RECORD_REFUSED", exit: 10 }),
      );
    },
  );

  test("checkNoteBody lets text pass that only speaks of them", () => {
    for (const body of ["", "- head: abc", "the branch: main", "headline: x", " head: x"])
      expect(() => checkNoteBody("handover", body), body).not.toThrow();
  });

  test("checkNoteBody counts lines from one", () => {
    expect(() => checkNoteBody("checkpoint", "a\nhead: b")).toThrow(/line 2 /);
  });

  test("splitFrontMatter takes a rendered note's front matter from its body even where the body looks like one", () => {
    expect(splitFrontMatter(renderNote(front, "---\nowner: eve\n---\n")).yaml).toContain("owner: ada");
  });
});
