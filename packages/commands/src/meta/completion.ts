import { type Command, defineCommand } from "../command.ts";
import { globalFlags } from "../flags.ts";
import { type CompletionTable, renderCompletion, shells } from "./shells.ts";

export const completion: Command = defineCommand({
  name: "completion",
  summary: "print a completion script for a shell",
  about: `To switch it on:
  bash: reeve completion bash > ~/.local/share/bash-completion/completions/reeve
  zsh:  reeve completion zsh > "\${fpath[1]}/_reeve"
  fish: reeve completion fish > ~/.config/fish/completions/reeve.fish`,
  examples: [{ command: "reeve completion bash", shows: "a script for bash; nothing is installed" }],
  args: {
    positionals: [{ name: "shell", summary: shells.join(", "), required: true, choices: shells }],
  },
  class: "read-only",
  needs: "nothing",
  surfaces: ["cli"],
  output: "value",
  reads: [],
  writes: [],
  result: { script: "the script", shell: "the shell it is for" },
  async run(args, context) {
    const commands = await Promise.all(context.registry.map((entry) => entry.load()));
    const table: CompletionTable = commands
      .filter((command) => command.name !== "")
      .map((command) => ({
        name: command.name,
        summary: command.summary,
        flags: { ...command.args.flags, ...globalFlags },
        words: (command.args.positionals ?? []).flatMap((positional) => positional.choices ?? []),
      }));
    return { result: { shell: args.shell, script: renderCompletion(args.shell, table) } };
  },
  text: (result: { readonly script: string }) => result.script,
});
