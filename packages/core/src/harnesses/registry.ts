import { claudeCode } from "./claude-code/harness.ts";
import { codex } from "./codex/harness.ts";
import type { Harness } from "./harness.ts";

/** Every harness Reeve knows, in the order they are shown. */
export const harnesses: readonly Harness[] = [claudeCode, codex];

/** The harness of an id or of a name other lists give it. */
export function findHarness(id: string): Harness | undefined {
  return harnesses.find((harness) => harness.id === id || harness.aliases.includes(id));
}
