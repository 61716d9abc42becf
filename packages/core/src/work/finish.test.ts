import { describe, expect, test } from "vitest";
import type { Policy } from "../policy/policy.ts";
import { parseLedger } from "../records/ledger.ts";
import { parseQuestions, renderQuestion } from "../records/questions.ts";
import type { DoctrineInput, FinishRequest } from "../rules/doctrine.ts";
import type { Rule } from "../rules/rule.ts";
import { type Contract, evaluateContract } from "./finish.ts";

const keys = ["scope_respected", "verification_ran", "no_open_blockers", "note_present"];
const id = "t-20260903193012-a4f1";

function rule(validator: string, policyKey?: string): Rule {
  const words = { title: "a", description: "b", statement: "c", path: `${validator}.md` };
  const base = { version: 1, kind: "rule", status: "active", class: "blocking", depends_on: [] } as const;
  const block = {
    validator,
    enforced_by: ["finish" as const],
    ...(policyKey === undefined ? {} : { policy_key: policyKey }),
  };
  return { id: `reeve.${validator}`, ...base, ...words, "x-reeve": block };
}

const rules = [
  rule("profile-requirements"),
  rule("note-integrity", "note_present"),
  rule("blocker-resolution", "no_open_blockers"),
  rule("verification-integrity", "verification_ran"),
  rule("scope-integrity", "scope_respected"),
];

interface Asked {
  readonly outcome?: FinishRequest["outcome"];
  readonly requires?: readonly string[];
  readonly only?: readonly string[];
  readonly touched?: readonly string[];
  readonly question?: boolean;
  readonly verified?: boolean;
  readonly note?: string;
  readonly problems?: boolean;
}

function inputOf(asked: Asked): DoctrineInput {
  const policy = {
    version: 1,
    verification: { finish_requires: asked.requires ?? keys },
    handover: { required_sections: ["Objective"] },
  } as Policy;
  const result = { exit: 0, milliseconds: 1, ended: "exited", tail: "" } as const;
  const verification = { command: "true", result, treeBefore: "a", treeAfter: "a" };
  return {
    policy,
    ledger: parseLedger(Buffer.from("")),
    questions: parseQuestions(asked.question ? renderQuestion(id, "why", "2026-09-03") : ""),
    subject: {
      task: { id, scope: ["src"] },
      profile: { name: "debugging", verification: { verify_command_required: true, regression_test_required: true } },
      touched: (asked.touched ?? ["src/a.test.ts"]).map((path) => ({ path, commit: undefined })),
    },
    finish: {
      outcome: asked.outcome ?? "completed",
      verification: asked.verified === false ? undefined : verification,
      note: { body: asked.note ?? "# Objective\na\n# Next Action\nb\n# Reason\nc\n", from: "--note" },
    },
  } as unknown as DoctrineInput;
}

function evaluate(asked: Asked = {}): Promise<Contract> {
  const problem = { level: "FAIL", category: "rules", subject: "a.md", message: "broken", reproduce: "x" } as const;
  const set = { rules, problems: asked.problems ? [problem] : [] };
  const only = asked.only === undefined ? {} : { only: asked.only };
  return evaluateContract({ set, input: inputOf(asked), outcome: asked.outcome ?? "completed", ...only });
}

describe("evaluateContract", () => {
  test("evaluateContract passes where every line is met, in the policy's order, then what has no key", async () => {
    const { states, unmet } = await evaluate();
    expect(unmet).toEqual([]);
    expect(Object.entries(states)).toEqual([
      ["reeve.scope-integrity", "pass"],
      ["reeve.verification-integrity", "pass"],
      ["reeve.blocker-resolution", "pass"],
      ["reeve.note-integrity", "pass"],
      ["reeve.profile-requirements", "pass"],
    ]);
  });

  test.each<[string, Asked, string]>([
    ["a file outside", { touched: ["src/a.test.ts", "docs/a"] }, "reeve.scope-integrity"],
    ["nothing run", { verified: false }, "reeve.verification-integrity"],
    ["an open question", { question: true }, "reeve.blocker-resolution"],
    ["a note without its section", { note: "text" }, "reeve.note-integrity"],
    ["no regression test", { touched: ["src/a.ts"] }, "reeve.profile-requirements"],
  ])("evaluateContract is not met by %s, and still judges every other line", async (_what, asked, rule) => {
    const { states, unmet, findings } = await evaluate(asked);
    expect(unmet).toEqual([rule]);
    expect(states[rule]).toBe("fail");
    expect(Object.values(states).filter((state) => state === "pass").length).toBe(4);
    expect(findings.some((finding) => finding.level === "FAIL")).toBe(true);
  });

  test("evaluateContract refuses a key that no rule defines", async () => {
    const { unmet, findings } = await evaluate({ requires: [...keys, "gates_passed"] });
    expect(unmet).toEqual(["gates_passed"]);
    expect(findings.filter((finding) => finding.level === "FAIL")).toMatchObject([
      { subject: "gates_passed", reproduce: "reeve check --explain" },
    ]);
  });

  test.each(["toString", "__proto__", ""])(
    "evaluateContract refuses the key %j, which no rule defines",
    async (key) => {
      expect((await evaluate({ requires: [key] })).unmet).toContain(key);
    },
  );

  test("evaluateContract leaves out a rule whose key the policy does not require", async () => {
    const { states, unmet } = await evaluate({ requires: ["note_present"], question: true, verified: false });
    expect(unmet).toEqual([]);
    expect(Object.keys(states)).toEqual(["reeve.note-integrity", "reeve.profile-requirements"]);
  });

  test.each<[FinishRequest["outcome"], readonly string[]]>([
    ["completed", []],
    ["partial", ["reeve.verification-integrity", "reeve.profile-requirements"]],
    ["no_match", ["reeve.verification-integrity", "reeve.profile-requirements"]],
    ["failed", ["reeve.verification-integrity", "reeve.profile-requirements"]],
    ["blocked", ["reeve.verification-integrity", "reeve.blocker-resolution", "reeve.profile-requirements"]],
  ])("evaluateContract skips under the outcome %s the lines %j", async (outcome, skipped) => {
    const { states } = await evaluate({ outcome, verified: false, question: true, touched: ["src/a.ts"] });
    expect(Object.entries(states).flatMap(([rule, state]) => (state === "skipped" ? [rule] : []))).toEqual(skipped);
  });

  test.each<FinishRequest["outcome"]>(["partial", "no_match", "failed", "blocked"])(
    "evaluateContract holds the scope and the note to be met under the outcome %s",
    async (outcome) => {
      const { unmet } = await evaluate({ outcome, touched: ["docs/a"], note: "text" });
      expect(unmet).toEqual(["reeve.scope-integrity", "reeve.note-integrity"]);
    },
  );

  test("evaluateContract is not met while the rules cannot be trusted to be complete", async () => {
    const { unmet, findings } = await evaluate({ problems: true });
    expect(unmet).toEqual(["rules"]);
    expect(findings[0]?.message).toBe("broken");
  });

  test("evaluateContract judges for a check only the keys it is asked for", async () => {
    const asked = { only: ["scope_respected", "state_updated"], question: true, verified: false, note: "" };
    const { states, unmet } = await evaluate(asked);
    expect(Object.keys(states)).toEqual(["reeve.scope-integrity"]);
    expect(unmet).toEqual([]);
  });

  test("evaluateContract refuses a policy without the list of what finish requires", async () => {
    const input = { ...inputOf({}), policy: { version: 1 } as Policy };
    await expect(evaluateContract({ set: { rules, problems: [] }, input, outcome: "completed" })).rejects.toMatchObject(
      {
        code: "POLICY_INVALID",
      },
    );
  });
});
