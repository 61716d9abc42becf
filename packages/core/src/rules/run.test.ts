import { describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import type { Layer } from "../layer/layer.ts";
import { parseLedger } from "../records/ledger.ts";
import { parseQuestions } from "../records/questions.ts";
import type { DoctrineInput } from "./doctrine.ts";
import type { Rule } from "./rule.ts";
import { findRule, runRule, runRules, selectRules } from "./run.ts";

function rule(id: string, block: Rule["x-reeve"] = {}, more: Partial<Rule> = {}): Rule {
  const words = { title: "a", description: "b", statement: "c", path: `.ai/repo/rules/project/${id}.md` };
  const base = { id, version: 1, kind: "rule", status: "active", class: "blocking", depends_on: [] } as const;
  return { ...base, ...words, ...more, "x-reeve": block };
}

function input(changes: Partial<DoctrineInput> = {}): DoctrineInput {
  const whole = { ledger: parseLedger(Buffer.from("")), questions: parseQuestions(""), layer: {} as Layer, ...changes };
  return whole as unknown as DoctrineInput;
}

const broken = input({ ledger: parseLedger(Buffer.from("{\n")) });

describe("selectRules", () => {
  test("selectRules takes the rules a command enforces, in the order of the registry", () => {
    const rules = [
      rule("here.c", { validator: "note-integrity", enforced_by: ["finish"] }),
      rule("here.b", { validator: "scope-integrity", enforced_by: ["check", "finish"] }),
      rule("here.a", { validator: "ledger-integrity", enforced_by: ["doctor", "finish"] }),
      rule("here.text", { reviewed_because: "nobody can run it" }),
      rule("here.idle", { validator: "scope-integrity" }),
    ];
    const selected = (by: DoctrineInput["runBy"]): string[] =>
      selectRules({ rules, problems: [] }, by).map((one) => one.id);
    expect(selected("finish")).toEqual(["here.a", "here.b", "here.c"]);
    expect(selected("check")).toEqual(["here.b"]);
    expect(selected("doctor")).toEqual(["here.a"]);
  });
});

describe("findRule", () => {
  const rules = [rule("reeve.scope-integrity"), rule("here.note")];

  test("findRule finds a rule by its whole id and without its namespace", () => {
    expect(findRule(rules, "reeve.scope-integrity")).toBe(rules[0]);
    expect(findRule(rules, "note")).toBe(rules[1]);
  });

  test("findRule refuses an id nobody enforces and lists those there are", () => {
    expect(() => findRule(rules, "scope")).toThrow(
      expect.objectContaining({ code: "NOT_FOUND", hint: expect.stringContaining("scope-integrity, note") }),
    );
  });
});

describe("runRule", () => {
  test("runRule fails closed where the validator does not exist", async () => {
    const { findings } = await runRule(rule("here.a", { validator: "nobody", category: "odd" }), input());
    expect(findings).toMatchObject([
      { level: "FAIL", category: "odd", subject: "here.a", message: expect.stringContaining("'nobody'") },
    ]);
    expect(findings[0]?.reproduce).toBe("reeve doctor --rule a");
  });

  test.each(["toString", "__proto__", "constructor"])("runRule knows no validator %s", async (validator) => {
    expect((await runRule(rule("here.a", { validator }), input())).findings).toMatchObject([{ level: "FAIL" }]);
  });

  test("runRule fails closed where the validator stops with an error a person can act on", async () => {
    const layer = {
      read: () => {
        throw new ReeveError("UNREADABLE", "decisions.md: cannot be read");
      },
    } as unknown as Layer;
    const { findings } = await runRule(rule("here.a", { validator: "decision-records" }), input({ layer }));
    expect(findings).toMatchObject([{ level: "FAIL", message: "decisions.md: cannot be read" }]);
  });

  test("runRule lets a defect of a validator stop the command", async () => {
    await expect(runRule(rule("here.a", { validator: "scope-integrity" }), input())).rejects.toThrow();
  });

  test("runRule turns what an advisory rule finds into warnings, and nothing of a blocking one", async () => {
    const levels = async (kind: Rule["class"]): Promise<string[]> => {
      const found = await runRule(rule("here.a", { validator: "ledger-integrity" }, { class: kind }), broken);
      return found.findings.map((finding) => finding.level);
    };
    expect(await levels("blocking")).toEqual(["FAIL"]);
    expect(await levels("advisory")).toEqual(["WARN"]);
  });
});

describe("runRules", () => {
  test("runRules reports on every rule in turn, also after one failed", async () => {
    const rules = [
      rule("here.a", { validator: "nobody" }),
      rule("here.b", { validator: "questions-store-integrity" }),
      rule("here.c", { validator: "ledger-integrity" }),
    ];
    const reports = await runRules(rules, broken);
    expect(reports.map((report) => [report.rule.id, report.findings[0]?.level])).toEqual([
      ["here.a", "FAIL"],
      ["here.b", "OK"],
      ["here.c", "FAIL"],
    ]);
  });
});
