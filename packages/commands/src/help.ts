import { nearest } from "@reeve/core/documents/nearest.ts";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import type { ArgumentSpec, Command, Flag } from "./command.ts";
import { globalFlags } from "./flags.ts";
import { type Entry, frontVerbs, groups } from "./registry.ts";

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}

function renderFlagName(name: string, flag: Flag): string {
  const value = flag.type === "boolean" ? "" : ` <${flag.value ?? (flag.type === "number" ? "n" : name)}>`;
  return `${flag.short === undefined ? "" : `-${flag.short}, `}--${name}${value}`;
}

function renderFlags(flags: Readonly<Record<string, Flag>>): string {
  return columns(
    Object.entries(flags).map(([name, flag]) => {
      const choices = flag.choices === undefined ? "" : ` (${flag.choices.join(", ")})`;
      return [renderFlagName(name, flag), `${flag.summary}${choices}${flag.required === true ? " (required)" : ""}`];
    }),
  );
}

/** `reeve start <task> --scope <path> [flags]`. */
export function renderUsage(name: string, args: ArgumentSpec): string {
  const words = (args.positionals ?? []).map((word) => (word.required === true ? `<${word.name}>` : `[${word.name}]`));
  const flags = Object.entries(args.flags ?? {});
  const required = flags.filter(([, flag]) => flag.required === true).map(([flag, spec]) => renderFlagName(flag, spec));
  const rest = flags.length > required.length ? ["[flags]"] : [];
  return ["reeve", name, ...words, ...required, ...rest].filter((word) => word !== "").join(" ");
}

/** The help of one command. */
export function renderHelp(command: Command): string {
  const { args } = command;
  const positionals = (args.positionals ?? []).map((word) => [`<${word.name}>`, word.summary] as const);
  const examples = command.examples.map((example) => `  $ ${example.command}\n      ${example.shows}`);
  const parts = [
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
    `usage: ${renderUsage(command.name, args)}`,
    ...(positionals.length === 0 ? [] : [columns(positionals)]),
    ...(Object.keys(args.flags ?? {}).length === 0 ? [] : [`flags:\n${renderFlags(args.flags ?? {})}`]),
    `everywhere:\n${renderFlags(globalFlags)}`,
    ...(command.about === undefined ? [] : [command.about.trim()]),
    `examples:\n${examples.join("\n")}`,
  ];
  return `${parts.join("\n\n")}\n`;
}

export interface Verb {
  readonly name: string;
  readonly group: string;
  readonly summary: string;
}

/** The verbs a list of commands begins with, or all of them by group. */
export function renderVerbs(verbs: readonly Verb[], all: boolean): string {
  const row = (verb: Verb): readonly [string, string] => [verb.name, verb.summary];
  const named = verbs.filter((verb) => verb.name !== "");
  const front = frontVerbs.flatMap((name) => named.filter((verb) => verb.name === name));
  const head = "Reeve keeps the agent work of a git repository.\n\nusage: reeve <command> [arguments]";
  if (!all) {
    const more = "reeve help --all lists every command; reeve help <command> says what one does.";
    return `${head}\n\n${columns(front.map(row))}\n\n${more}\n`;
  }
  const titles = [...new Set(Object.values(groups))];
  const width = Math.max(...named.map((verb) => verb.name.length));
  const shownTitles = titles.filter((title) => named.some((verb) => verb.group === title));
  const parts = shownTitles.map((title) => {
    const rows = named
      .filter((verb) => verb.group === title)
      .map((verb) => `  ${verb.name.padEnd(width)}  ${verb.summary}`);
    return `${title}\n${rows.join("\n")}`;
  });
  return `${head}\n\n${parts.join("\n\n")}\n`;
}

/** The error for words that name no command. */
export function describeUnknown(registry: readonly Entry[], word: string, rest: readonly string[]): ReeveError {
  const family = registry.filter((entry) => entry.name.startsWith(`${word} `)).map((entry) => entry.name);
  const next = rest.find((token) => !token.startsWith("-"));
  if (family.length > 0) {
    const verbs = family.map((name) => name.slice(word.length + 1));
    const guess = next === undefined ? undefined : nearest(next, verbs);
    const message =
      next === undefined ? `reeve ${word} wants one of: ${verbs.join(", ")}` : `there is no 'reeve ${word} ${next}'`;
    const hint =
      guess === undefined ? family.map((name) => `reeve ${name}`).join(" · ") : `did you mean: reeve ${word} ${guess}?`;
    return new ReeveError("UNKNOWN_COMMAND", message, { hint });
  }
  const first = [...new Set(registry.map((entry) => entry.name.split(" ")[0] ?? ""))].filter((name) => name !== "");
  const guess = nearest(word, first);
  const hint = guess === undefined ? "reeve help --all lists every command" : `did you mean: reeve ${guess}?`;
  return new ReeveError("UNKNOWN_COMMAND", `there is no command '${word}'`, { hint });
}
