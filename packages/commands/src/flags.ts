import type { Flag } from "./command.ts";

/** Flags every command takes. */
export const globalFlags: Readonly<Record<string, Flag>> = {
  help: { type: "boolean", short: "h", summary: "show this help" },
  json: { type: "boolean", summary: "print JSON" },
  "dry-run": { type: "boolean", short: "n", summary: "show what would be written, and write nothing" },
  verbose: { type: "boolean", short: "v", summary: "print every line, also those that passed" },
  repo: { type: "string", value: "path", summary: "the repository to work in, instead of this folder's" },
};
