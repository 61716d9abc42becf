import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

type Members = Readonly<Record<string, unknown>>;

const root = import.meta.dirname;

function listFiles(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function readYaml(path: string): Members {
  return parse(readText(path)) as Members;
}

function readFront(path: string): { readonly front: Members; readonly body: string } {
  const match = /^---\n([\s\S]*?\n)---\n\n([\s\S]*)$/.exec(readText(path));
  if (match === null) throw new Error(`${path} has no front matter`);
  return { front: parse(match[1] ?? "") as Members, body: match[2] ?? "" };
}

function headings(body: string): readonly string[] {
  return body.split("\n").flatMap((row) => (row.startsWith("# ") ? [row.slice(2)] : []));
}

interface Place {
  readonly root: Members;
  readonly at: string;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function judgeMembers(schema: Members, value: Members, place: Place): readonly string[] {
  const properties = (schema["properties"] ?? {}) as Members;
  const missing = ((schema["required"] ?? []) as string[]).filter((key) => !Object.hasOwn(value, key));
  const members = Object.entries(value).flatMap(([key, member]) => {
    const inside = { ...place, at: `${place.at}/${key}` };
    if (Object.hasOwn(properties, key)) return judge(properties[key] as Members, member, inside);
    const rest = schema["additionalProperties"];
    if (rest === false) return [`${inside.at} is unknown`];
    return typeof rest === "object" ? judge(rest as Members, member, inside) : [];
  });
  return [...missing.map((key) => `${place.at}/${key} is missing`), ...members];
}

function judgeItems(schema: Members, value: readonly unknown[], place: Place): readonly string[] {
  const few = value.length < Number(schema["minItems"] ?? 0) ? [`${place.at} is too short`] : [];
  const unique = new Set(value.map((item) => JSON.stringify(item))).size === value.length;
  const doubled = schema["uniqueItems"] === true && !unique ? [`${place.at} repeats itself`] : [];
  const items = value.flatMap((item, index) =>
    judge((schema["items"] ?? {}) as Members, item, { ...place, at: `${place.at}/${index}` }),
  );
  return [...few, ...doubled, ...items];
}

function judgeScalar(schema: Members, value: unknown, place: Place): readonly string[] {
  const says = (wrong: boolean, what: string): readonly string[] => (wrong ? [`${place.at} ${what}`] : []);
  const { const: only, enum: some, type, pattern, minLength, minimum } = schema;
  const types = type === undefined ? undefined : [type].flat();
  const found = typeOf(value);
  return [
    ...says(Object.hasOwn(schema, "const") && value !== only, `is not ${String(only)}`),
    ...says(Array.isArray(some) && !some.includes(value), `is none of ${String(some)}`),
    ...says(
      types?.some((name) => name === found || (name === "number" && found === "integer")) === false,
      `is ${found}`,
    ),
    ...says(
      typeof value === "string" && typeof pattern === "string" && !new RegExp(pattern, "u").test(value),
      "is malformed",
    ),
    ...says(typeof value === "string" && value.length < Number(minLength ?? 0), "is too short"),
    ...says(typeof value === "number" && value < Number(minimum ?? Number.NEGATIVE_INFINITY), "is too small"),
  ];
}

const understood: readonly string[] = [
  ...["$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "pattern", "minLength"],
  ...["minimum", "required", "properties", "additionalProperties", "items", "minItems", "uniqueItems", "oneOf"],
];

/** What a value breaks of a schema. Only the keywords the shipped schemas use; any other one is an error of the test. */
function judge(schema: Members, value: unknown, place: Place): readonly string[] {
  const unknown = Object.keys(schema).find((keyword) => !understood.includes(keyword));
  if (unknown !== undefined) throw new Error(`the test does not understand '${unknown}'`);
  const found: string[] = [...judgeScalar(schema, value, place)];
  if (typeof schema["$ref"] === "string") {
    const target = (place.root["$defs"] as Members)[schema["$ref"].slice("#/$defs/".length)];
    if (target === undefined) throw new Error(`${schema["$ref"]} leads nowhere`);
    found.push(...judge(target as Members, value, place));
  }
  if (Array.isArray(schema["oneOf"])) {
    const fitting = schema["oneOf"].filter((form: Members) => judge(form, value, place).length === 0);
    if (fitting.length !== 1) found.push(`${place.at} fits ${fitting.length} forms`);
  }
  if (Array.isArray(value)) found.push(...judgeItems(schema, value, place));
  else if (typeof value === "object" && value !== null) found.push(...judgeMembers(schema, value as Members, place));
  return found;
}

function judgeAs(kind: string, value: unknown): readonly string[] {
  const schema = JSON.parse(readText(`schemas/${kind}.v1.schema.json`)) as Members;
  return judge(schema, value, { root: schema, at: kind });
}

const rulePaths = listFiles("rules").filter((path) => path.endsWith(".md"));
const rules = rulePaths.map((path) => ({ path, ...readFront(path) }));
const readmes = listFiles("skeleton/ai").filter((path) => path.endsWith("/README.md"));
const policy = readYaml("skeleton/ai/repo/policy.yaml");
const profileNames = ["debugging", "deep-work", "implementation", "routine"];

describe("shipped texts", () => {
  const texts = listFiles(".").map((path) => ({ path, text: readText(path) }));
  const offenders = (isBad: (text: string, path: string) => boolean): readonly string[] =>
    texts.filter(({ text, path }) => isBad(text, path)).map(({ path }) => path);

  test("texts end with exactly one newline", () => {
    expect(offenders((text) => !text.endsWith("\n") || text.endsWith("\n\n"))).toEqual([]);
  });
  test("texts have no trailing blanks, tabs, carriage returns or byte order marks", () => {
    expect(offenders((text) => /[ \t]$|[\t\r\uFEFF\uFFFD]/m.test(text))).toEqual([]);
  });
  test("texts for people wrap at 120 columns", () => {
    expect(offenders((text, path) => !path.endsWith(".json") && /.{121}/u.test(text))).toEqual([]);
  });
  test("texts name no other product's layer", () => {
    expect(offenders((text) => /majordomus/i.test(text))).toEqual([]);
  });
});

describe("rules", () => {
  const manifest = readYaml("rules/manifest.yaml");
  const listed = manifest["rules"] as readonly {
    readonly id: string;
    readonly version: number;
    readonly file: string;
  }[];
  const block = (front: Members): Members => (front["x-reeve"] ?? {}) as Members;

  test("rules/manifest.yaml names the package and every rule file once", () => {
    const { rules: _, ...head } = manifest;
    expect(head).toEqual({ vendor: "reeve", package: "reeve-standard-rules", version: 1, format: "ai-rules/v1" });
    expect(listed.map((rule) => `rules/${rule.file}`).sort()).toEqual(rulePaths);
  });
  test.each(rules)("$path agrees with its file name, its manifest entry and the rule schema", ({ path, front }) => {
    expect(judgeAs("rule", front)).toEqual([]);
    const slug = path.replace(/^rules\/|\.v\d+\.md$/g, "");
    expect(path).toBe(`rules/${slug}.v${String(front["version"])}.md`);
    expect(front["id"]).toBe(`reeve.${slug}`);
    expect(listed).toContainEqual({ id: front["id"], version: front["version"], file: path.slice("rules/".length) });
    expect(block(front)["validator"] ?? slug).toBe(slug);
    expect(block(front)["exit_code"] ?? 0).toBe(front["class"] === "blocking" ? 10 : 0);
  });
  test.each(rules)("$path has its four sections, each with text", ({ body }) => {
    expect(headings(body)).toEqual(["Rationale", "Required behaviour", "Failure behaviour", "Verification"]);
    expect(
      body
        .split(/^# .*$/m)
        .slice(1)
        .filter((section) => section.trim() === ""),
    ).toEqual([]);
  });
  test("rules depend only on rules listed before them", () => {
    const order = listed.map((rule) => `${rule.id}@${rule.version}`);
    const early = rules.flatMap(({ front }) => {
      const own = order.indexOf(`${String(front["id"])}@${String(front["version"])}`);
      return (front["depends_on"] as string[]).filter((id) => !order.slice(0, own).includes(id));
    });
    expect(early).toEqual([]);
  });
  test("rules without a validator are the ten principles and the decision threshold", () => {
    const reviewed = rules.filter(({ front }) => block(front)["reviewed_because"] !== undefined);
    const principles = reviewed.filter(({ front }) => String(front["tags"]) === "principle");
    expect(principles).toHaveLength(10);
    expect(reviewed.filter((rule) => !principles.includes(rule)).map(({ front }) => front["id"])).toEqual([
      "reeve.decision-threshold",
    ]);
  });
  test("rules with a validator are dispatched by the commands of the contract", () => {
    const dispatched = rules.flatMap(({ front }) => {
      const { validator, category, enforced_by: by, policy_key: key } = block(front);
      return validator === undefined ? [] : [[validator, category, String(by), key ?? "-"].join(" ")];
    });
    expect(dispatched).toEqual([
      "ai-layout-integrity layout doctor,watch -",
      "blocker-resolution blockers check,finish no_open_blockers",
      "checkpoint-freshness checkpoint check,watch -",
      "decision-records records check,doctor,watch -",
      "enforcement-wiring wiring doctor -",
      "handover-integrity resolver doctor,watch -",
      "ledger-integrity records check,doctor,watch -",
      "note-integrity note finish note_present",
      "policy-completeness policy doctor,watch -",
      "policy-integrity policy doctor,watch -",
      "profile-requirements regression finish -",
      "questions-store-integrity records doctor,watch -",
      "retention-caps retention doctor,watch -",
      "scope-integrity scope check,finish,watch scope_respected",
      "state-consistency state check,finish,watch state_updated",
      "verification-integrity verification finish verification_ran",
    ]);
  });
  test("policy keys are exactly what the skeleton's policy requires to finish", () => {
    const keys = rules.flatMap(({ front }) => block(front)["policy_key"] ?? []);
    const { finish_requires: required } = policy["verification"] as { readonly finish_requires: readonly string[] };
    expect([...required].sort()).toEqual(keys.map(String).sort());
  });
});

describe("skeleton", () => {
  const manifest = readYaml("skeleton/ai/manifest.yaml");
  const sections = Object.entries(manifest["sections"] as Readonly<Record<string, string>>);

  test("manifest.yaml meets its schema", () => {
    expect(judgeAs("manifest", manifest)).toEqual([]);
  });
  test.each(sections)("section %s is there and holds a file", (_, path) => {
    const found = listFiles("skeleton/ai").filter((file) => `${file}/`.startsWith(`skeleton/ai/${path}/`));
    expect(found).not.toEqual([]);
    expect(statSync(join(root, "skeleton/ai", path)).isFile()).toBe(path.endsWith(".yaml"));
  });
  test("policy.yaml meets its schema and names an existing default profile", () => {
    expect(judgeAs("policy", policy)).toEqual([]);
    expect(profileNames).toContain((policy["profiles"] as Members)["default"]);
  });
  test("scope.yaml meets its schema", () => {
    expect(judgeAs("scope", readYaml("skeleton/ai/repo/scope.yaml"))).toEqual([]);
  });
  test.each(profileNames)("profile %s meets its schema and is named after its file", (name) => {
    const profile = readYaml(`skeleton/ai/repo/profiles/${name}.yaml`);
    expect(judgeAs("profile", profile)).toEqual([]);
    expect(profile["name"]).toBe(name);
  });
  test.each(readmes)("%s carries a context contract and one title", (path) => {
    const { front, body } = readFront(path);
    const expected = { schema: "context/v1", kind: "context", status: "active", providers: "*", composition: "extend" };
    expect(front).toMatchObject(expected);
    expect(["directory", "subtree"]).toContain(front["scope"]);
    expect(headings(body)).toEqual([front["title"]]);
  });
  test("context contracts have ids of their own", () => {
    const ids = readmes.map((path) => readFront(path).front["id"]);
    expect(new Set(ids).size).toBe(ids.length);
  });
  test.each(["decisions.md", "open-questions.md"])("%s holds no entry yet", (name) => {
    const seen = readText(`skeleton/local/state/${name}`).replace(/<!--[\s\S]*?-->/g, "");
    expect(seen.trim()).toMatch(/^# [^\n]+$/);
  });
});

describe("schemas", () => {
  const kinds = listFiles("schemas").map((path) => path.replace(/^schemas\/|\.v1\.schema\.json$/g, ""));
  const [task, time, head] = ["t-20260101000000-abcd", "2026-01-01T00:00:00Z", "NONE"];
  const place = { branch: "main", head, working_tree: "clean", repository_id: "/r/.git", worktree: "/r" };
  const record = { id: task, task: "x", profile: "routine", scope: ["lib"], started_at: time, outcome: "active" };
  const files = { changed_files: ["a"], changed_files_excluded: 0 };
  const note = {
    schema_version: 1,
    created_at: time,
    task_id: "none",
    profile: "none",
    owner: "a",
    ...place,
    ...files,
  };
  const line = { ts: time, head, branch: "main", by: "reeve/1.0.0" };

  test.each(kinds)("%s names its kind and draft and refuses a value of another shape", (kind) => {
    const schema = JSON.parse(readText(`schemas/${kind}.v1.schema.json`)) as Members;
    const draft = "https://json-schema.org/draft/2020-12/schema";
    expect(schema).toMatchObject({ $schema: draft, $id: `reeve.${kind}/v1` });
    expect(judgeAs(kind, { unheard_of: 1 })).not.toEqual([]);
  });
  test.each([
    ["policy", { version: 1 }, "ledger", { rotat: "auto" }],
    ["task", { ...record, ...place, exempt: { class: "chore", because: "y" } }, "outcome", "done"],
    ["handover", note, "head", "abc"],
    ["checkpoint", { ...note, changed_files_excluded_by: ["scope-generated=3"] }, "changed_files", ["../a"]],
    ["ledger-event", { ...line, event: "task.checkpoint" }, "event", "task.unheard"],
    ["ledger-event", { ...line, event: "ledger.rotated", archived: 1, kept: 0, archive: "a", more: 1 }, "kept", -1],
  ])("%s takes a whole value and refuses one member gone wrong", (kind, value, member, wrong) => {
    expect(judgeAs(kind, value)).toEqual([]);
    expect(judgeAs(kind, { ...value, [member]: wrong })).not.toEqual([]);
  });
});
