import type { Command, Flag } from "@reeve/commands/command.ts";
import { globalFlags } from "@reeve/commands/flags.ts";
import { renderUsage } from "@reeve/commands/help.ts";

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ").replaceAll("<", "&lt;");
}

export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function flagRows(flags: Readonly<Record<string, Flag>>): readonly (readonly string[])[] {
  return Object.entries(flags).map(([name, flag]) => {
    const value = flag.type === "boolean" ? "" : ` <${flag.value ?? "n"}>`;
    const choices = flag.choices === undefined ? "" : ` (${flag.choices.join(", ")})`;
    return [`--${name}${value}`, `${flag.summary}${choices}${flag.required === true ? " (required)" : ""}`];
  });
}

function renderCommand(command: Command): string {
  const flags = flagRows(command.args.flags ?? {});
  const members = Object.entries(command.result);
  const examples = command.examples.map((example) => `# ${example.shows}\n$ ${example.command}`).join("\n");
  const parts = [
    `## reeve${command.name === "" ? " (alone)" : ` ${command.name}`}`,
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
    ...(command.about === undefined ? [] : [command.about]),
    `\`\`\`text\n${renderUsage(command.name, command.args)}\n\`\`\``,
    ...(flags.length === 0 ? [] : [renderTable(["flag", "meaning"], flags)]),
    `Class ${command.class}; needs ${command.needs}; \`--json\` prints ${command.output}.`,
    ...(members.length === 0 ? [] : [renderTable(["member of result", "meaning"], members)]),
    `\`\`\`sh\n${examples}\n\`\`\``,
  ];
  return parts.join("\n\n");
}

/** `docs/reference/commands.md`. */
export function renderCommands(commands: readonly Command[]): string {
  const intro = "Made by `npm run docs` from what the commands declare. Every command also takes:";
  const parts = [
    "# Commands",
    intro,
    renderTable(["flag", "meaning"], flagRows(globalFlags)),
    ...commands.map(renderCommand),
  ];
  return `${parts.join("\n\n")}\n`;
}
