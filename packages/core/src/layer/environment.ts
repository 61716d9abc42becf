import { collectFindings, type Finding } from "../findings/finding.ts";
import type { System } from "../system/port.ts";

/** What Reeve runs on. Never more than INFO: a commit does not depend on one machine. */
export function readEnvironment(system: System): readonly Finding[] {
  const findings = collectFindings("env");
  const { node, platform, architecture } = system.runtime;
  findings.info(`node ${node}`, `${platform} ${architecture}`);
  const switches = ["REEVE_CACHE", "REEVE_DISABLE", "REEVE_TIMING"].filter((name) => system.env[name]);
  for (const name of switches) findings.info(name, `is set to ${system.env[name]}`);
  return findings.lines;
}
