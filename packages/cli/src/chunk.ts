import { registry } from "@reeve/commands/registry.ts";
import type { ExitCode } from "@reeve/core/findings/exit.ts";
import { type Launch, run } from "./run.ts";

/** What every chunk exports. The build makes one of this file for each folder of commands. */
export function main(argv: readonly string[], launch: Launch): Promise<ExitCode> {
  return run({ argv, launch, registry });
}
