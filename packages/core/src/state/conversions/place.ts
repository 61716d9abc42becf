import { isAbsolute, join } from "node:path";
import { type ApplyOptions, stateDir } from "@reeve/store";
import type { Repository } from "../../git/repository.ts";
import type { Home } from "../../layer/home.ts";
import { journalFile } from "../../layer/layer.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";

/** One checkout's half of a layer, and where what was there before a conversion is kept. */
export interface ConversionPlace {
  readonly system: System;
  readonly repository: Repository;
  readonly home: Home;
  /** Reeve's own version. */
  readonly version: string;
}

const localPrefix = ".ai/local/";

/** A path of the state table as a change of a plan names it. */
export function rootOf({ repository, home }: ConversionPlace, path: string): { root: AbsPath; path: string } {
  return path.startsWith(localPrefix)
    ? { root: home.path, path: path.slice(localPrefix.length) }
    : { root: repository.top, path };
}

/** Where a path of the state table lies on this machine. */
export function locate(place: ConversionPlace, path: string): AbsPath {
  const { root, path: below } = rootOf(place, path);
  return join(root, below) as AbsPath;
}

/** The layer's journal, and the only folders a plan found in it may touch. */
export function applyOptions({ repository, home }: ConversionPlace): ApplyOptions {
  const { top, commonDir, gitDir } = repository;
  return { journal: journalFile(home), roots: [top, home.path, commonDir, gitDir] };
}

/** The user's own state of Reeve: `$REEVE_HOME`, else `reeve/` in the state folder of the platform. */
function userStateFolder({ env }: System): AbsPath {
  const own = env["REEVE_HOME"];
  return (own !== undefined && isAbsolute(own) ? own : stateDir("reeve", env)) as AbsPath;
}

/** What the user's own state keeps of one repository, known by the path of its common git directory. */
export function repositoryFolder(system: System, { commonDir }: Repository): AbsPath {
  return join(userStateFolder(system), "repositories", system.sha256(commonDir).slice(0, 16)) as AbsPath;
}

/**
 * Where this checkout's episodes and pre-images lie: outside the working tree, so that who writes there cannot change what
 * a rollback puts back.
 */
export function episodesFolder({ system, repository }: ConversionPlace): AbsPath {
  return join(repositoryFolder(system, repository), "secrets", "conversions", repository.checkout) as AbsPath;
}
