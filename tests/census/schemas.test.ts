import * as fs from "node:fs";
import { decodeDocument } from "@reeve/core/documents/decode.ts";
import { findPolicyValue, type PolicyKey, policyKeys } from "@reeve/core/policy/values.ts";
import { type EventSchema, envelopeMembers, events } from "@reeve/core/records/events.ts";
import { outcomes, parseTask } from "@reeve/core/work/task.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly oneOf?: readonly Schema[];
  readonly $defs?: Readonly<Record<string, Schema>>;
}

function readSchema(name: string): Schema {
  return JSON.parse(fs.readFileSync(`share/schemas/${name}.v1.schema.json`, "utf8")) as Schema;
}

function readSkeleton(path: string): string {
  return fs.readFileSync(`share/skeleton/ai/repo/${path}`, "utf8");
}

describe("ledger events", () => {
  const schema = readSchema("ledger-event");
  const named = (schema.oneOf ?? []).map((entry) => (entry.$ref ?? "").replace("#/$defs/", ""));

  test("are the same set in the code and in the shipped schema", () => {
    expect([...named].sort()).toEqual(Object.keys(events).sort());
    for (const name of named) expect(schema.$defs?.[name]?.properties?.["event"]?.const).toBe(name);
  });

  test.each(Object.entries(events))("%s requires and allows the same members", (name, entry: EventSchema) => {
    const shipped = schema.$defs?.[name];
    const wanted = Object.keys(entry.requires).sort();
    expect((shipped?.required ?? []).filter((key) => key !== "event").toSorted()).toEqual(wanted);
    const members = Object.keys(shipped?.properties ?? {}).filter((key) => key !== "event");
    expect(members.sort()).toEqual([...wanted, ...Object.keys(entry.allows)].sort());
  });

  test("have one envelope", () => {
    expect(Object.keys(schema.properties ?? {}).sort()).toEqual([...envelopeMembers].sort());
  });
});

describe("policy keys", () => {
  const skeleton = decodeDocument("policy", readSkeleton("policy.yaml"));
  const schema = readSchema("policy");

  test.each(Object.keys(policyKeys) as PolicyKey[])("%s is in the skeleton and in the shipped schema", (key) => {
    expect(skeleton.ok && findPolicyValue(skeleton.value, key)).toBeDefined();
    let at: Schema | undefined = schema;
    for (const step of key.split(".")) at = at?.properties?.[step];
    expect(at).toBeDefined();
  });

  test("every key of the shipped schema is one the decoder knows, and the other way round", () => {
    const blocks = Object.entries(schema.properties ?? {}).filter(([, block]) => block.properties !== undefined);
    expect(blocks.length).toBeGreaterThan(5);
    for (const [block, { properties }] of blocks) {
      for (const key of Object.keys(properties ?? {})) {
        const decoded = decodeDocument("policy", `version: 1\n${block}:\n  ${key}: [[x]]\n`);
        const said = decoded.ok ? "" : decoded.problems.map((problem) => problem.message).join();
        expect(said, `${block}.${key}`).not.toMatch(/unknown key/);
      }
    }
    const unknown = decodeDocument("policy", "version: 1\ncontext:\n  nope: 1\n");
    expect(unknown.ok ? "" : unknown.problems[0]?.message).toContain("unknown key");
  });
});

describe("profiles", () => {
  const schema = readSchema("profile");
  const files = fs.readdirSync("share/skeleton/ai/repo/profiles");

  test.each(files)("%s is decoded, and has no key the schema lacks", (file) => {
    const text = readSkeleton(`profiles/${file}`);
    expect(decodeDocument("profile", text)).toMatchObject({ ok: true, value: { name: file.replace(".yaml", "") } });
    const members = Object.keys(parse(text) as object);
    expect(members.filter((key) => !Object.hasOwn(schema.properties ?? {}, key))).toEqual([]);
    for (const key of schema.required ?? []) expect(members).toContain(key);
  });

  test("a profile without a required key is refused by the decoder too", () => {
    const [file = ""] = files;
    for (const key of schema.required ?? []) {
      const text = readSkeleton(`profiles/${file}`).replace(new RegExp(`^${key}: .*$`, "m"), "");
      expect(decodeDocument("profile", text).ok, key).toBe(false);
    }
  });
});

describe("the task record", () => {
  const schema = readSchema("task");
  const task = {
    id: "t-20260101000000-abcd",
    task: "x",
    profile: "p",
    owner: "o",
    scope: ["src"],
    started_at: "2026-01-01T00:00:00Z",
    outcome: "active",
  };

  test("has the outcomes of the code", () => {
    expect(schema.properties?.["outcome"]?.enum).toEqual([...outcomes]);
  });

  test("has the members of the decoder", () => {
    for (const key of Object.keys(schema.properties ?? {})) {
      const said = (): unknown => parseTask({ ...task, [key]: Symbol.for("x") } as never);
      expect(said, key).toThrow(new RegExp(`'${key}' is not`));
    }
    for (const key of schema.required ?? []) {
      const lacking = Object.fromEntries(Object.entries(task).filter(([name]) => name !== key));
      expect(() => parseTask(lacking), key).toThrow(`'${key}' is missing`);
    }
    expect(schema.additionalProperties).toBe(false);
    expect(parseTask(task)).toMatchObject(task);
  });
});
