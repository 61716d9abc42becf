import type { Command } from "./command.ts";

/** One command: its name, the folder it lives in (its chunk and its place in the help), and how to load it. */
export interface Entry {
  readonly name: string;
  readonly group: Group;
  readonly load: () => Promise<Command>;
}

/** The groups of the help, by folder. */
export const groups = {
  status: "See",
  work: "Work",
  record: "Records",
  layer: "The layer",
  store: "Stores",
  state: "State",
  memory: "Memories",
  meta: "Reeve itself",
  version: "Reeve itself",
} as const;

export type Group = keyof typeof groups;

function lazy(name: string, group: Group, load: () => Promise<Command>): Entry {
  return { name, group, load };
}

/** The verbs `reeve help` shows first. */
export const frontVerbs: readonly string[] = [
  "init",
  "status",
  "start",
  "check",
  "finish",
  "handover",
  "doctor",
  "checkpoint",
];

export const registry: readonly Entry[] = [
  lazy("", "status", async () => (await import("./status/overview.ts")).overview),
  lazy("status", "status", async () => (await import("./status/status.ts")).status),
  lazy("init", "layer", async () => (await import("./layer/init.ts")).init),
  lazy("doctor", "layer", async () => (await import("./layer/doctor.ts")).doctor),
  lazy("start", "work", async () => (await import("./work/start.ts")).start),
  lazy("check", "work", async () => (await import("./work/check.ts")).check),
  lazy("finish", "work", async () => (await import("./work/finish.ts")).finish),
  lazy("checkpoint", "record", async () => (await import("./record/checkpoint.ts")).checkpoint),
  lazy("handover", "record", async () => (await import("./record/handover.ts")).handover),
  lazy("decision add", "record", async () => (await import("./record/decision-add.ts")).decisionAdd),
  lazy("decision list", "record", async () => (await import("./record/decision-list.ts")).decisionList),
  lazy("decision show", "record", async () => (await import("./record/decision-show.ts")).decisionShow),
  lazy("question add", "record", async () => (await import("./record/question-add.ts")).questionAdd),
  lazy("question resolve", "record", async () => (await import("./record/question-resolve.ts")).questionResolve),
  lazy("question list", "record", async () => (await import("./record/question-list.ts")).questionList),
  lazy("history", "record", async () => (await import("./record/history.ts")).history),
  lazy("store list", "store", async () => (await import("./store/store-list.ts")).storeList),
  lazy("store verify", "store", async () => (await import("./store/store-verify.ts")).storeVerify),
  lazy("store show", "store", async () => (await import("./store/store-show.ts")).storeShow),
  lazy("store compact", "store", async () => (await import("./store/store-compact.ts")).storeCompact),
  lazy("store repair", "store", async () => (await import("./store/store-repair.ts")).storeRepair),
  lazy("state", "state", async () => (await import("./state/state.ts")).state),
  lazy("state list", "state", async () => (await import("./state/state-list.ts")).stateList),
  lazy("state explain", "state", async () => (await import("./state/state-explain.ts")).stateExplain),
  lazy("state check", "state", async () => (await import("./state/state-check.ts")).stateCheck),
  lazy("state export", "state", async () => (await import("./state/state-export.ts")).stateExport),
  lazy("state import", "state", async () => (await import("./state/state-import.ts")).stateImport),
  lazy("state backup", "state", async () => (await import("./state/state-backup.ts")).stateBackup),
  lazy("state clean", "state", async () => (await import("./state/state-clean.ts")).stateClean),
  lazy("state journal", "state", async () => (await import("./state/state-journal.ts")).stateJournal),
  lazy("state rollback", "state", async () => (await import("./state/state-rollback.ts")).stateRollback),
  lazy("memory lint", "memory", async () => (await import("./memory/memory-lint.ts")).memoryLint),
  lazy("help", "meta", async () => (await import("./meta/help.ts")).help),
  lazy("completion", "meta", async () => (await import("./meta/completion.ts")).completion),
  lazy("version", "version", async () => (await import("./version/version.ts")).version),
];
