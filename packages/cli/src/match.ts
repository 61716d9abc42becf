export interface Match {
  /** The command's name, or `undefined` when the words name none. */
  readonly name: string | undefined;
  /** The first word, for the message when nothing matches. */
  readonly word: string | undefined;
  /** Everything that is not the command's name. */
  readonly rest: readonly string[];
}

/** Step 2, first half: which command the words name. Global flags may stand before it. */
export function matchCommand(names: readonly string[], argv: readonly string[]): Match {
  const at = (index: number): string | undefined => argv[index];
  let first = 0;
  for (let token = at(first); token?.startsWith("-") && token !== "--"; token = at(first)) {
    first += token === "--repo" ? 2 : 1;
  }
  const word = at(first) === "--" ? undefined : at(first);
  const before = argv.slice(0, first);
  if (word === undefined) {
    const name = before.includes("--version")
      ? "version"
      : before.some((flag) => /^(?:--help|-h)$/.test(flag))
        ? "help"
        : "";
    const dropped = ["--version", "--help", "-h"];
    return { name, word, rest: name === "" ? argv : argv.filter((flag) => !dropped.includes(flag)) };
  }
  const pair = `${word} ${at(first + 1) ?? ""}`;
  if (names.includes(pair)) return { name: pair, word, rest: [...before, ...argv.slice(first + 2)] };
  const rest = [...before, ...argv.slice(first + 1)];
  return { name: names.includes(word) ? word : undefined, word, rest };
}
