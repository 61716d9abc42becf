import { ReeveError } from "@reeve/core/findings/errors.ts";
import { type HookPlan, planHooks } from "@reeve/core/hooks/install.ts";
import { type HomeMode, ignoreLine, readHome, refuseTaking } from "@reeve/core/layer/home.ts";
import { describeHomes } from "@reeve/core/layer/known-homes.ts";
import { planInit } from "@reeve/core/layer/plan-init.ts";
import { attributeLinesOf } from "@reeve/core/state/git-files.ts";
import { table } from "@reeve/core/state/table.ts";
import { type Command, defineCommand, type Outcome } from "../command.ts";
import type { Context } from "../context.ts";

interface InitResult {
  readonly created: readonly string[];
  readonly ignored: string | undefined;
  readonly attributes: readonly string[];
  readonly hooks: readonly HookPlan[];
  readonly home: HomeMode;
  readonly taken: string | undefined;
  readonly extended: boolean;
}

function decideHome(context: Context, wanted: string | undefined): HomeMode {
  const { system, git } = context;
  const home = readHome(system, git.repository);
  const asked = wanted === "checkout" || wanted === "git" ? wanted : undefined;
  if (home.exists && asked !== undefined && asked !== home.mode) {
    throw new ReeveError("REFUSED", `this checkout's half lies in ${home.path} already`, {
      hint: "leave --home out; records are not moved",
    });
  }
  if (home.exists) return home.mode;
  return asked ?? (system.canWrite(git.repository.commonDir) ? "git" : "checkout");
}

/** The half a removed worktree left, which this checkout is to go on with. */
function requireLeft({ system, git }: Context, name: string): void {
  const { repository } = git;
  if (readHome(system, repository).exists) refuseTaking(name);
  const homes = describeHomes(system, repository, git.worktrees());
  const free = homes.filter(({ state }) => state === "left" || state === "aside").map(({ checkout }) => checkout);
  if (free.includes(name)) return;
  throw new ReeveError("NOT_FOUND", `no removed worktree left a half called '${name}'`, {
    hint: free.length === 0 ? "none is left behind: reeve state" : `there are: ${free.join(", ")}`,
  });
}

function renderHooks(hooks: readonly HookPlan[]): readonly string[] {
  return hooks.map((hook) => {
    if (hook.state === "by-hand") return `hook ${hook.hook}: not changed — ${hook.advice}`;
    return `hook ${hook.hook}: ${hook.state === "added" ? "block added to" : "block is already in"} ${hook.file}`;
  });
}

/** Whole folders of shipped files, and every other path by itself. */
function foldPaths(paths: readonly string[]): readonly string[] {
  const vendor = ".ai/repo/rules/vendor/reeve/";
  const inside = paths.filter((path) => path.startsWith(vendor));
  const rest = paths.filter((path) => !path.startsWith(vendor));
  return inside.length === 0 ? rest : [...rest, `${vendor} (${inside.length} files)`];
}

export const init: Command = defineCommand({
  name: "init",
  summary: "create the layer, .ai/, and wire git hooks if asked",
  about: `What is written is printed. Nothing that exists is overwritten: --extend adds what a layer lacks. --hooks adds a
marked block to pre-commit and pre-push right after their first line, beside what is there; it never takes
core.hooksPath. The checkout's own half lies below the git folder, where git clean cannot reach it, behind .ai/local;
--home checkout keeps it in the working tree instead.`,
  examples: [
    { command: "reeve init --dry-run", shows: "what would be written" },
    { command: "reeve init --hooks", shows: "the layer, and git hooks that hold commits and pushes to it" },
    {
      command: "reeve init --extend --take-over old",
      shows: "in a new worktree: the task and records of a removed one",
    },
    { command: "reeve init --extend --hooks", shows: "on a layer that is there: what is missing, and the hooks" },
  ],
  args: {
    flags: {
      extend: { type: "boolean", summary: "add what an existing layer lacks" },
      hooks: { type: "boolean", summary: "wire pre-commit and pre-push" },
      home: {
        type: "string",
        choices: ["git", "checkout"],
        value: "place",
        summary: "where this checkout's half lies",
      },
      "take-over": {
        type: "string",
        value: "name",
        summary: "go on with the half a removed worktree left, as reeve state names it",
      },
    },
  },
  class: "generated-output-mutating",
  needs: "repo",
  surfaces: ["cli"],
  output: "value",
  reads: [],
  writes: [".ai/", ".gitignore", ".gitattributes"],
  result: {
    created: "paths written",
    ignored: "the line added to .gitignore",
    attributes: "the lines added to .gitattributes",
    hooks: "per hook: hook, file, state (added, kept, by-hand), advice",
    home: "git or checkout",
    taken: "the removed worktree whose half this one goes on with",
    extended: "an existing layer was extended",
  },
  prepare(args, context) {
    if (args["take-over"] !== undefined) requireLeft(context, args["take-over"]);
  },
  run(args, context): Outcome<InitResult> {
    const { system, git, share, program } = context;
    const takes = args["take-over"];
    const plan = planInit({
      system,
      repository: git.repository,
      share,
      extend: args.extend,
      attributes: attributeLinesOf(table),
    });
    const hooks = args.hooks ? planHooks(system, git, program) : { changes: [], hooks: [] };
    const home = decideHome(context, takes === undefined ? args.home : "git");
    const result: InitResult = {
      created: plan.created,
      ignored: plan.ignores ? ignoreLine : undefined,
      attributes: plan.attributes,
      hooks: hooks.hooks,
      home,
      taken: takes,
      extended: args.extend,
    };
    return {
      result,
      home,
      ...(takes === undefined ? {} : { takes }),
      plan: { changes: [...plan.changes, ...hooks.changes] },
    };
  },
  text({ created, ignored, attributes, hooks, home, taken }: InitResult) {
    const paths = [
      ...foldPaths(created),
      ...(ignored === undefined ? [] : [`.gitignore: ${ignored}`]),
      ...attributes.map((line) => `.gitattributes: ${line}`),
    ];
    const place =
      home === "git"
        ? "below the git folder, behind the link .ai/local"
        : "in .ai/local itself; its records live only there";
    return [
      ...(paths.length === 0 ? ["nothing was missing"] : ["created", ...paths.map((path) => `  ${path}`)]),
      `this checkout's half: ${place} (ignored by git)`,
      ...(taken === undefined ? [] : [`its task and records are those of ${taken}: reeve status`]),
      ...renderHooks(hooks),
      ...(hooks.length === 0
        ? ["next: reeve init --extend --hooks   # git hooks that run doctor and finish --check"]
        : []),
      ...(paths.length === 0
        ? []
        : ["next: git add .ai .gitignore .gitattributes && git commit -m 'Add the agent layer'"]),
      'next: reeve start "<what>" --scope <path>',
    ].join("\n");
  },
});
