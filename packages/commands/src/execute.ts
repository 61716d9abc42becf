import { ReeveError } from "@reeve/core/findings/errors.ts";
import { type GitReading, type Prefetched, readRepository } from "@reeve/core/git/reading.ts";
import { hasLayer, type Layer, openLayer, requireLayer } from "@reeve/core/layer/layer.ts";
import { openShare, type Share } from "@reeve/core/layer/share.ts";
import type { Conversions } from "@reeve/core/state/conversions/conversion.ts";
import { conversions } from "@reeve/core/state/conversions/registry.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import type { System } from "@reeve/core/system/port.ts";
import { requireTask } from "@reeve/core/work/subject.ts";
import type { Task } from "@reeve/core/work/task.ts";
import type { Plan, PlanEntry } from "@reeve/store";
import type { Command, Outcome } from "./command.ts";
import { type Context, makeContext } from "./context.ts";
import type { Entry } from "./registry.ts";

/** One call of a command, whatever surface it came from. */
export interface Call {
  readonly command: Command;
  readonly args: Readonly<Record<string, unknown>>;
  readonly system: System;
  readonly version: string;
  readonly shareFolder: AbsPath;
  readonly program: string;
  readonly registry: readonly Entry[];
  /** Where the command was called; a repository is looked for from here upward. */
  readonly start: AbsPath;
  readonly dry: boolean;
  readonly caches: boolean;
  readonly prefetched: Prefetched | undefined;
  /** The steps that bring older files to today's shapes. Default: Reeve's own. */
  readonly conversions?: Conversions;
}

export interface Answer {
  readonly outcome: Outcome<unknown>;
  /** The plan of a dry run, as data. */
  readonly planned: readonly PlanEntry[] | undefined;
  readonly plan: Plan | undefined;
  /** Files a plan had to leave because somebody changed them meanwhile. */
  readonly notices: readonly string[];
  readonly gitProcesses: number;
}

export interface Open {
  readonly context: Context;
  readonly git: GitReading | undefined;
  readonly layer: Layer | undefined;
}

/** Does this call change something? Flags may turn a writing command into a reading one, and the other way round. */
function isWriting(command: Command, args: Readonly<Record<string, unknown>>): boolean {
  const given = (names: readonly string[] | undefined): boolean =>
    (names ?? []).some((name) => args[name] !== undefined && args[name] !== false);
  return command.class === "read-only" ? given(command.writesWith) : !given(command.readsWith);
}

/** Step 4: opens what the command needs and nothing else. */
async function open(call: Call, share: Share, prefetched: Prefetched | undefined): Promise<Open> {
  const { command, system, version, dry, program, registry } = call;
  // What a writing gate judges by is read from the files themselves, whatever a cache says of them.
  const caches = call.caches && !(command.gate === true && isWriting(command, call.args));
  let git: GitReading | undefined;
  let layer: Layer | undefined;
  let task: Task | undefined;
  if (command.needs === "any") git = readRepositoryIfAny(call);
  else if (command.needs !== "nothing") git = readRepository(system, call.start, prefetched);
  const wantsLayer = command.needs === "any" || command.needs === "layer" || command.needs === "task";
  if (git !== undefined && wantsLayer && (command.needs !== "any" || hasLayer(system, git.repository))) {
    requireLayer(system, git.repository);
    layer = openLayer({ system, repository: git.repository, version, caches, dry });
  }
  if (layer !== undefined && command.needs === "task") task = await requireTask(layer);
  const context = makeContext({ system, version, dry, caches, program, registry, share, git, layer, task });
  return { context, git, layer };
}

function readRepositoryIfAny({ system, start }: Call): GitReading | undefined {
  try {
    return readRepository(system, start, undefined);
  } catch (error) {
    if (error instanceof ReeveError && (error.code === "NOT_A_REPOSITORY" || error.code === "NO_GIT")) return undefined;
    throw error;
  }
}

/** What a writing command opens are files of today's shapes; answers what a person should be told of older ones. */
async function convertOlder(call: Call): Promise<readonly string[]> {
  if ((call.conversions ?? conversions).length === 0 || call.dry || call.command.needs === "nothing") return [];
  const git = readRepositoryIfAny(call);
  if (git === undefined) return [];
  const { convertFirst } = await import("./apply.ts");
  return convertFirst(call, git);
}

/** Steps 4 to 6 of the runner. */
export async function execute(call: Call): Promise<Answer> {
  const share = openShare(call.system, call.shareFolder);
  const writing = isWriting(call.command, call.args);
  const converted = writing ? await convertOlder(call) : [];
  const first = await open(call, share, writing ? undefined : call.prefetched);
  const prepared = await call.command.prepare?.(call.args as never, first.context);
  const run = ({ context }: Open): Outcome<unknown> | Promise<Outcome<unknown>> =>
    call.command.run(call.args as never, context, prepared as never);
  if (writing) {
    const { runAndApply } = await import("./apply.ts");
    const answer = await runAndApply({ call, share, first, run, open: () => open(call, share, undefined) });
    return { ...answer, notices: [...converted, ...answer.notices] };
  }
  const outcome = await run(first);
  first.layer?.documents.keep();
  return { outcome, planned: undefined, plan: undefined, notices: [], gitProcesses: first.git?.processes ?? 0 };
}
