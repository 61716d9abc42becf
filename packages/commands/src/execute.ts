import { type GitReading, type Prefetched, readRepository } from "@reeve/core/git/reading.ts";
import { ensureHome, type HomeMode, readHome } from "@reeve/core/layer/home.ts";
import { journalFile, type Layer, lockFile, openLayer, requireLayer } from "@reeve/core/layer/layer.ts";
import { openShare, readHomeSeeds, type Share } from "@reeve/core/layer/share.ts";
import { planRotation } from "@reeve/core/records/rotation.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import type { System } from "@reeve/core/system/port.ts";
import { requireTask } from "@reeve/core/work/subject.ts";
import type { Task } from "@reeve/core/work/task.ts";
import { applyPlan, listPlan, type Plan, type PlanEntry, recoverPlan, withLock } from "@reeve/store";
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
}

export interface Answer {
  readonly outcome: Outcome<unknown>;
  /** The plan of a dry run, as data. */
  readonly planned: readonly PlanEntry[] | undefined;
  readonly plan: Plan | undefined;
  /** Files a recovered plan had to leave because somebody changed them meanwhile. */
  readonly notices: readonly string[];
  readonly gitProcesses: number;
}

interface Open {
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
  const { command, system, version, program, registry } = call;
  let git: GitReading | undefined;
  let layer: Layer | undefined;
  let task: Task | undefined;
  if (command.needs !== "nothing") git = readRepository(system, call.start, prefetched);
  if (git !== undefined && (command.needs === "layer" || command.needs === "task")) {
    requireLayer(system, git.repository);
    layer = openLayer({ system, repository: git.repository, version, caches: call.caches, dry: call.dry });
  }
  if (layer !== undefined && command.needs === "task") task = await requireTask(layer);
  return { context: makeContext({ system, version, program, registry, share, git, layer, task }), git, layer };
}

function runCommand(call: Call, context: Context, prepared: unknown): Outcome<unknown> | Promise<Outcome<unknown>> {
  return call.command.run(call.args as never, context, prepared as never);
}

function left(report: { readonly left: readonly { path: string; reason: string }[] } | undefined): readonly string[] {
  return (report?.left ?? []).map((file) => `${file.path} was changed meanwhile (${file.reason}) and is left as it is`);
}

interface Writing {
  readonly call: Call;
  readonly share: Share;
  readonly first: Open;
  readonly prepared: unknown;
}

/** Step 6 of a writing command: under the layer's lock, on what a crash left behind finished, read again and apply. */
async function runAndApply({ call, share, first, prepared }: Writing): Promise<Answer> {
  const { system } = call;
  const { repository } = first.context.git;
  const known = readHome(system, repository);
  const early = call.dry || !known.exists ? await runCommand(call, first.context, prepared) : undefined;
  if (call.dry && early !== undefined) {
    const plan = early.plan ?? { changes: [] };
    return { outcome: early, planned: listPlan(plan), plan, notices: [], gitProcesses: first.context.git.processes };
  }
  const wanted: HomeMode | undefined = early?.home;
  const home = await ensureHome({
    system,
    repository,
    seeds: readHomeSeeds(share),
    ...(wanted === undefined ? {} : { wanted }),
  });
  return withLock(lockFile(home), {}, async () => {
    const journal = journalFile(home);
    const recovered = await recoverPlan({ journal });
    const { context, layer } = await open(call, share, undefined);
    const outcome = await runCommand(call, context, prepared);
    const applied = outcome.plan === undefined ? undefined : await applyPlan(outcome.plan, { journal });
    if (layer !== undefined && outcome.plan !== undefined) {
      const rotation = await planRotation(openLayer({ ...layer, caches: call.caches, dry: false }), context.git.head());
      if (rotation !== undefined) await applyPlan(rotation, { journal });
    }
    layer?.documents.keep();
    const notices = [...left(recovered), ...left(applied)];
    return { outcome, planned: undefined, plan: outcome.plan, notices, gitProcesses: context.git.processes };
  });
}

/** Steps 4 to 6 of the runner. */
export async function execute(call: Call): Promise<Answer> {
  const share = openShare(call.system, call.shareFolder);
  const writing = isWriting(call.command, call.args);
  const first = await open(call, share, writing ? undefined : call.prefetched);
  const prepared = await call.command.prepare?.(call.args as never, first.context);
  if (writing) return runAndApply({ call, share, first, prepared });
  const outcome = await runCommand(call, first.context, prepared);
  first.layer?.documents.keep();
  return { outcome, planned: undefined, plan: undefined, notices: [], gitProcesses: first.git?.processes ?? 0 };
}
