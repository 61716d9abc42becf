import { ReeveError } from "@reeve/core/findings/errors.ts";
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
  /** Nothing may be changed, and nothing run that could. */
  readonly dry: boolean;
  /** May caches be read and written? */
  readonly caches: boolean;
  /** The program a person starts, as an absolute path. */
  readonly program: string;
  /** Every command there is, for those that speak of commands. */
  readonly registry: readonly Entry[];
  readonly git: GitReading;
  readonly layer: Layer;
  /** The layer, for a command that can do without one. */
  readonly layerIfAny: Layer | undefined;
  /** The active task of this checkout. */
  readonly task: Task;
  /** Standard input, read once. */
  readonly input: string;
}

/** What was opened for a command; what was not throws when it is asked for. */
export interface Opened {
  readonly system: System;
  readonly dry: boolean;
  readonly caches: boolean;
  readonly version: string;
  readonly program: string;
  readonly registry: readonly Entry[];
  readonly share?: Share | undefined;
  readonly git?: GitReading | undefined;
  readonly layer?: Layer | undefined;
  readonly task?: Task | undefined;
}

export function makeContext(opened: Opened): Context {
  const { system, version, dry, caches, program, registry } = opened;
  const require = <T>(what: string, value: T | undefined): T => {
    if (value === undefined)
      throw new ReeveError("INTERNAL", `a command uses ${what} without declaring that it needs it`);
    return value;
  };
  let input: string | undefined;
  return {
    system,
    version,
    dry,
    caches,
    program,
    registry,
    get share() {
      return require("the shipped data", opened.share);
    },
    get git() {
      return require("git", opened.git);
    },
    get layer() {
      return require("the layer", opened.layer);
    },
    layerIfAny: opened.layer,
    get task() {
      return require("the task", opened.task);
    },
    get input() {
      input ??= system.readInput();
      return input;
    },
  };
}
