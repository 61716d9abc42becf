import { type Command, defineCommand } from "../command.ts";
import { describeUnknown, renderHelp, renderVerbs, type Verb } from "../help.ts";
import { type Entry, groups } from "../registry.ts";

interface HelpResult {
  readonly verbs: readonly Verb[];
  readonly all: boolean;
  /** The rendered help of one command. */
  readonly text: string | undefined;
}

function describeAll(entries: readonly Entry[]): Promise<readonly Verb[]> {
  return Promise.all(
    entries.map(async (entry) => {
      const { name, summary } = await entry.load();
      return { name, summary, group: groups[entry.group] };
    }),
  );
}

export const help: Command = defineCommand({
  name: "help",
  summary: "show what Reeve can do",
  examples: [
    { command: "reeve help", shows: "the verbs to begin with" },
    { command: "reeve help --all", shows: "every command, by group" },
    { command: "reeve help start", shows: "one command, with its flags and examples" },
  ],
  args: {
    positionals: [
      { name: "command", summary: "the command to explain" },
      { name: "verb", summary: "its second word, as in: help decision add" },
    ],
    flags: { all: { type: "boolean", summary: "list every command" } },
  },
  class: "read-only",
  needs: "nothing",
  surfaces: ["cli"],
  output: "value",
  reads: [],
  writes: [],
  result: { verbs: "name, group and summary of each command", all: "was --all given", text: "the help of one command" },
  async run(args, context): Promise<{ readonly result: HelpResult }> {
    const { registry } = context;
    if (args.command !== undefined) {
      const name = args.verb === undefined ? args.command : `${args.command} ${args.verb}`;
      const entry = registry.find((candidate) => candidate.name === name);
      const family = registry.filter((candidate) => candidate.name.startsWith(`${args.command} `));
      if (entry === undefined && args.verb === undefined && family.length > 0) {
        return { result: { verbs: await describeAll(family), all: true, text: undefined } };
      }
      if (entry === undefined)
        throw describeUnknown(registry, args.command, args.verb === undefined ? [] : [args.verb]);
      return { result: { verbs: [], all: false, text: renderHelp(await entry.load()) } };
    }
    const verbs = await describeAll(registry);
    return { result: { verbs, all: args.all, text: undefined } };
  },
  text: (result: HelpResult) => result.text ?? renderVerbs(result.verbs, result.all),
});
