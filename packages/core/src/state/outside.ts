import { cacheDir } from "@reeve/store";
import { defineStateTable, type StateTable } from "@reeve/store/table";
import type { Repository } from "../git/repository.ts";
import { join } from "../layer/home.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { repositoryFolder } from "./conversions/place.ts";

/** A folder of Reeve's outside the layer. */
export interface OutsideFolder {
  /** As the reference names it. */
  readonly name: string;
  readonly table: StateTable;
  locate(system: System, repository: Repository): AbsPath;
}

const none = { config: [], records: [], local: [], identity: [], secrets: [] };

const commonEntries = [
  {
    path: "checkouts/",
    purpose: "The homes: each checkout's own half of the layer, whose files the layer's table declares.",
    because: "An ignored folder dies with its working tree; below the common git directory it outlives it.",
    owner: "layer",
    writer: "reeve",
    holds: "directory",
    portability: "carry",
    scope: "repository",
    invalidates: ["state"],
    travels: "never",
  },
  {
    path: "home.*",
    purpose: "The lock that making a home takes, and the plan of one being made.",
    because: "They belong to a process; the next one that makes a home finishes what a crash left.",
    owner: "layer",
    writer: "reeve",
    holds: "document",
    portability: "derived",
    scope: "repository",
    invalidates: [],
    why: "No view shows a lock.",
  },
] as const;

const userEntries = [
  {
    path: "secrets/conversions/",
    purpose: "By checkout: the episodes of conversions and imports, and what every file held before.",
    because: "Who may write the working tree must not be able to change what a rollback puts back.",
    owner: "state",
    writer: "reeve",
    holds: "directory",
    portability: "secret",
    scope: "home",
    invalidates: ["state"],
  },
] as const;

const cacheEntries = [
  {
    path: "code/",
    purpose: "What V8 compiled of Reeve itself, by version of Node.",
    because: "Deleting it changes time, never an answer; REEVE_CACHE=off does without it.",
    owner: "cli",
    writer: "reeve",
    holds: "directory",
    portability: "derived",
    scope: "home",
    invalidates: [],
    why: "No view shows a cache.",
    bulk: true,
  },
] as const;

/** Every folder Reeve keeps files in outside a working tree, with the table of what may lie there. */
export const outsideFolders: readonly OutsideFolder[] = [
  {
    name: "<git common directory>/reeve/",
    table: defineStateTable({
      roots: { ...none, records: ["checkouts/"], local: ["home.*"] },
      entries: commonEntries,
    }),
    locate: (_, repository) => join(repository.commonDir, "reeve"),
  },
  {
    name: "<user state>/repositories/<repository>/",
    table: defineStateTable({
      roots: { ...none, identity: ["identity/"], secrets: ["secrets/"] },
      entries: userEntries,
    }),
    locate: (system, repository) => repositoryFolder(system, repository),
  },
  {
    name: "<user cache>/",
    table: defineStateTable({ roots: { ...none, local: ["code/"] }, entries: cacheEntries }),
    locate: ({ env }) => cacheDir("reeve", env) as AbsPath,
  },
];
