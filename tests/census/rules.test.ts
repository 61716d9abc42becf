import * as fs from "node:fs";
import { decodeDocument } from "@reeve/core/documents/decode.ts";
import { splitFrontMatter } from "@reeve/core/documents/front-matter.ts";
import { doctrines } from "@reeve/core/rules/doctrines/registry.ts";
import type { RuleFrontMatter } from "@reeve/core/rules/rule.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const sources = "packages/core/src/rules/doctrines";
const shipped = fs.readdirSync("share/rules").filter((name) => name.endsWith(".md"));

function readRule(name: string): RuleFrontMatter {
  const { yaml } = splitFrontMatter(fs.readFileSync(`share/rules/${name}`, "utf8"));
  const decoded = decodeDocument("rule", yaml ?? "");
  if (!decoded.ok) throw new Error(`${name}: ${JSON.stringify(decoded.problems)}`);
  return decoded.value;
}

const rules = shipped.map((file) => ({ file, rule: readRule(file) }));

describe("doctrines", () => {
  test("every file is registered once, under its own name", () => {
    const files = fs
      .readdirSync(sources)
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "registry.ts")
      .map((name) => name.slice(0, -".ts".length));
    expect(doctrines.map((doctrine) => doctrine.id).sort()).toEqual(files.sort());
  });

  test.each(doctrines.map((doctrine) => [doctrine.id, doctrine] as const))(
    "%s has its rule text, of its category",
    (id, doctrine) => {
      const mine = rules.filter(({ rule }) => rule["x-reeve"]?.validator === id);
      expect(mine.map(({ rule }) => rule.id)).toEqual([`reeve.${id}`]);
      expect(mine[0]?.file).toBe(`${id}.v${mine[0]?.rule.version}.md`);
      expect(mine[0]?.rule["x-reeve"]?.category).toBe(doctrine.category);
      expect(mine[0]?.rule["x-reeve"]?.enforced_by ?? []).not.toEqual([]);
    },
  );
});

describe("rule texts", () => {
  test("the manifest lists every shipped file once, with its id and version, each dependency before it", () => {
    const manifest = parse(fs.readFileSync("share/rules/manifest.yaml", "utf8")) as {
      readonly rules: readonly { readonly id: string; readonly version: number; readonly file: string }[];
    };
    expect(manifest.rules.map((entry) => entry.file).sort()).toEqual([...shipped].sort());
    const seen = new Set<string>();
    for (const entry of manifest.rules) {
      const rule = rules.find(({ file }) => file === entry.file)?.rule;
      expect(rule).toMatchObject({ id: entry.id, version: entry.version });
      for (const needed of rule?.depends_on ?? []) expect(seen, `${entry.id} needs ${needed}`).toContain(needed);
      seen.add(`${entry.id}@${entry.version}`);
    }
  });

  test("name validators that exist, and tests that exist", () => {
    const known = doctrines.map((doctrine) => doctrine.id);
    for (const { file, rule } of rules) {
      const block = rule["x-reeve"];
      if (block?.validator !== undefined) expect(known, file).toContain(block.validator);
      for (const path of block?.tests ?? []) expect(fs.existsSync(path), `${file}: ${path}`).toBe(true);
    }
  });

  test("define every finish key the shipped policy requires, each once", () => {
    const policy = parse(fs.readFileSync("share/skeleton/ai/repo/policy.yaml", "utf8")) as {
      readonly verification: { readonly finish_requires: readonly string[] };
    };
    const keys = rules.flatMap(({ rule }) => rule["x-reeve"]?.policy_key ?? []);
    expect(policy.verification.finish_requires).toEqual([
      "scope_respected",
      "verification_ran",
      "state_updated",
      "no_open_blockers",
      "note_present",
    ]);
    for (const key of policy.verification.finish_requires) expect(keys.filter((name) => name === key)).toHaveLength(1);
  });

  test("are run by the commands the product says", () => {
    const runBy = (command: "doctor" | "check" | "finish"): readonly string[] =>
      rules
        .flatMap(({ rule }) =>
          rule["x-reeve"]?.enforced_by?.includes(command) === true ? (rule["x-reeve"].validator ?? []) : [],
        )
        .sort();
    const doctor = [
      "ai-layout-integrity",
      "policy-integrity",
      "policy-completeness",
      "retention-caps",
      "enforcement-wiring",
    ];
    const records = ["ledger-integrity", "decision-records", "questions-store-integrity", "handover-integrity"];
    expect(runBy("doctor")).toEqual(expect.arrayContaining([...doctor, ...records]));
    const task = ["scope-integrity", "state-consistency", "blocker-resolution"];
    expect(runBy("check")).toEqual(expect.arrayContaining([...task, "checkpoint-freshness"]));
    expect(runBy("finish")).toEqual(
      expect.arrayContaining([...task, "verification-integrity", "note-integrity", "profile-requirements"]),
    );
  });
});
