import type { GitReading } from "@reeve/core/git/reading.ts";
import type { Layer } from "@reeve/core/layer/layer.ts";
import type { Share } from "@reeve/core/layer/share.ts";
import type { System } from "@reeve/core/system/port.ts";
import type { Task } from "@reeve/core/work/task.ts";
import type { Entry } from "./registry.ts";

/** What a command may use. Asking for what its `needs` does not name is a defect of the command. */
export interface Context {
  readonly system: System;
  /** Reeve's own version. */
  readonly version: string;
  readonly share: Share;
  /** The program a person starts, as an absolute path. */
  readonly program: string;
  /** Every command there is, for those that speak of commands. */
  readonly registry: readonly Entry[];
  readonly git: GitReading;
  readonly layer: Layer;
  /** The active task of this checkout. */
  readonly task: Task;
  /** Standard input, read once. */
  readonly input: string;
}
