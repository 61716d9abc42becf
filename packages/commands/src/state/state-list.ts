import { type Command, defineCommand } from "../command.ts";
import { listArguments, listMembers, renderList, runList } from "./listing.ts";

export const stateList: Command = defineCommand({
  name: "state list",
  summary: "list every file of the layer, its class, size and health",
  examples: [
    { command: "reeve state list", shows: "both halves of the layer, file by file" },
    { command: "reeve state list --group records --json", shows: "what the records are, as data" },
  ],
  args: listArguments,
  class: "read-only",
  needs: "layer",
  surfaces: ["cli", "mcp", "http"],
  output: "value",
  reads: [
    ".ai/README.md",
    ".ai/manifest.yaml",
    ".ai/repo/",
    ".ai/local/state/current.yaml",
    ".ai/local/cache/",
    ".ai/local/run/",
  ],
  writes: [],
  result: listMembers,
  run: runList,
  text: renderList,
});
