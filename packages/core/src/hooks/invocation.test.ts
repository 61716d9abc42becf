import { describe, expect, test } from "vitest";
import { type CallQuestion, judgeCall } from "./invocation.ts";

function judge(text: string, more: Partial<CallQuestion> = {}): string {
  const verdict = judgeCall({ text, program: "reeve", first: "doctor", form: "script", ...more });
  return verdict.kind === "absent" ? "absent" : `${verdict.kind} ${verdict.line}`;
}

describe("judgeCall", () => {
  test.each([
    "",
    "npm test",
    "# reeve doctor || exit $?",
    "npm test # reeve doctor",
    "reeve finish --check",
    "reeve",
    "reeve doctors",
    "preeve doctor",
    "reeve-x doctor",
    "reevex doctor",
  ])("judgeCall finds no call in %j", (text) => {
    expect(judge(text)).toBe("absent");
  });

  test("judgeCall names the line of a call", () => {
    expect(judge("#!/bin/sh\n\nnpm test\nreeve doctor || exit $?\n")).toBe("enforced 4");
    expect(judge("#!/bin/sh\r\nreeve doctor || true\r\n")).toBe("swallowed 2");
    expect(judge("npm test\nreeve doctor\nnpm run more\n")).toBe("unproven 2");
  });

  test.each(["|| true", "|| :", "|| exit 0", "||true", "||  :  ;", "|| true # why not"])(
    "judgeCall takes '%s' for swallowing",
    (after) => {
      expect(judge(`reeve doctor ${after}`)).toBe("swallowed 1");
    },
  );

  test("judgeCall takes the program's name as it is, whatever characters it has", () => {
    expect(judge("re+ve do.tor || exit $?", { program: "re+ve", first: "do.tor" })).toBe("enforced 1");
    expect(judge("reve dontor || exit $?", { program: "re+ve", first: "do.tor" })).toBe("absent");
  });

  test("judgeCall reads a runner's configuration", () => {
    const yaml = (run: string, more = ""): string =>
      judge(`pre-commit:\n  commands:\n    reeve:\n      run: ${run}\n${more}`, { form: "yaml" });
    expect(yaml("reeve doctor")).toBe("enforced 4");
    expect(yaml('"reeve doctor"')).toBe("enforced 4");
    expect(yaml("reeve doctor || true")).toBe("swallowed 4");
    expect(yaml("reeve doctor", "      continue-on-error: true\n")).toBe("unproven 4");
    expect(yaml("npm test")).toBe("absent");
    expect(judge("# run: reeve doctor\n", { form: "yaml" })).toBe("absent");
  });
});
