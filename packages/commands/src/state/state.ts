import { type Command, defineCommand } from "../command.ts";
import { listArguments, listMembers, renderList, runList } from "./listing.ts";

export const state: Command = defineCommand({
  name: "state",
  summary: "list every file Reeve keeps here: the same as state list",
  examples: [{ command: "reeve state", shows: "both halves of the layer, file by file" }],
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
