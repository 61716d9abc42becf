import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";

/** A line that looks like a secret; never the secret itself. */
export interface SecretLine {
  /** From 1. */
  readonly line: number;
  /** What the rule set calls it, e.g. `github`. */
  readonly rule: string;
}

const prefix = "@secretlint/secretlint-rule-";
const rules = [{ id: `${prefix}preset-recommend`, rule: creator }];

/** Looks through a text with secretlint's recommended rules. */
export async function findSecrets(text: string): Promise<readonly SecretLine[]> {
  const { messages } = await lintSource({
    source: { content: text, filePath: "text", contentType: "text" },
    options: { config: { rules }, noPhysicFilePath: true, maskSecrets: true },
  });
  return messages
    .filter((message) => message.type === "message")
    .map(({ loc, ruleId }) => ({ line: loc.start.line, rule: ruleId.replace(prefix, "") }));
}
