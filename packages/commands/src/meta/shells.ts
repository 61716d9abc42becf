import { ReeveError } from "@reeve/core/findings/errors.ts";
import type { Flag } from "../command.ts";

export const shells: readonly string[] = ["bash", "zsh", "fish"];

export type CompletionTable = readonly {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Words its positionals may be. */
  readonly words: readonly string[];
}[];

function firstWords(table: CompletionTable): readonly string[] {
  return [...new Set(table.map((command) => command.name.split(" ")[0] ?? ""))];
}

function secondWords(table: CompletionTable, first: string): readonly string[] {
  return table.flatMap((command) => {
    const [word, verb] = command.name.split(" ");
    return word === first && verb !== undefined ? [verb] : [];
  });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function renderBash(table: CompletionTable): string {
  const families = firstWords(table).filter((word) => secondWords(table, word).length > 0);
  const verbs = families.map((word) => `    ${word}) verbs='${secondWords(table, word).join(" ")}' ;;`);
  const flags = table.map((command) => {
    const names = Object.keys(command.flags).map((name) => `--${name}`);
    return `    ${quote(command.name)}) words='${[...names, ...command.words].join(" ")}' ;;`;
  });
  const choices = table.flatMap((command) =>
    Object.entries(command.flags).flatMap(([name, flag]) =>
      flag.choices === undefined
        ? []
        : [`    ${quote(`${command.name} --${name}`)}) words='${flag.choices.join(" ")}' ;;`],
    ),
  );
  return `# bash completion for reeve
_reeve() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" verbs='' words='' name="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -le 1 ]; then
    COMPREPLY=($(compgen -W '${firstWords(table).join(" ")}' -- "$current"))
    return
  fi
  case "$name" in
${verbs.join("\n")}
  esac
  if [ -n "$verbs" ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$verbs" -- "$current")); return; fi
    name="$name \${COMP_WORDS[2]}"
  fi
  case "$name $previous" in
${choices.join("\n")}
  esac
  if [ -z "$words" ]; then
    case "$name" in
${flags.join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _reeve reeve
`;
}

function renderZsh(table: CompletionTable): string {
  const describe = (rows: readonly (readonly [string, string])[]): string =>
    rows.map(([word, says]) => quote(`${word.replaceAll(":", "\\:")}:${says}`)).join(" ");
  const first = firstWords(table).map((word) => {
    const only = table.find((command) => command.name === word);
    return [word, only?.summary ?? secondWords(table, word).join(", ")] as const;
  });
  const families = first.flatMap(([word]) => (secondWords(table, word).length > 0 ? [word] : []));
  const verbs = families.map((word) => {
    const rows = table.filter((command) => command.name.startsWith(`${word} `));
    return `    ${word}) options=(${describe(rows.map((command) => [command.name.slice(word.length + 1), command.summary]))}) ;;`;
  });
  const flags = table.map((command) => {
    const rows = Object.entries(command.flags).map(([name, flag]) => [`--${name}`, flag.summary] as const);
    return `    ${quote(command.name)}) options=(${describe([...command.words.map((word) => [word, word] as const), ...rows])}) ;;`;
  });
  return `#compdef reeve
_reeve() {
  local name="\${words[2]}" second="\${words[3]}"
  local -a options
  if (( CURRENT == 2 )); then
    options=(${describe(first)})
    _describe 'command' options; return
  fi
  case "$name" in
${verbs.join("\n")}
  esac
  if (( \${#options} && CURRENT == 3 )); then _describe 'verb' options; return; fi
  (( \${#options} )) && name="$name $second"
  options=()
  case "$name" in
${flags.join("\n")}
  esac
  _describe 'argument' options
  _files
}
compdef _reeve reeve
`;
}

function renderFish(table: CompletionTable): string {
  const lines = ["# fish completion for reeve", "complete -c reeve -f"];
  const say = (text: string): string => `-d ${quote(text)}`;
  for (const word of firstWords(table)) {
    const only = table.find((command) => command.name === word);
    lines.push(`complete -c reeve -n __fish_use_subcommand -a ${word} ${say(only?.summary ?? `${word} …`)}`);
  }
  for (const command of table) {
    const [first = "", second] = command.name.split(" ");
    const verbs = secondWords(table, first).join(" ");
    const inFirst = `__fish_seen_subcommand_from ${first}`;
    const here = second === undefined ? inFirst : `${inFirst}; and __fish_seen_subcommand_from ${second}`;
    if (second !== undefined) {
      lines.push(
        `complete -c reeve -n '${inFirst}; and not __fish_seen_subcommand_from ${verbs}' -a ${second} ${say(command.summary)}`,
      );
    }
    for (const word of command.words) lines.push(`complete -c reeve -n '${here}' -a ${word}`);
    for (const [name, flag] of Object.entries(command.flags)) {
      const value =
        flag.type === "boolean" ? "" : flag.choices === undefined ? " -r -F" : ` -x -a '${flag.choices.join(" ")}'`;
      lines.push(`complete -c reeve -n '${here}' -l ${name}${value} ${say(flag.summary)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

export function renderCompletion(shell: string, table: CompletionTable): string {
  switch (shell) {
    case "bash":
      return renderBash(table);
    case "zsh":
      return renderZsh(table);
    case "fish":
      return renderFish(table);
    default:
      throw new ReeveError("USAGE", `no completion for '${shell}'`, { hint: `reeve completion ${shells.join(" | ")}` });
  }
}
