import type { ExitName } from "@reeve/core/findings/exit.ts";
import type { Finding } from "@reeve/core/findings/finding.ts";
import type { HomeMode } from "@reeve/core/layer/home.ts";
import type { Plan } from "@reeve/store";
import type { Context } from "./context.ts";

export type CommandClass = "read-only" | "state-mutating" | "generated-output-mutating";
/**
 * What is opened before the command runs; each includes the ones before it. `any`: a repository and its layer where there
 * are some.
 */
export type Needs = "nothing" | "any" | "repo" | "layer" | "task";
export type Surface = "cli" | "mcp" | "http";
export type OutputKind = "value" | "findings" | "lines";

export interface Flag {
  readonly type: "boolean" | "string" | "list" | "number";
  readonly summary: string;
  /** What the value is called in the help, e.g. `path`. */
  readonly value?: string;
  readonly short?: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
}

export interface Positional {
  readonly name: string;
  readonly summary: string;
  readonly required?: boolean;
  readonly choices?: readonly string[];
}

export interface ArgumentSpec {
  readonly positionals?: readonly Positional[];
  readonly flags?: Readonly<Record<string, Flag>>;
  /** Sets of flags of which only one may be given. */
  readonly exclusive?: readonly (readonly string[])[];
}

type FlagValue<F extends Flag> = F["type"] extends "boolean"
  ? boolean
  : F["type"] extends "list"
    ? readonly string[]
    : F["type"] extends "number"
      ? F["required"] extends true
        ? number
        : number | undefined
      : F["required"] extends true
        ? string
        : string | undefined;

type FlagValues<S extends ArgumentSpec> =
  S["flags"] extends Readonly<Record<string, Flag>>
    ? { readonly [K in keyof S["flags"]]: FlagValue<S["flags"][K]> }
    : Record<never, never>;

type PositionalValues<S extends ArgumentSpec> = S["positionals"] extends readonly Positional[]
  ? {
      readonly [P in S["positionals"][number] as P["name"]]: P["required"] extends true ? string : string | undefined;
    }
  : Record<never, never>;

/** The parsed arguments of a command: positionals and flags by name. */
export type Arguments<S extends ArgumentSpec> = PositionalValues<S> & FlagValues<S>;

/** What a run answers: a value or lines to show, what to change, and what was found. */
export interface Outcome<R> {
  readonly result: R;
  readonly plan?: Plan;
  readonly findings?: readonly Finding[];
  /** What a value means for who asked, where it is not that all is well. */
  readonly exit?: ExitName;
  /**
   * Work no plan can hold, done before it: on a file of lines by its own owner, a copy outside the layer, a large content
   * staged for the plan to move. In a layer it is done under the layer's lock; it answers the result. Not done in a dry run,
   * whose result says what would be. Everything else is written by the plan.
   */
  readonly upkeep?: () => Promise<R>;
  /** Where a home that does not exist yet is to be made. */
  readonly home?: HomeMode;
  /** The home of a worktree that is gone, which becomes this checkout's. */
  readonly takes?: string;
  /** Shows a value although the command prints findings (`check --explain`). */
  readonly as?: OutputKind;
  /** Lines that arrive over time, after those of the result (`history --follow`). */
  readonly stream?: (json: boolean) => AsyncIterable<string>;
}

export interface Example {
  readonly command: string;
  readonly shows: string;
}

interface Description {
  readonly name: string;
  /** Imperative, no full stop. */
  readonly summary: string;
  /** Paragraphs below the summary in the help. */
  readonly about?: string;
  readonly examples: readonly Example[];
  readonly args: ArgumentSpec;
  readonly class: CommandClass;
  /** A hook entry exits 0 whatever happens. */
  readonly hook?: true;
  readonly needs: Needs;
  readonly surfaces: readonly Surface[];
  readonly output: OutputKind;
  /** Table entries it may open. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Readings of git the launcher may start while Node is still starting. */
  readonly prefetch?: "status" | "history";
  /** Members of `result`, for the reference: name → meaning. */
  readonly result: Readonly<Record<string, string>>;
  /** Flags that make a reading command write. */
  readonly writesWith?: readonly string[];
  /** Flags that make a writing command only read. */
  readonly readsWith?: readonly string[];
  /** Judges a contract: what it judges by is never taken from a cache. */
  readonly gate?: true;
  /** Works on files as they lie: no conversion is run before it, and those of a newer Reeve are no reason to refuse. */
  readonly unconverted?: true;
  /** A refusal prints every line, also those that passed. */
  readonly everyLine?: true;
}

export interface Definition<S extends ArgumentSpec, R, P> extends Description {
  readonly args: S;
  /** Slow work done before any lock is held. */
  readonly prepare?: (args: Arguments<S>, context: Context) => Promise<P> | P;
  readonly run: (args: Arguments<S>, context: Context, prepared: P) => Promise<Outcome<R>> | Outcome<R>;
  readonly text: (result: R, findings: readonly Finding[]) => string;
  /** The result as `--json` shows it, where that is not the result itself. */
  readonly json?: (result: R) => unknown;
}

/** A command any surface can run (architecture design). */
export interface Command extends Description {
  readonly prepare?: (args: never, context: Context) => unknown;
  readonly run: (args: never, context: Context, prepared: never) => Promise<Outcome<unknown>> | Outcome<unknown>;
  readonly text: (result: never, findings: readonly Finding[]) => string;
  readonly json?: (result: never) => unknown;
}

export function defineCommand<const S extends ArgumentSpec, R, P = undefined>(
  definition: Definition<S, R, P>,
): Command {
  return definition as Command;
}
