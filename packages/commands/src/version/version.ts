import { type Command, defineCommand } from "../command.ts";

export const version: Command = defineCommand({
  name: "version",
  summary: "print the version",
  examples: [{ command: "reeve version", shows: "the version of the Reeve that answers" }],
  args: {},
  class: "read-only",
  needs: "nothing",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [],
  writes: [],
  result: { version: "the version, as in the package" },
  run: (_args, context) => ({ result: { version: context.version } }),
  text: (result: { readonly version: string }) => `reeve ${result.version}`,
});
