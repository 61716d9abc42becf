import type { DocumentKinds } from "../../documents/kinds.ts";
import { nearest } from "../../documents/nearest.ts";
import { collectFindings, type Finding } from "../../findings/finding.ts";
import { decodeLayerFile, listProfiles, profilePath } from "../../policy/reader.ts";
import { policyPath } from "../../policy/values.ts";
import { type Doctrine, type DoctrineInput, defineDoctrine } from "../doctrine.ts";

const reproduce = "reeve doctor --rule policy-integrity";

async function judgeFile(input: DoctrineInput, kind: keyof DocumentKinds, path: string): Promise<readonly Finding[]> {
  const findings = collectFindings("policy");
  if (input.layer.read(path) === undefined) {
    findings.fail({ subject: path, message: "is missing", reproduce, next: "reeve init --extend" });
    return findings.lines;
  }
  const decoded = await decodeLayerFile(input.layer, kind, path);
  if (decoded.ok) findings.ok(path, kind === "policy" ? "parsed, version 1" : "parsed");
  else {
    for (const problem of decoded.problems) {
      findings.fail({
        subject: `${path}:${problem.line}`,
        message: problem.message,
        reproduce,
        next: problem.hint ?? `mend line ${problem.line} of ${path}`,
      });
    }
  }
  return findings.lines;
}

async function judge(input: DoctrineInput): Promise<readonly Finding[]> {
  const findings = collectFindings("policy");
  const policy = await judgeFile(input, "policy", policyPath);
  const names = listProfiles(input.layer);
  const profiles = await Promise.all(names.map((name) => judgeFile(input, "profile", profilePath(name))));
  for (const name of names) {
    const path = profilePath(name);
    const decoded = await decodeLayerFile(input.layer, "profile", path);
    if (decoded.ok && decoded.value.name !== name) {
      findings.fail({
        subject: path,
        message: `is named '${decoded.value.name}' inside`,
        reproduce,
        next: `name: ${name}`,
      });
    }
  }
  const wanted = input.policy?.profiles?.default;
  if (wanted !== undefined && !names.includes(wanted)) {
    const next = names.length > 0 ? `profiles here: ${names.join(", ")}` : "reeve init --extend";
    findings.fail({
      subject: policyPath,
      message: `profiles.default names '${wanted}', which has no file`,
      reproduce,
      next,
    });
  }
  const known = input.set.rules.flatMap((rule) => rule["x-reeve"]?.policy_key ?? []);
  for (const key of input.policy?.verification?.finish_requires ?? []) {
    if (known.includes(key)) continue;
    const guess = nearest(key, known);
    const next = guess === undefined ? `keys the rules define: ${known.join(", ")}` : `did you mean '${guess}'?`;
    findings.fail({
      subject: policyPath,
      message: `finish_requires names '${key}', which no rule defines`,
      reproduce,
      next,
    });
  }
  return [...policy, ...profiles.flat(), ...findings.lines];
}

export const policyIntegrity: Doctrine = defineDoctrine({
  id: "policy-integrity",
  category: "policy",
  validate: judge,
});
