import type { StateEntry } from "@reeve/store/table";
import { ReeveError } from "../../findings/errors.ts";
import type { System } from "../../system/port.ts";
import { readInventory } from "./inventory.ts";
import type { LeftOut } from "./manifest.ts";
import { isNamed } from "./names.ts";
import type { ClaimedFile, PassedOver, StateTree } from "./tree.ts";

/** What may travel that does not by itself. */
export interface Consents {
  readonly prompts: boolean;
  readonly secrets: boolean;
}

/** What an export takes, and what it does not. */
export interface Selection {
  readonly files: readonly ClaimedFile[];
  readonly leftOut: readonly LeftOut[];
  readonly passedOver: readonly PassedOver[];
}

/** @throws ReeveError NOT_FOUND when an excluded path names nothing that would travel */
export function selectFiles(
  system: System,
  tree: StateTree,
  { consents, excluded }: { readonly consents: Consents; readonly excluded: readonly string[] },
): Selection {
  const inventory = readInventory(system, tree, ["config", "records", "local", "identity", "secrets"]);
  const files: ClaimedFile[] = [];
  const left = new Map<string, LeftOut>();
  for (const file of inventory.files) {
    const { path } = file.entry;
    const because = isNamed(file.path, excluded) ? "excluded" : reasonToStay(tree, file.entry, consents);
    if (because === undefined) files.push(file);
    else left.set(`${path} ${because}`, { path, because, files: (left.get(`${path} ${because}`)?.files ?? 0) + 1 });
  }
  for (const name of excluded) {
    if (inventory.files.some((file) => isNamed(file.path, [name]))) continue;
    throw new ReeveError("NOT_FOUND", `--exclude ${name}: names no file of the layer`, {
      hint: "give the path from the repository's root, e.g. .ai/repo/rules",
    });
  }
  return { files, leftOut: [...left.values()], passedOver: inventory.passedOver };
}

/** Why files of an entry do not travel; `undefined` when they do. */
export function reasonToStay(tree: StateTree, entry: StateEntry, consents: Consents): LeftOut["because"] | undefined {
  const { group, carried } = tree.table.traitsOf(entry);
  switch (carried) {
    case "yes":
      return undefined;
    case "with-prompts":
      return consents.prompts ? undefined : "prompts";
    case "with-secrets":
      return consents.secrets ? undefined : "secret";
    case "never":
      return group === "local" ? "derived" : group === "identity" ? "identity" : "stays";
  }
}
