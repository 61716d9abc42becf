import { ReeveError } from "@reeve/core/findings/errors.ts";
import type { Context } from "../context.ts";
import { pathOf } from "./bundle-places.ts";

/** The flag of commands that encrypt or decrypt a bundle. */
export const passphraseFlag = {
  "passphrase-file": {
    type: "string",
    value: "file",
    summary: "a file whose text is the passphrase; REEVE_PASSPHRASE does without a file",
  },
} as const;

const variable = "REEVE_PASSPHRASE";

/**
 * The passphrase a person gave: the file's text without the end of its last line, else the variable's.
 * @throws ReeveError MISSING_FILE, or USAGE for an empty one
 */
export function readPassphrase(context: Context, file: string | undefined): string | undefined {
  if (file === undefined) return requireText(context.system.env[variable], variable);
  const text = context.system.readText(pathOf(context, file));
  if (text === undefined) {
    throw new ReeveError("MISSING_FILE", `--passphrase-file ${file}: there is no such file`, {
      hint: "write the passphrase into a file of your own, mode 0600",
    });
  }
  return requireText(text.replace(/\r?\n$/, ""), `--passphrase-file ${file}`);
}

function requireText(text: string | undefined, where: string): string | undefined {
  if (text !== "") return text;
  throw new ReeveError("USAGE", `${where}: the passphrase is empty`, { hint: "use at least four random words" });
}
