import type { Harness } from "../harness.ts";

export const claudeCode: Harness = {
  id: "claude-code",
  name: "Claude Code",
  aliases: ["claude"],
  verified: {
    date: "2026-12-07",
    sources: [
      "https://docs.claude.com/en/docs/claude-code/hooks",
      "https://github.com/anthropics/claude-code/issues/21858",
    ],
  },
  folder: { path: ".claude", variable: "CLAUDE_CONFIG_DIR" },
  variables: ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"],
  rules: {
    project: {
      kind: "folder",
      folder: ".claude/rules",
      fileName: "reeve-{{slug}}.md",
      scoped: { fields: {}, pathsKey: "paths", pathsAs: "list" },
    },
    // Rules for some paths are not read from here, whatever the documents say (the second source).
    global: { kind: "folder", folder: "rules", fileName: "reeve-{{slug}}.md" },
  },
  comments: "stripped",
  expands: "at-import",
  byteBudget: { project: 4_194_304, global: 4_194_304 },
  hook: {
    files: { project: ".claude/settings.json", global: "settings.json" },
    event: ["hooks", "SessionStart"],
    entry: (command) => ({ hooks: [{ type: "command", command, async: true, timeout: 20 }] }),
    reply: "plain",
  },
};
