/** What of a finished vitest run the verdict reads; vitest's own `TestModule` has this shape. */
export interface RanModule {
  readonly relativeModuleId: string;
  readonly children: { allTests(): Iterable<RanTest>; allSuites(): Iterable<RanSuite> };
  state(): string;
  errors(): readonly unknown[];
}

export interface RanSuite {
  readonly fullName: string;
  errors(): readonly unknown[];
}

export interface RanTest {
  readonly fullName: string;
  readonly options: { readonly mode: string };
  readonly parent: { errors(): readonly unknown[] };
  result(): { readonly state: string; readonly note?: string | undefined };
}

export interface Run {
  readonly modules: readonly RanModule[];
  readonly unhandledErrors: number;
  /** Where only tests of a certain name were asked for; the others are no part of the run. */
  readonly namePattern: RegExp | undefined;
}

export interface Verdict {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** Failures that belong to no single test. */
  readonly besides: readonly string[];
}

/** Counts tests. A file that did not load, a group whose setup failed and a stray error count as one failure each. */
export function deriveVerdict(run: Run): Verdict {
  const skipped: { name: string; reason: string }[] = [];
  const besides: string[] = [];
  let passed = 0;
  let failed = 0;
  for (const module of run.modules) {
    for (const test of module.children.allTests()) {
      const { state, note } = test.result();
      if (state === "passed") passed += 1;
      else if (state !== "skipped") failed += 1;
      else if (isSelected(test, run.namePattern)) {
        skipped.push({ name: `${module.relativeModuleId}: ${test.fullName}`, reason: note ?? deriveReason(test) });
      }
    }
    if (module.errors().length > 0) besides.push(`${module.relativeModuleId} failed outside its tests`);
    else if (module.state() === "pending" || module.state() === "queued")
      besides.push(`${module.relativeModuleId} did not run`);
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0)
        besides.push(`${module.relativeModuleId}: the setup of "${suite.fullName}" failed`);
    }
  }
  if (run.unhandledErrors > 0) besides.push(`errors that no test caught: ${run.unhandledErrors}`);
  return { passed, failed: failed + besides.length, skipped, besides };
}

/** The last lines of a run; the very last is the count. */
export function renderVerdict(verdict: Verdict): string {
  const lines = [
    ...verdict.besides.map((line) => `FAILED ${line}`),
    ...verdict.skipped.map(({ name, reason }) => `SKIPPED ${name} (${reason})`),
    `${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped.length} skipped`,
  ];
  return `${lines.join("\n")}\n`;
}

/** A run without a single test proves nothing, and so fails. */
export function isGood(verdict: Verdict): boolean {
  return verdict.failed === 0 && verdict.passed > 0;
}

// Vitest matches the pattern against the names joined by spaces and reports them joined by " > ".
function isSelected(test: RanTest, pattern: RegExp | undefined): boolean {
  return pattern === undefined || pattern.test(test.fullName.replaceAll(" > ", " "));
}

function deriveReason(test: RanTest): string {
  if (test.parent.errors().length > 0) return "its setup failed";
  if (test.options.mode === "todo") return "marked as to be written";
  return test.options.mode === "skip" ? "marked as skipped, without a reason" : "without a reason";
}
