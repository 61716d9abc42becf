import { ensureHome, type HomeMode, readHome } from "@reeve/core/layer/home.ts";
import { journalFile, lockFile } from "@reeve/core/layer/layer.ts";
import { readHomeSeeds, type Share } from "@reeve/core/layer/share.ts";
import { planRotation } from "@reeve/core/records/rotation.ts";
import { applyPlan, listPlan, provePlan, recoverPlan, withLock } from "@reeve/store";
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

/**
 * Step 6 of a writing command: under the layer's lock, with what a crash left behind finished, read again and apply. A
 * command that will be refused is refused before a home is made for it.
 */
export async function runAndApply({ call, share, first, open, run }: Writing): Promise<Answer> {
  const { system } = call;
  const { git } = first.context;
  const early = call.dry || !readHome(system, git.repository).exists ? await run(first) : undefined;
  if (call.dry && early !== undefined) {
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
  });
  return withLock(lockFile(home), { waitMs: lockWaitMs }, async () => {
    const { top, commonDir, gitDir } = git.repository;
    const options = { journal: journalFile(home), roots: [top, home.path, commonDir, gitDir] };
    const recovered = await recoverPlan(options);
    const opened = await open();
    const outcome = await run(opened);
    const applied = outcome.plan === undefined ? undefined : await applyPlan(outcome.plan, options);
    const { layer, context } = opened;
    if (layer !== undefined && outcome.plan !== undefined) {
      const rotation = await planRotation(layer, context.git.head());
      if (rotation !== undefined) await applyPlan(rotation, options);
    }
    layer?.documents.keep();
    const notices = [...left(recovered), ...left(applied)];
    return { outcome, planned: undefined, plan: outcome.plan, notices, gitProcesses: context.git.processes };
  });
}
