import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallQuestion, type CallVerdict, judgeCall } from "./invocation.ts";

let folder: string;

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "reeve calls "));
  fs.writeFileSync(path.join(folder, "reeve"), '#!/bin/sh\n[ "$1" = doctor ] && exit 10\nexit 0\n', { mode: 0o755 });
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function judge(text: string, form: CallQuestion["form"] = "script"): CallVerdict {
  return judgeCall({ text, program: "reeve", first: "doctor", form });
}

/** The exit code of a script in which every call of `reeve doctor` fails. */
function run(text: string, form: CallQuestion["form"]): number {
  const options = { cwd: folder, env: { PATH: `${folder}:/usr/bin:/bin`, HOME: folder }, input: "" };
  return spawnSync("sh", [...(form === "errexit" ? ["-e"] : []), "-c", text], options).status ?? -1;
}

const kept: readonly string[] = [
  "reeve doctor || exit $?",
  'reeve doctor || exit "$?"',
  "reeve doctor || exit 1",
  "reeve doctor",
  "reeve doctor\n\n# the end\n",
  "#!/bin/sh\nset -e\nreeve doctor\necho done\n",
  "set -eu\nreeve doctor --verbose\necho done\n",
  "exec reeve doctor\necho done",
  "REEVE_CACHE=off reeve doctor || exit $?\necho done",
  "echo before\n  reeve doctor </dev/null || exit $?\necho after",
  "./reeve doctor || exit $?",
  '"./reeve" doctor || exit $?',
];

const lost: readonly string[] = [
  "reeve doctor || true",
  "reeve doctor || :",
  "reeve doctor || exit 0",
  "reeve doctor || exit 0 # whatever",
  "reeve doctor || true; echo done",
  "reeve doctor\necho done",
  "reeve doctor; true",
  "reeve doctor & wait; true",
  "reeve doctor | cat",
  "reeve doctor && echo fine; true",
  "reeve doctor || echo failed",
  "reeve doctor || { echo failed; }",
  "! reeve doctor",
  "if reeve doctor; then echo fine; fi",
  "echo reeve doctor",
  "exit 0\nreeve doctor || exit $?",
  '[ -z "$NOT_SET" ] && exit 0\nreeve doctor || exit $?',
  'test -n "$NOT_SET" || exit 0\nreeve doctor || exit $?',
  "if false; then\n  reeve doctor || exit $?\nfi",
  "false && {\n  reeve doctor || exit $?\n}\ntrue",
  "check() {\n  reeve doctor || exit $?\n}\ntrue",
  "cat <<TEXT >/dev/null\nreeve doctor || exit $?\nTEXT",
  "text='\nreeve doctor || exit $?\n'",
  "set -e\nset +e\nreeve doctor\ntrue",
  "(set -e)\nreeve doctor\ntrue",
  "(\nreeve doctor || exit $?\n)\ntrue",
  "while false; do\nreeve doctor || exit $?\ndone",
];

describe("judgeCall", () => {
  test("judgeCall takes for enforced what really stops at a failure", () => {
    for (const text of kept) {
      expect([text, run(text, "script")]).not.toEqual([text, 0]);
      expect([text, judge(text).kind]).toEqual([text, "enforced"]);
    }
  });

  test.each(lost)("judgeCall does not take %j for enforced, which passes over a failure", (text) => {
    expect(run(text, "script")).toBe(0);
    expect(judge(text).kind).not.toBe("enforced");
  });

  test("judgeCall takes a call for enforced under a runner that stops at errors", () => {
    const text = "reeve doctor\necho done";
    expect([judge(text, "script").kind, judge(text, "errexit").kind]).toEqual(["unproven", "enforced"]);
    expect([run(text, "script"), run(text, "errexit")]).toEqual([0, 10]);
  });
});
