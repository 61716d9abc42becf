import type { Command, Flag } from "@reeve/commands/command.ts";
import { globalFlags } from "@reeve/commands/flags.ts";
import { nearest } from "@reeve/core/documents/nearest.ts";
import { ReeveError } from "@reeve/core/findings/errors.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface Parsed {
  /** Positionals and flags of the command, by name. */
  readonly args: Values;
  readonly globals: Values;
}

function usage(command: Command, message: string, hint?: string): ReeveError {
  return new ReeveError("USAGE", message, { hint: hint ?? `reeve ${command.name} --help`.replace("  ", " ") });
}

interface Given {
  readonly name: string;
  readonly flag: Flag;
  readonly text: string;
}

function parseValue(command: Command, { name, flag, text }: Given): unknown {
  if (text.trim() === "") throw usage(command, `--${name} is empty: ${flag.summary}`);
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    const guess = nearest(text, flag.choices);
    const hint = guess === undefined ? `one of: ${flag.choices.join(", ")}` : `did you mean '${guess}'?`;
    throw usage(command, `--${name} is '${text}'; it takes ${flag.choices.join(", ")}`, hint);
  }
  if (flag.type === "number") {
    if (!/^\d+$/.test(text)) throw usage(command, `--${name} is '${text}'; it takes a whole number`);
    return Number(text);
  }
  if (flag.type === "list") {
    const items = text.split(",").map((item) => item.trim());
    if (items.includes("")) throw usage(command, `--${name} has an empty item in '${text}'`);
    return items;
  }
  return text;
}

function findFlag(flags: Readonly<Record<string, Flag>>, token: string): string | undefined {
  if (token.startsWith("--")) return Object.hasOwn(flags, token.slice(2)) ? token.slice(2) : undefined;
  return Object.keys(flags).find((name) => flags[name]?.short !== undefined && `-${flags[name]?.short}` === token);
}

function unknownFlag(command: Command, flags: Readonly<Record<string, Flag>>, token: string): ReeveError {
  const guess = nearest(token.replace(/^-+/, ""), Object.keys(flags));
  const name = command.name === "" ? "reeve" : `reeve ${command.name}`;
  return usage(command, `${name} has no flag ${token}`, guess === undefined ? undefined : `did you mean --${guess}?`);
}

function startValues(flags: Readonly<Record<string, Flag>>): Record<string, unknown> {
  const start = { boolean: false, list: [], string: undefined, number: undefined } as const;
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, start[flag.type]]));
}

function placePositionals(command: Command, words: readonly string[]): Values {
  const wanted = command.args.positionals ?? [];
  const extra = words[wanted.length];
  if (extra !== undefined) {
    const quoting = wanted.length > 0 && words.length > 1 ? "put a text of several words in quotes" : undefined;
    throw usage(command, `'${extra}' is one argument too many`, quoting);
  }
  wanted.forEach((positional, index) => {
    const given = words[index];
    if (given !== undefined && positional.choices?.includes(given) === false) {
      throw usage(command, `<${positional.name}> is '${given}'; it takes ${positional.choices.join(", ")}`);
    }
    if (positional.required === true && (given === undefined || given.trim() === "")) {
      const problem = given === undefined ? "is missing" : "is empty";
      throw usage(command, `<${positional.name}> ${problem}: ${positional.summary}`);
    }
  });
  return Object.fromEntries(wanted.map((positional, index) => [positional.name, words[index]]));
}

/** Step 3: the arguments a command declared; a usage error names the word and the nearest known one. */
export function parseArguments(command: Command, tokens: readonly string[]): Parsed {
  const own = command.args.flags ?? {};
  const flags = { ...globalFlags, ...own };
  const values = startValues(flags);
  const words: string[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index] ?? "";
    if (token === "--") {
      words.push(...tokens.slice(index + 1));
      break;
    }
    if (!token.startsWith("-") || token === "-") {
      words.push(token);
      continue;
    }
    const equals = token.startsWith("--") ? token.indexOf("=") : -1;
    const written = equals < 0 ? token : token.slice(0, equals);
    const name = findFlag(flags, written);
    const flag = name === undefined ? undefined : flags[name];
    if (name === undefined || flag === undefined) throw unknownFlag(command, flags, written);
    if (flag.type === "boolean") {
      if (equals >= 0) throw usage(command, `--${name} takes no value`);
      values[name] = true;
      continue;
    }
    if (equals < 0) index += 1;
    const text = equals < 0 ? tokens[index] : token.slice(equals + 1);
    if (text === undefined) throw usage(command, `--${name} wants a value: <${flag.value ?? name}>`);
    const value = parseValue(command, { name, flag, text });
    values[name] = flag.type === "list" ? [...(values[name] as string[]), ...(value as string[])] : value;
  }
  const split = Object.entries(values);
  const globals = Object.fromEntries(split.filter(([name]) => Object.hasOwn(globalFlags, name)));
  if (globals["help"] === true) return { args: {}, globals };
  for (const [name, flag] of Object.entries(own)) {
    const value = values[name];
    const empty = value === undefined || (Array.isArray(value) && value.length === 0);
    if (flag.required === true && empty) throw usage(command, `--${name} is missing: ${flag.summary}`);
  }
  for (const set of command.args.exclusive ?? []) {
    const [one, other] = set.filter((name) => values[name] !== undefined && values[name] !== false);
    if (other !== undefined) throw usage(command, `--${one} and --${other} exclude each other`);
  }
  const args = Object.fromEntries(split.filter(([name]) => Object.hasOwn(own, name)));
  return { args: { ...args, ...placePositionals(command, words) }, globals };
}
