import { collectFindings } from "../../findings/finding.ts";
import { plural } from "../../findings/plural.ts";
import { shellQuote } from "../../findings/quote.ts";
import { isClaimed } from "../../work/scope.ts";
import type { TouchedFile } from "../../work/subject.ts";
import { type Doctrine, defineDoctrine, requirePolicy, requireSubject } from "../doctrine.ts";

function quote(path: string): string {
  return shellQuote(`:(top,literal)${path}`);
}

/** Names a shell line cannot carry, or that are no UTF-8, are shown among all the others. */
const unprintable = /[\p{Cc}\uFFFD]/u;

function reproduce(file: TouchedFile): string {
  if (unprintable.test(file.path)) return "git status --porcelain -uall";
  return file.commit === undefined
    ? `git status --porcelain -uall -- ${quote(file.path)}`
    : `git show --stat --format=%h\\ %s ${file.commit.slice(0, 12)} -- ${quote(file.path)}`;
}

/** How a person sees a path: control characters escaped, so that one finding stays one line. */
function shown(path: string): string {
  return path.replaceAll(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

export const scopeIntegrity: Doctrine = defineDoctrine({
  id: "scope-integrity",
  category: "scope",
  validate(input) {
    const findings = collectFindings("scope");
    const { task, touched } = requireSubject(input);
    const policy = requirePolicy(input);
    const outside = touched.filter((file) => !isClaimed(file.path, task.scope, policy));
    const claim = task.scope.join(", ");
    for (const file of outside) {
      findings.fail({
        subject: shown(file.path),
        message: `outside this task's scope (${claim})${file.commit === undefined ? "" : `, in commit ${file.commit.slice(0, 7)}`}`,
        reproduce: reproduce(file),
        next: "undo the change, move it into a task of its own, or finish this task and start one whose scope names the file",
      });
    }
    if (outside.length === 0) findings.ok(claim, `${plural(touched.length, "file")} touched, all within`);
    return findings.lines;
  },
});
