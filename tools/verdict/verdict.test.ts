import { describe, expect, test } from "vitest";
import { deriveVerdict, isGood, type RanModule, type RanTest, renderVerdict } from "./verdict.ts";

interface TestFacts {
  readonly name?: string;
  readonly state?: string;
  readonly note?: string;
  readonly mode?: string;
  readonly groupErrors?: number;
}

function ran(facts: TestFacts): RanTest {
  return {
    fullName: facts.name ?? "group > one",
    options: { mode: facts.mode ?? "run" },
    parent: { errors: () => Array.from({ length: facts.groupErrors ?? 0 }) },
    result: () => ({ state: facts.state ?? "passed", note: facts.note }),
  };
}

function moduleOf(
  tests: readonly RanTest[],
  trouble: { errors?: number; suites?: number; state?: string } = {},
): RanModule {
  const errors = (count = 0): readonly unknown[] => Array.from({ length: count });
  return {
    relativeModuleId: "a.test.ts",
    children: {
      allTests: () => tests,
      allSuites: () => [{ fullName: "group", errors: () => errors(trouble.suites) }],
    },
    state: () => trouble.state ?? "passed",
    errors: () => errors(trouble.errors),
  };
}

function verdictOf(module: RanModule, more: { unhandledErrors?: number; namePattern?: RegExp } = {}) {
  return deriveVerdict({ modules: [module], unhandledErrors: 0, namePattern: undefined, ...more });
}

describe("deriveVerdict", () => {
  test("counts passed, failed and unfinished tests, and lists skipped ones", () => {
    const states = ["passed", "passed", "failed", "pending", "skipped"];
    const verdict = verdictOf(moduleOf(states.map((state) => ran({ state }))));
    expect(verdict).toMatchObject({ passed: 2, failed: 2, besides: [] });
    expect(verdict.skipped).toHaveLength(1);
  });

  test("counts a file that did not load, a failed setup and stray errors", () => {
    const loaded = verdictOf(moduleOf([ran({})], { errors: 1, suites: 1 }), { unhandledErrors: 2 });
    expect(loaded).toMatchObject({ passed: 1, failed: 3 });
    expect(loaded.besides).toEqual([
      "a.test.ts failed outside its tests",
      'a.test.ts: the setup of "group" failed',
      "errors that no test caught: 2",
    ]);
    expect(verdictOf(moduleOf([], { state: "pending" })).besides).toEqual(["a.test.ts did not run"]);
  });

  test.each([
    [{ note: "no Chromium here" }, "no Chromium here"],
    [{ mode: "skip" }, "marked as skipped, without a reason"],
    [{ mode: "todo" }, "marked as to be written"],
    [{ mode: "skip", groupErrors: 1 }, "its setup failed"],
    [{}, "without a reason"],
  ])("gives the reason of a test skipped with %o", (facts, reason) => {
    const verdict = verdictOf(moduleOf([ran({ ...facts, state: "skipped" })]));
    expect(verdict.skipped).toEqual([{ name: "a.test.ts: group > one", reason }]);
  });

  test("leaves out what a name pattern did not ask for", () => {
    const tests = [ran({}), ran({ name: "group > two", state: "skipped" }), ran({ state: "skipped", note: "no git" })];
    const verdict = verdictOf(moduleOf(tests), { namePattern: /group one/ });
    expect(verdict).toMatchObject({ passed: 1, failed: 0, skipped: [{ reason: "no git" }] });
  });
});

describe("renderVerdict", () => {
  test("ends with the counts, after what failed outside tests and what was skipped", () => {
    const verdict = { passed: 3, failed: 1, skipped: [{ name: "a: b", reason: "no git" }], besides: ["c did not run"] };
    expect(renderVerdict(verdict)).toBe("FAILED c did not run\nSKIPPED a: b (no git)\n3 passed, 1 failed, 1 skipped\n");
  });
});

describe("isGood", () => {
  test("wants no failure and at least one test that passed", () => {
    const verdict = { passed: 1, failed: 0, skipped: [], besides: [] };
    expect(isGood(verdict)).toBe(true);
    expect(isGood({ ...verdict, failed: 1 })).toBe(false);
    expect(isGood({ ...verdict, passed: 0 })).toBe(false);
  });
});
