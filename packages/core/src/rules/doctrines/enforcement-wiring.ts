import { collectFindings, type Findings } from "../../findings/finding.ts";
import { shellQuote } from "../../findings/quote.ts";
import { hookNames } from "../../hooks/block.ts";
import { openCanaryMemory } from "../../hooks/canary-memory.ts";
import { judgeCall } from "../../hooks/invocation.ts";
import { readHooksFolder } from "../../hooks/locate.ts";
import { type HookVerdict, judgeHook } from "../../hooks/wiring.ts";
import type { Enforcement } from "../../policy/policy.ts";
import { type Doctrine, type DoctrineInput, defineDoctrine } from "../doctrine.ts";

function judgeCi(input: DoctrineInput, findings: Findings, enforcement: Enforcement): void {
  const file = enforcement.wired_by.slice("ci:".length);
  const outside = file.startsWith("/") || file.split("/").includes("..");
  const text = outside ? undefined : input.layer.read(file);
  const subject = enforcement.name;
  const command = [enforcement.path, ...(enforcement.args ?? [])].join(" ");
  const reproduce = `grep -n -F ${shellQuote(command)} "$(git rev-parse --show-toplevel)"/${shellQuote(file)}`;
  const rule = "reeve doctor --rule enforcement-wiring";
  if (text === undefined) {
    const message = `${file} ${outside ? "lies outside the repository" : "is missing"}`;
    findings.fail({ subject, message, reproduce: rule, next: "mend wired_by, or write the file" });
    return;
  }
  const call = judgeCall({ text, form: "yaml", program: enforcement.path, first: enforcement.args?.[0] ?? "" });
  const next = `run it in ${file} as a step whose failure counts: ${command}`;
  if (call.kind === "enforced") findings.ok(subject, `run at ${file}:${call.line}`);
  else if (call.kind === "unproven")
    findings.warn({ subject, message: `${file}:${call.line} names it, beside steps that may fail`, reproduce, next });
  else if (call.kind === "swallowed")
    findings.fail({ subject, message: `${file}:${call.line} swallows the exit code`, reproduce, next });
  else findings.fail({ subject, message: `${file} does not run '${command}'`, reproduce: rule, next });
}

function isCi(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.toLowerCase());
}

interface Judged {
  readonly enforcement: Enforcement;
  readonly verdict: HookVerdict;
}

function report(input: DoctrineInput, findings: Findings, { enforcement, verdict }: Judged): void {
  const { name } = enforcement;
  const reproduce = "reeve doctor --rule enforcement-wiring";
  const trouble = { subject: name, message: verdict.says, reproduce, next: verdict.next };
  const strict = enforcement.required === true && !isCi(input.layer.system.env["CI"]);
  if (verdict.state === "wired") findings.ok(name, verdict.says);
  else if (verdict.state === "broken" || strict) findings.fail(trouble);
  else findings.warn(trouble);
}

export const enforcementWiring: Doctrine = defineDoctrine({
  id: "enforcement-wiring",
  category: "wiring",
  validate(input) {
    const findings = collectFindings("wiring");
    const { system } = input.layer;
    const memory = openCanaryMemory(input.layer);
    let folder: ReturnType<typeof readHooksFolder> | undefined;
    for (const enforcement of input.policy?.enforcement ?? []) {
      if (enforcement.wired_by.startsWith("ci:")) judgeCi(input, findings, enforcement);
      else if (enforcement.wired_by.startsWith("git-hook:")) {
        const hook = enforcement.wired_by.slice("git-hook:".length);
        folder ??= readHooksFolder(system, input.git);
        const verdict = judgeHook({ system, git: input.git, folder, hook, enforcement, memory });
        // One call through git proves which folder it uses; what else lies there is called by its path.
        if (verdict.called && hookNames.some((name) => name === hook)) folder = { ...folder, asked: true };
        report(input, findings, { enforcement, verdict });
      } else findings.info(enforcement.name, `wired_by ${enforcement.wired_by}: not verified`);
    }
    memory.keep();
    return findings.lines;
  },
});
