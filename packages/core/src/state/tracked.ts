import type { StateTable } from "@reeve/store/table";
import { readGit } from "../git/process.ts";
import type { Repository } from "../git/repository.ts";
import type { System } from "../system/port.ts";

/** Files of the layer that git tracks and the table says it must not, with the class they are of. */
export function listWronglyTracked(system: System, repository: Repository, table: StateTable): readonly string[] {
  const listed = readGit(system, repository, { args: ["ls-files", "-z", "--", ":(top).ai"] });
  const paths = listed
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
  return paths.filter((path) => {
    const { tracked, group } = table.explain(path);
    return !tracked && group !== undefined && group !== "config";
  });
}
