import { describe, expect, test } from "vitest";
import { openDocumentReader } from "../documents/reader.ts";
import type { Layer } from "../layer/layer.ts";
import type { System } from "../system/port.ts";
import { type RuleSet, readRules } from "./resolve.ts";

const folder = ".ai/repo/rules/";

function ruleText(id: string, more: Readonly<Record<string, string>> = {}): string {
  const members = {
    id,
    version: "1",
    kind: "rule",
    title: "A title",
    description: "What it is",
    statement: "What must hold",
    status: "active",
    class: "blocking",
    depends_on: "[]",
    ...more,
  };
  const rows = Object.entries(members).map(([key, value]) => `${key}: ${value}`);
  return `---\n${rows.join("\n")}\n---\n\n# Rationale\n`;
}

const block = "{validator: scope-integrity, category: scope, exit_code: 10, enforced_by: [check], tests: [a.test.ts]}";

/** A vendor's manifest that lists the rules of its folder. */
function manifestOf(vendor: string, files: Readonly<Record<string, string>>): string {
  const names = Object.keys(files).flatMap((name) => {
    const file = name.slice(`vendor/${vendor}/`.length);
    return name.startsWith(`vendor/${vendor}/`) && file.endsWith(".md") ? [file] : [];
  });
  const rules = names.map((file) => `  - {id: a, version: 1, file: ${file}, sha256: "${"0f".repeat(32)}"}\n`);
  const list = rules.length === 0 ? "rules: []\n" : `rules:\n${rules.join("")}`;
  return `vendor: ${vendor}\npackage: rules\nversion: 1\nformat: ai-rules/v1\nsource_revision: 1.0.0\n${list}`;
}

async function readSet(files: Readonly<Record<string, string | undefined>>): Promise<RuleSet> {
  const names = Object.keys(files).filter((name) => files[name] !== undefined);
  const list = (where: string): string[] => {
    const below = names.flatMap((name) =>
      `${folder}${name}`.startsWith(`${where}/`)
        ? [`${folder}${name}`.slice(where.length + 1).split("/")[0] ?? ""]
        : [],
    );
    return [...new Set(below)].sort();
  };
  const documents = openDocumentReader({ system: {} as System, cache: undefined, keep: false, version: "1" });
  const read = (name: string): string | undefined => files[name.slice(folder.length)];
  return readRules({ documents, read, list } as unknown as Layer);
}

/** The rules of a layer that has one with a validator, and its vendors' manifests, beside the files. */
async function resolve(files: Readonly<Record<string, string>>): Promise<RuleSet> {
  const vendors = new Set(Object.keys(files).flatMap((name) => /^vendor\/([^/]+)\//.exec(name)?.[1] ?? []));
  const manifests = [...vendors].map((vendor) => [`vendor/${vendor}/manifest.yaml`, manifestOf(vendor, files)]);
  const base = { "project/~base.md": ruleText("here.base", { "x-reeve": block }) };
  const set = await readSet({ ...Object.fromEntries(manifests), ...base, ...files });
  return { ...set, rules: set.rules.filter((rule) => rule.id !== "here.base") };
}

describe("readRules", () => {
  test("readRules reads the vendors' rules in the order of their folders, then the repository's own", async () => {
    const set = await resolve({
      "project/z.v1.md": ruleText("here.z"),
      "project/a.v1.md": ruleText("here.a"),
      "vendor/reeve/b.v1.md": ruleText("reeve.b"),
      "vendor/other/c.v1.md": ruleText("other.c"),
    });
    expect(set.problems).toEqual([]);
    expect(set.rules.map((rule) => rule.id)).toEqual(["other.c", "reeve.b", "here.a", "here.z"]);
    expect(set.rules[1]?.path).toBe(`${folder}vendor/reeve/b.v1.md`);
  });

  test("readRules passes over what is no rule, and rules that are deprecated", async () => {
    const set = await resolve({
      "README.md": "text",
      "project/README.md": "text",
      "project/notes.txt": "text",
      "project/a.md": ruleText("here.a", { status: "deprecated" }),
    });
    expect(set).toEqual({ rules: [], problems: [] });
  });

  test("readRules fails where no rule has a validator, for then nothing would be checked", async () => {
    for (const files of [{}, { "project/a.md": ruleText("here.a") }])
      expect((await readSet(files)).problems).toMatchObject([{ level: "FAIL", subject: ".ai/repo/rules" }]);
  });

  test("readRules takes of a vendor the rules its manifest lists, in its order", async () => {
    const files = { "vendor/reeve/a.md": ruleText("reeve.a"), "vendor/reeve/b.md": ruleText("reeve.b") };
    const manifest = manifestOf("reeve", { "vendor/reeve/b.md": "", "vendor/reeve/a.md": "" });
    const set = await resolve({ ...files, "vendor/reeve/manifest.yaml": manifest });
    expect(set.rules.map((rule) => rule.id)).toEqual(["reeve.b", "reeve.a"]);
    expect(set.problems).toEqual([]);
  });

  test.each<[string, Readonly<Record<string, string | undefined>>, RegExp]>([
    ["without its manifest", { "vendor/reeve/manifest.yaml": undefined }, /vendor\/reeve\/manifest\.yaml$/],
    ["whose manifest does not decode", { "vendor/reeve/manifest.yaml": "vendor: reeve\n" }, /manifest\.yaml:1$/],
    ["that lacks a rule of its manifest", { "vendor/reeve/a.md": undefined }, /vendor\/reeve\/a\.md$/],
    ["with a rule its manifest does not list", { "vendor/reeve/b.md": ruleText("reeve.b") }, /vendor\/reeve\/b\.md$/],
  ])("readRules fails on a vendor %s", async (_what, changes, subject) => {
    const files = { "vendor/reeve/a.md": ruleText("reeve.a", { "x-reeve": block }) };
    const base = { "project/base.md": ruleText("here.base", { "x-reeve": block }) };
    const whole = { ...base, ...files, "vendor/reeve/manifest.yaml": manifestOf("reeve", files) };
    expect((await readSet(whole)).problems).toEqual([]);
    const { problems } = await readSet({ ...whole, ...changes });
    expect(problems[0]).toMatchObject({ level: "FAIL", subject: expect.stringMatching(subject) });
  });

  test.each([
    ["no front matter", "# A rule\n", "project/a.md", /front matter/],
    ["nothing in it", "", "project/a.md", /front matter/],
    ["an unknown key", ruleText("a", { titel: "x" }), "project/a.md:11", /unknown key 'titel'/],
    ["a key twice", ruleText("a").replace("kind: rule", "kind: rule\nid: b"), "project/a.md:5", /unique/],
    ["no statement", ruleText("a").replace(/statement.*\n/, ""), "project/a.md:2", /'statement' is missing/],
    ["another class", ruleText("a", { class: "maybe" }), "project/a.md:9", /'class' is "maybe"/],
    ["a title of two lines", ruleText("a", { title: '"x\\ny"' }), "project/a.md:5", /'title'/],
    [
      "an unknown command that enforces it",
      ruleText("a", { "x-reeve": "{enforced_by: [lunch]}" }),
      "project/a.md:11",
      /enforced_by/,
    ],
  ])("readRules fails on a rule with %s, and names its line in the file", async (_what, text, subject, message) => {
    const set = await resolve({ "project/a.md": text, "project/b.md": ruleText("here.b") });
    expect(set.rules.map((rule) => rule.id)).toEqual(["here.b"]);
    expect(set.problems).toMatchObject([{ level: "FAIL", subject: `${folder}${subject}`, message }]);
    expect(set.problems[0]?.reproduce).toBe("reeve doctor");
  });

  test("readRules fails on one rule and version in two files, wherever they lie", async () => {
    const set = await resolve({
      "vendor/other/a.md": ruleText("other.a"),
      "project/copy.md": ruleText("other.a"),
      "project/newer.md": ruleText("other.a", { version: "2" }),
    });
    expect(set.problems).toMatchObject([
      { level: "FAIL", subject: `${folder}project/copy.md`, message: expect.stringContaining("other.a@1") },
    ]);
    expect(set.problems[0]?.message).toContain(`${folder}vendor/other/a.md`);
  });

  test.each([
    [
      "names a validator and nobody who runs it",
      { "x-reeve": "{validator: scope-integrity, category: scope, exit_code: 10}" },
    ],
    ["depends on a rule that is not there", { depends_on: "[here.nobody@1]" }],
    ["depends on another version of a rule", { depends_on: "[here.b@2]" }],
    ["depends on a deprecated rule", { depends_on: "[here.old@1]" }],
    ["depends on itself", { depends_on: "[here.a@1]" }],
  ])("readRules fails on a rule that %s", async (_what, more) => {
    const set = await resolve({
      "project/a.md": ruleText("here.a", more),
      "project/b.md": ruleText("here.b"),
      "project/c.md": ruleText(
        "here.c",
        (more as Record<string, string>)["depends_on"] === "[here.c@1]" ? { depends_on: "[here.a@1]" } : {},
      ),
      "project/old.md": ruleText("here.old", { status: "deprecated" }),
    });
    expect(set.problems).toMatchObject([{ level: "FAIL" }]);
  });
});
