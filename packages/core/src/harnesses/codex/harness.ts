import type { Harness, RuleTarget } from "../harness.ts";

const names = ["AGENTS.override.md", "AGENTS.md"];
const project: RuleTarget = { kind: "block", names, makes: "AGENTS.md" };

export const codex: Harness = {
  id: "codex",
  name: "Codex",
  aliases: ["codex-cli"],
  verified: {
    date: "2026-12-07",
    sources: ["https://developers.openai.com/codex/guides/agents-md", "https://developers.openai.com/codex/hooks"],
  },
  folder: { path: ".codex", variable: "CODEX_HOME" },
  variables: [],
  rules: { project, global: { ...project, skipsEmpty: true } },
  comments: "counted",
  expands: "undocumented",
  byteBudget: {},
  chainBudget: 32_768,
  hook: {
    files: { project: ".codex/hooks.json", global: "hooks.json" },
    event: ["hooks", "SessionStart"],
    entry: (command) => ({ hooks: [{ type: "command", command, timeout: 20, async: true }] }),
    reply: "plain",
  },
};
