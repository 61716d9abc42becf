import { resolve } from "node:path";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import { runGit } from "@reeve/core/git/process.ts";
import { type Layer, writeChange } from "@reeve/core/layer/layer.ts";
import type { Origin } from "@reeve/core/state/bundle/manifest.ts";
import type { StateTree } from "@reeve/core/state/bundle/tree.ts";
import { readTable } from "@reeve/core/state/contributed.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import type { Context } from "../context.ts";

/** The layer with its whole table, what the repository contributes included. */
export function treeOf(layer: Layer): StateTree {
  return {
    table: readTable(layer),
    locate: layer.locate,
    place(path) {
      const { root, path: below } = writeChange(layer, path, "");
      return { root, path: below };
    },
  };
}

/** A path a person named, from the folder they are in. */
export function pathOf({ system }: Context, given: string): AbsPath {
  return resolve(system.cwd, given) as AbsPath;
}

/** Both halves of the layer, and git's own folder. */
export function layerFolders({ layer, git }: Context): readonly AbsPath[] {
  const { top, commonDir, gitDir } = git.repository;
  return [resolve(top, ".ai") as AbsPath, layer.home.path, commonDir, gitDir];
}

/** Where a bundle comes from. */
export function originOf(context: Context): Origin {
  const { system, version } = context;
  const exported = `${system.now().toISOString().slice(0, 19)}Z`;
  return { repository: firstCommit(context), exported_at: exported, reeve: version };
}

/** The id of the oldest commit without a parent, which all clones share; `null` before there is one. */
export function firstCommit({ system, git }: Context): string | null {
  const { exit, stdout } = runGit(system, git.repository, { args: ["rev-list", "--max-parents=0", "HEAD"] });
  if (exit !== 0) return null;
  return stdout.toString("utf8").trim().split("\n").at(-1) ?? null;
}

/** A plan that a crash left would be packed half done; every writing command finishes it first. */
export function requireSettled(layer: Layer): void {
  if (layer.pending.length === 0) return;
  throw new ReeveError("REFUSED", `a command that was interrupted left ${layer.pending[0]} half written`, {
    hint: "any command that writes finishes it, e.g. reeve state clean; then run this one again",
  });
}
