import { collectFindings, type Findings } from "../../findings/finding.ts";
import { hookNames } from "../../hooks/block.ts";
import { readHooksFolder } from "../../hooks/locate.ts";
import { type HookVerdict, judgeHook } from "../../hooks/wiring.ts";
import type { Enforcement } from "../../policy/policy.ts";
import { type Doctrine, type DoctrineInput, defineDoctrine } from "../doctrine.ts";

function judgeCi(input: DoctrineInput, findings: Findings, enforcement: Enforcement): void {
  const path = enforcement.wired_by.slice("ci:".length);
  const outside = path.startsWith("/") || path.split("/").includes("..");
  const text = outside ? undefined : input.layer.read(path);
  const command = [enforcement.path, ...(enforcement.args ?? [])].join(" ");
  const reproduce = `grep -n ${JSON.stringify(command)} "$(git rev-parse --show-toplevel)/${path}"`;
  if (text === undefined)
    findings.fail({
      subject: enforcement.name,
      message: `${path} ${outside ? "lies outside the repository" : "is missing"}`,
      reproduce,
      next: `write ${path}`,
    });
  else if (!text.includes(command)) {
    findings.fail({
      subject: enforcement.name,
      message: `${path} does not run '${command}'`,
      reproduce,
      next: `add it to ${path}`,
    });
  } else findings.ok(enforcement.name, `run by ${path}`);
}

interface Judged {
  readonly enforcement: Enforcement;
  readonly verdict: HookVerdict;
}

function report(input: DoctrineInput, findings: Findings, { enforcement, verdict }: Judged): void {
  const { name } = enforcement;
  const reproduce = "reeve doctor --rule enforcement-wiring";
  const trouble = { subject: name, message: verdict.says, reproduce, next: verdict.next };
  const strict = enforcement.required === true && !input.layer.system.env["CI"];
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
    let folder: ReturnType<typeof readHooksFolder> | undefined;
    for (const enforcement of input.policy?.enforcement ?? []) {
      if (enforcement.wired_by.startsWith("ci:")) judgeCi(input, findings, enforcement);
      else if (enforcement.wired_by.startsWith("git-hook:")) {
        const hook = enforcement.wired_by.slice("git-hook:".length);
        folder ??= readHooksFolder(system, input.git);
        const verdict = judgeHook({ system, git: input.git, folder, hook, enforcement });
        // One call through git proves which folder it uses; what else lies there is called by its path.
        if (verdict.called && hookNames.some((name) => name === hook)) folder = { ...folder, asked: true };
        report(input, findings, { enforcement, verdict });
      } else findings.info(enforcement.name, `wired_by ${enforcement.wired_by}: not verified`);
    }
    return findings.lines;
  },
});
