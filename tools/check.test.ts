import { describe, expect, test } from "vitest";
import { listSteps, runSteps } from "./check.ts";

function run(steps: Parameters<typeof runSteps>[0]): { exit: number; lines: string[] } {
  let text = "";
  const exit = runSteps(steps, (part) => {
    text += part;
  });
  return {
    exit,
    lines: text
      .replace(/\(\d+\.\d s\)/g, "(time)")
      .trimEnd()
      .split("\n"),
  };
}

describe("runSteps", () => {
  test("gives 0 and one line for each check that found nothing", () => {
    const steps = [
      { heading: "types", run: () => [] },
      { heading: "sizes", run: () => [] },
    ];
    expect(run(steps)).toEqual({
      exit: 0,
      lines: ["ok      types  (time)", "ok      sizes  (time)", "2 checks passed"],
    });
  });

  test("runs what comes after a failure and after a check that breaks, and gives 1", () => {
    const steps = [
      { heading: "types", run: () => ["a.ts:1 wrong\na.ts:2 wrong"] },
      {
        heading: "boundaries",
        run: () => {
          throw new Error("no such file");
        },
      },
      { heading: "sizes", run: () => [] },
    ];
    expect(run(steps)).toEqual({
      exit: 1,
      lines: [
        "FAILED  types  (time)",
        "    a.ts:1 wrong",
        "    a.ts:2 wrong",
        "FAILED  boundaries  (time)",
        "    no such file",
        "ok      sizes  (time)",
        "2 of 3 checks failed",
      ],
    });
  });
});

test("listSteps names every check of the repository", () => {
  expect(listSteps("/nowhere").map((step) => step.heading)).toEqual([
    "format and lint",
    "types",
    "boundaries between packages and features",
    "who touches the machine",
    "who writes files, and their forms",
    "dead code",
    "generated documents up to date",
    "paths named in documents",
    "sizes of files and functions",
    "dependencies and lockfile",
  ]);
});
