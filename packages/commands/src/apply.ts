import type { GitReading } from "@reeve/core/git/reading.ts";
import { ensureHome, type Home, type HomeMode, readHome } from "@reeve/core/layer/home.ts";
import { journalFile, lockFile } from "@reeve/core/layer/layer.ts";
import { readHomeSeeds, type Share } from "@reeve/core/layer/share.ts";
import { planRotation } from "@reeve/core/records/rotation.ts";
import { needsConversion } from "@reeve/core/state/conversions/needed.ts";
import { conversions } from "@reeve/core/state/conversions/registry.ts";
import { type ApplyOptions, applyPlan, listPlan, provePlan, recoverPlan, withLock } from "@reeve/store";
import type { Outcome } from "./command.ts";
import type { Answer, Call, Open } from "./execute.ts";

export interface Writing {
  readonly call: Call;
  readonly share: Share;
  readonly first: Open;
  /** Opens everything anew, as it is under the lock. */
  readonly open: () => Promise<Open>;
  readonly run: (opened: Open) => Outcome<unknown> | Promise<Outcome<unknown>>;
}

/** How long one holder is waited for. A command holds the lock for a moment, but on a busy machine moments are long. */
const lockWaitMs = 15_000;

function left(report: { readonly left: readonly { path: string; reason: string }[] } | undefined): readonly string[] {
  return (report?.left ?? []).map((file) => `${file.path} was changed meanwhile (${file.reason}) and is left as it is`);
}

/** Brings files of an older shape up to date before anything is read; answers what a person should be told. */
async function convert(call: Call, git: GitReading, home: Home): Promise<readonly string[]> {
  if (call.command.unconverted === true) return [];
  const place = { system: call.system, repository: git.repository, home, version: call.version };
  const steps = call.conversions ?? conversions;
  if (!(await needsConversion(place, steps))) return [];
  const { runConversions } = await import("@reeve/core/state/conversions/run.ts");
  return runConversions(place, steps);
}

/** The same before anything is opened, for what is opened before the lock is read as it lies; answers the same. */
export async function convertFirst(call: Call, git: GitReading): Promise<readonly string[]> {
  const home = readHome(call.system, git.repository);
  if (!home.exists) return [];
  return withLock(lockFile(home), { waitMs: lockWaitMs }, async () => {
    await recoverPlan(applyOptions(git, home));
    return convert(call, git, home);
  });
}

function applyOptions({ repository }: GitReading, home: Home): ApplyOptions {
  const { top, commonDir, gitDir } = repository;
  return { journal: journalFile(home), roots: [top, home.path, commonDir, gitDir] };
}

/** Does what the outcome asks for beside its plan; its answer is the result. */
async function keepUp(outcome: Outcome<unknown>): Promise<Outcome<unknown>> {
  return outcome.upkeep === undefined ? outcome : { ...outcome, result: await outcome.upkeep() };
}

/** Step 6 where there is no layer, and so no lock, journal or plan. */
async function runAlone({ call, first, run }: Writing): Promise<Answer> {
  const early = await run(first);
  return answerAlone(call.dry ? early : await keepUp(early), first.git?.processes ?? 0);
}

function answerAlone(outcome: Outcome<unknown>, gitProcesses: number): Answer {
  return { outcome, planned: undefined, plan: undefined, notices: [], gitProcesses };
}

/**
 * Step 6 of a writing command: under the layer's lock, with what a crash left behind finished, read again and apply. A
 * command that will be refused is refused before a home is made for it.
 */
export async function runAndApply(writing: Writing): Promise<Answer> {
  const { call, share, first, open, run } = writing;
  const { system } = call;
  if (call.command.needs === "any" && (first.layer === undefined || !first.layer.home.exists)) return runAlone(writing);
  const { git } = first.context;
  const early = call.dry || !readHome(system, git.repository).exists ? await run(first) : undefined;
  if (call.dry && early !== undefined) {
    if (early.upkeep !== undefined) return answerAlone(early, git.processes);
    const plan = early.plan ?? { changes: [] };
    return { outcome: early, planned: listPlan(plan), plan, notices: [], gitProcesses: git.processes };
  }
  if (early?.plan !== undefined && call.command.needs === "repo") provePlan(early.plan);
  const wanted: HomeMode | undefined = early?.home;
  const home = await ensureHome({
    system,
    repository: git.repository,
    seeds: readHomeSeeds(share),
    ...(wanted === undefined ? {} : { wanted }),
    ...(early?.takes === undefined ? {} : { takes: early.takes }),
  });
  return withLock(lockFile(home), { waitMs: lockWaitMs }, async () => {
    const options = applyOptions(git, home);
    const recovered = await recoverPlan(options);
    const converted = await convert(call, git, home);
    const opened = await open();
    const outcome = await keepUp(await run(opened));
    const applied = outcome.plan === undefined ? undefined : await applyPlan(outcome.plan, options);
    const { layer, context } = opened;
    if (layer !== undefined && outcome.plan !== undefined) {
      const rotation = await planRotation(layer, context.git.head());
      if (rotation !== undefined) await applyPlan(rotation, options);
    }
    layer?.documents.keep();
    const notices = [...left(recovered), ...converted, ...left(applied)];
    return { outcome, planned: undefined, plan: outcome.plan, notices, gitProcesses: context.git.processes };
  });
}
