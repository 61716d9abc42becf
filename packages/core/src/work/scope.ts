import { basename, dirname, isAbsolute, join, relative as relativePath, resolve, sep } from "node:path";
import { ReeveError } from "../findings/errors.ts";
import type { Repository } from "../git/repository.ts";
import type { Policy } from "../policy/policy.ts";
import type { AbsPath, RepoPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";

function deepestExisting(system: System, where: string): { readonly real: string; readonly rest: string } {
  let at = where;
  const rest: string[] = [];
  for (;;) {
    const real = system.realPath(at as AbsPath);
    if (real !== undefined) return { real, rest: rest.join("/") };
    rest.unshift(basename(at));
    at = dirname(at);
  }
}

function isOutside(relative: string): boolean {
  return relative === ".." || relative.startsWith(`..${sep}`) || isAbsolute(relative);
}

/**
 * The form a scope path is recorded in: from the repository root, every link resolved, no slash at its end; the root
 * itself is `.`. Refuses a path outside the repository, or one that leaves it through a link, with `SCOPE_REFUSED`.
 */
export function resolveScope(system: System, repository: Repository, given: string): RepoPath {
  if (given.trim() === "" || given.includes("\0")) throw new ReeveError("USAGE", "a scope path is empty");
  const lexical = resolve(system.cwd, given);
  const { real, rest } = deepestExisting(system, lexical);
  const top = system.realPath(repository.top) ?? repository.top;
  const full = rest === "" ? real : join(real, rest);
  const relative = relativePath(top, full);
  const dangling = system.info(join(real, rest.split("/")[0] ?? "") as AbsPath)?.kind === "link" && rest !== "";
  if (isOutside(relative) || dangling) {
    const written = relativePath(top, lexical);
    const through = !isOutside(written);
    throw new ReeveError(
      "SCOPE_REFUSED",
      `scope '${given}' ${through ? "leaves the repository through a link" : "is outside the repository"} (${top})`,
      { hint: "name a path inside the repository, e.g. --scope src", details: { scope: given } },
    );
  }
  const scope = relative.split(sep).join("/");
  if (isInside(scope, ".git")) {
    const local = relativePath(top, lexical).startsWith(join(".ai", "local"));
    const what = local ? "this checkout's own half of the layer, which no task changes" : "git's own folder";
    const hint = "name the files the task may change, e.g. --scope src";
    throw new ReeveError("SCOPE_REFUSED", `scope '${given}' is ${what}`, { hint, details: { scope: given } });
  }
  return (scope === "" ? "." : scope) as RepoPath;
}

export function isInside(file: string, scope: string): boolean {
  return scope === "." || file === scope || file.startsWith(`${scope}/`);
}

/** One of two scopes contains the other, or they are equal. */
export function overlaps(a: string, b: string): boolean {
  return isInside(a, b) || isInside(b, a);
}

/** Files Reeve keeps a block or a line in; a task may always change them. */
const managedFiles: readonly string[] = [".gitignore", ".gitattributes"];

/** Is a file within a task's claim? The layer, managed files and projection targets always are. */
export function isClaimed(file: string, scope: readonly string[], policy: Policy): boolean {
  return (
    scope.some((claim) => isInside(file, claim)) ||
    isInside(file, ".ai") ||
    managedFiles.includes(file) ||
    (policy.projections ?? []).some((projection) => projection.target === file)
  );
}
