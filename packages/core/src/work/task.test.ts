import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openDocumentReader } from "../documents/reader.ts";
import { ReeveError } from "../findings/errors.ts";
import type { Layer } from "../layer/layer.ts";
import type { System } from "../system/port.ts";
import { archivePath, completedPath, isActive, outcomes, parseTask, readTask, renderTask, type Task } from "./task.ts";

const task: Task = {
  id: "t-20260903193012-a4f1",
  task: "fix the callback",
  profile: "implementation",
  owner: "ada",
  scope: ["src/auth", "läs mig"],
  started_at: "2026-09-03T19:30:12Z",
  outcome: "active",
  requires: ["migration-note"],
  issue: "i-1",
  intent: "fast#one",
  exempt: { class: "chore", because: "nothing changes: for users" },
  checkpoint_at: "2026-09-03T20:30:12Z",
  repository_id: "/some where/.git",
  worktree: "/some where",
  branch: "main",
  head: "b".repeat(40),
  working_tree: "clean",
  policy_sha256: "0".repeat(64),
};
const required = ["id", "task", "profile", "scope", "started_at", "outcome"];
const members: Readonly<Record<string, unknown>> = { ...task };

function layerOf(text: string | undefined): Layer {
  const documents = openDocumentReader({ system: {} as System, cache: undefined, keep: false, version: "1" });
  return { documents, read: () => text } as unknown as Layer;
}

function refusal(value: Readonly<Record<string, unknown>>): ReeveError {
  try {
    parseTask(value);
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("parseTask", () => {
  test("parseTask accepts a whole record, and one of the required members alone", () => {
    expect(parseTask(members)).toEqual(task);
    const least = Object.fromEntries(Object.entries(members).filter(([key]) => required.includes(key)));
    expect(parseTask(least)).toEqual({ ...least, owner: "unknown" });
  });

  test.each(required)("parseTask refuses a record without %s", (key) => {
    const { [key]: _left, ...rest } = members;
    expect(refusal(rest)).toMatchObject({
      code: "RECORD_DAMAGED",
      message: expect.stringContaining(`'${key}' is missing`),
    });
  });

  test.each<[string, readonly unknown[]]>([
    ["id", ["", 5, null, "t-1", "t-20260903193012-A4F1", "t-20260903193012-a4f1/../x", "t-20260903193012-a4f1\n"]],
    ["task", ["", 5, null, []]],
    ["profile", ["", 5, null]],
    ["owner", ["", 5, null]],
    ["scope", [[], "src", [""], [5], null, {}, ["src", null]]],
    [
      "started_at",
      ["", "now", "2026-09-03", "2026-09-03T19:30:12", "2026-09-03T19:30:12.5Z", "2026-13-45T99:99:99Z", 5],
    ],
    ["outcome", ["", "done", "Active", 5, null, ["active"]]],
    ["requires", ["a", [5], [""], null]],
    ["issue", ["", 5, null]],
    ["intent", ["", 5, null]],
    ["exempt", ["a", 5, null, [], {}, { class: "a" }, { class: "a", because: 5 }]],
    ["checkpoint_at", ["", "now", 5]],
    ["repository_id", ["", 5]],
    ["worktree", ["", 5]],
    ["branch", ["", 5]],
    ["head", ["", "b71e0c9", "HEAD", "g".repeat(40), 5]],
    ["working_tree", ["", "Clean", true]],
    ["policy_sha256", ["", 5]],
  ])("parseTask refuses a wrong %s and names it", (key, values) => {
    for (const value of values) {
      const error = refusal({ ...members, [key]: value });
      expect(error.code, JSON.stringify(value)).toBe("RECORD_DAMAGED");
      expect(error.message).toContain(`'${key}' is not `);
      expect(error.hint).not.toBe("");
    }
  });

  test.each(["/etc", "..", "../outside", "src/../../outside", "src/.."])(
    "parseTask refuses the scope %s, which is no path inside the repository",
    (path) => {
      expect(refusal({ ...members, scope: ["src", path] })).toMatchObject({
        code: "RECORD_DAMAGED",
        message: expect.stringContaining(path),
      });
    },
  );

  test("parseTask asks of a record that names its worktree where that stood", () => {
    for (const key of ["branch", "head"]) {
      const { [key]: _left, ...rest } = members;
      expect(refusal(rest).message).toContain(`'${key}' is missing`);
      const { worktree: _there, ...local } = rest;
      expect(parseTask(local).id).toBe(task.id);
    }
  });

  test("parseTask covers every member it knows", () => {
    expect(Object.keys(members).length).toBe(18);
  });

  test.each([
    ["scop", "scope"],
    ["outcom", "outcome"],
    ["checkpoint", "checkpoint_at"],
  ])("parseTask refuses the key %s and guesses %s", (key, meant) => {
    expect(refusal({ ...members, [key]: "x" })).toMatchObject({
      message: expect.stringContaining(`unknown key '${key}'`),
      hint: `did you mean '${meant}'?`,
    });
  });

  test.each(["constructor", "toString", "__proto__"])("parseTask refuses the key %s", (key) => {
    const value = Object.defineProperty({ ...members }, key, { value: "x", enumerable: true });
    expect(refusal(value).message).toContain(`unknown key '${key}'`);
  });
});

describe("readTask", () => {
  test("readTask answers nothing where there is no record", async () => {
    expect(await readTask(layerOf(undefined))).toBeUndefined();
  });

  test("readTask reads back whatever renderTask wrote", async () => {
    const text = fc.oneof(fc.string({ minLength: 1 }), fc.string({ unit: "binary", minLength: 1 }));
    const record = fc.record(
      {
        task: text,
        owner: text,
        scope: fc.array(
          text.filter((path) => !path.startsWith("/") && !path.split("/").includes("..")),
          { minLength: 1 },
        ),
        branch: text,
        exempt: fc.record({ class: text, because: text }),
        outcome: fc.constantFrom(...outcomes),
        head: fc.constantFrom("NONE", "a".repeat(40), "a".repeat(64)),
      },
      { noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(record, async (changes) => {
        const written = { ...task, ...changes };
        expect(await readTask(layerOf(renderTask(written)))).toEqual(written);
      }),
      { numRuns: 200 },
    );
  });

  test("readTask reads a record edited by hand as YAML", async () => {
    const text = `# mine\n${renderTask(task)}`.replace(/^scope:.*$/m, "scope:\n  - src/auth\n  - läs mig");
    expect(await readTask(layerOf(text))).toEqual(task);
  });

  test.each([
    ["an unknown key", "scop: x\n"],
    ["a key twice", "owner: bob\n"],
    ["a key of every object", "constructor: x\n"],
    ["a prototype", '__proto__: {"owner":"eve"}\n'],
    ["bytes that are no YAML", "\u0000: [\n"],
    ["a conflict", "<<<<<<< HEAD\n"],
  ])("readTask refuses a record with %s", async (_what, row) => {
    await expect(readTask(layerOf(`${renderTask(task)}${row}`))).rejects.toMatchObject({ code: "RECORD_DAMAGED" });
  });

  test.each(["", "\n", "# nothing\n", "[]\n", "text\n", "~\n"])("readTask refuses the record %j", async (text) => {
    await expect(readTask(layerOf(text))).rejects.toMatchObject({ code: "RECORD_DAMAGED" });
  });

  test("readTask names the line of YAML that does not parse", async () => {
    await expect(readTask(layerOf(`${renderTask(task)}# a comment\nx: 'y\n`))).rejects.toMatchObject({
      message: expect.stringMatching(/current\.yaml:(19|2\d)/),
    });
  });
});

describe("isActive", () => {
  test("isActive is true of the outcome active alone", () => {
    expect(outcomes.filter((outcome) => isActive({ ...task, outcome }))).toEqual(["active"]);
    expect(isActive(undefined)).toBe(false);
  });

  test("archivePath and completedPath name one file a task", () => {
    expect(archivePath(task.id)).toBe(`.ai/local/state/archive/${task.id}.yaml`);
    expect(completedPath(task.id)).toBe(`.ai/local/state/completed/${task.id}.md`);
  });
});
