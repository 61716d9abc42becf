import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { ReeveError } from "../findings/errors.ts";
import type { AbsPath } from "../system/paths.ts";
import type { FileKind, System } from "../system/port.ts";
import { parseRepositoryConfig, type RepositoryConfig } from "./config.ts";
import { isOthers } from "./ownership.ts";
import { parsePointer } from "./pointer.ts";

/** Where one working tree and the parts of its repository lie; every path has its links resolved. */
export interface Repository {
  /** The root of the working tree. */
  readonly top: AbsPath;
  /** This working tree's own git directory: HEAD, index and reflog. */
  readonly gitDir: AbsPath;
  /** What all working trees of the repository share; `gitDir` itself unless `kind` is `linked`. */
  readonly commonDir: AbsPath;
  readonly kind: "main" | "linked" | "submodule";
  /** `main`, or the administrative name of a linked working tree. */
  readonly checkout: string;
  /** Its files cannot be trusted to tell everything (another ref format, another user's): git itself must be asked. */
  readonly unusual: boolean;
}

interface Place {
  readonly gitDir: AbsPath;
  readonly commonDir: AbsPath;
  readonly config: RepositoryConfig;
}

const gitFileLabel = "gitdir: ";
const initHint = "cd into a git working tree, or make one here with `git init`";

function refuse(message: string, hint: string = initHint): never {
  throw new ReeveError("NOT_A_REPOSITORY", message, { hint });
}

function resolveReal(system: System, from: string, to: string): AbsPath | undefined {
  return system.realPath(resolve(from, to) as AbsPath);
}

/** The kind of what lies there, links followed. */
function kindOf(system: System, where: AbsPath): FileKind | undefined {
  const kind = system.info(where)?.kind;
  if (kind !== "link") return kind;
  const real = system.realPath(where);
  return real === undefined ? undefined : system.info(real)?.kind;
}

function readCommonDir(system: System, gitDir: AbsPath): AbsPath {
  const named = parsePointer(system.readText(join(gitDir, "commondir") as AbsPath));
  if (named === undefined) return gitDir;
  return resolveReal(system, gitDir, named) ?? (resolve(gitDir, named) as AbsPath);
}

function isGitDir(system: System, folder: AbsPath): boolean {
  if (system.info(join(folder, "HEAD") as AbsPath) === undefined) return false;
  const common = readCommonDir(system, folder);
  return ["objects", "refs"].every((part) => kindOf(system, join(common, part) as AbsPath) === "directory");
}

function readPlace(system: System, gitDir: AbsPath): Place {
  const commonDir = readCommonDir(system, gitDir);
  const shared = system.readText(join(commonDir, "config") as AbsPath) ?? "";
  const config = parseRepositoryConfig(shared);
  if (config.perWorktree) {
    const own = system.readText(join(gitDir, "config.worktree") as AbsPath) ?? "";
    return { gitDir, commonDir, config: parseRepositoryConfig(shared, own) };
  }
  // Without the extension both keys speak of the main working tree alone.
  const ofMain = commonDir !== gitDir ? { bare: false, worktree: undefined } : {};
  return { gitDir, commonDir, config: { ...config, ...ofMain } };
}

/** Is `inner` the folder `outer` or inside it? Both must have their links resolved. */
function isWithin(outer: AbsPath, inner: AbsPath): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function describe(system: System, place: Place, top: AbsPath): Repository {
  const { gitDir, commonDir, config } = place;
  const linked = gitDir !== commonDir;
  const isModule =
    !linked && gitDir.split(sep).includes("modules") && system.info(join(top, ".git") as AbsPath)?.kind === "file";
  return {
    top,
    gitDir,
    commonDir,
    kind: linked ? "linked" : isModule ? "submodule" : "main",
    checkout: linked ? basename(gitDir) : "main",
    unusual: (config.refStorage !== undefined && config.refStorage !== "files") || isOthers(system, { top, gitDir }),
  };
}

/** Git's stop signs: it never looks into one of these folders unless it starts there. */
function readCeilings(system: System): readonly string[] {
  const named = system.env["GIT_CEILING_DIRECTORIES"] ?? "";
  return named
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => system.realPath(folder as AbsPath) ?? folder);
}

/** The git directory a `.git` file names. */
function followGitFile(system: System, file: AbsPath): AbsPath {
  const named = parsePointer(system.readText(file), gitFileLabel);
  if (named === undefined) {
    refuse(`${file} does not name a git directory`, "move the file away, or repair it with `git worktree repair`");
  }
  const gitDir = resolveReal(system, dirname(file), named);
  if (gitDir === undefined || !isGitDir(system, gitDir)) {
    refuse(
      `${file} names ${resolve(dirname(file), named)}, where there is no git directory`,
      "if the repository was moved, run `git worktree repair` in its main working tree; for a submodule, `git submodule update --init`",
    );
  }
  return gitDir;
}

function walk(system: System, start: AbsPath): { readonly folder: AbsPath; readonly gitDir: AbsPath } {
  const ceilings = readCeilings(system);
  let folder = start;
  for (;;) {
    const dotGit = join(folder, ".git") as AbsPath;
    const kind = kindOf(system, dotGit);
    if (kind === "file") return { folder, gitDir: followGitFile(system, dotGit) };
    if (kind === "directory" && isGitDir(system, dotGit)) {
      return { folder, gitDir: system.realPath(dotGit) ?? dotGit };
    }
    if (isGitDir(system, folder)) {
      refuse(
        `${start} is inside the git directory ${folder}, which has no working tree here`,
        "cd into a working tree of the repository; a bare one gets one with `git worktree add <folder>`",
      );
    }
    const parent = dirname(folder) as AbsPath;
    if (parent === folder || ceilings.includes(parent)) refuse(`${start} is not inside a git working tree`);
    folder = parent;
  }
}

/** The repository that `GIT_DIR` names, with a working tree that can be told. */
function readNamed(system: System): Repository | undefined {
  const named = readNamedGitDir(system);
  if (named === undefined || !isGitDir(system, named)) return undefined;
  const place = readPlace(system, named);
  const worktree = system.env["GIT_WORK_TREE"];
  const top = worktree ? resolveReal(system, system.cwd, worktree) : readTop(system, place);
  return top === undefined ? undefined : describe(system, place, top);
}

function readTop(system: System, place: Place): AbsPath | undefined {
  if (place.gitDir === place.commonDir || place.config.worktree !== undefined) return readMainTop(system, place);
  const dotGit = parsePointer(system.readText(join(place.gitDir, "gitdir") as AbsPath));
  return dotGit === undefined ? undefined : resolveReal(system, place.gitDir, dirname(dotGit));
}

function readMainTop(system: System, place: Place): AbsPath | undefined {
  const { gitDir, config } = place;
  if (config.worktree !== undefined) return resolveReal(system, gitDir, config.worktree);
  return config.bare || basename(gitDir) !== ".git" ? undefined : (dirname(gitDir) as AbsPath);
}

/** The git directory `GIT_DIR` names in this process, links resolved; `undefined` when it is unset or names nothing. */
export function readNamedGitDir(system: System): AbsPath | undefined {
  const named = system.env["GIT_DIR"];
  if (!named) return undefined;
  const where = resolve(system.cwd, named) as AbsPath;
  if (kindOf(system, where) !== "file") return system.realPath(where);
  const inside = parsePointer(system.readText(where), gitFileLabel);
  return inside === undefined ? undefined : resolveReal(system, dirname(where), inside);
}

/**
 * The main working tree of the repository that owns `commonDir`; `undefined` for a bare one, and where git keeps no
 * word of it (a separate git directory, seen from a linked working tree).
 */
export function readMainWorktree(system: System, commonDir: AbsPath): AbsPath | undefined {
  return readMainTop(system, readPlace(system, commonDir));
}

/**
 * Finds the repository whose working tree holds `start`, without starting a process: what `git rev-parse` would find.
 * `GIT_DIR` (set inside git hooks) decides when `start` lies in its working tree; otherwise the folders above do.
 * @throws ReeveError NOT_A_REPOSITORY outside every working tree, inside a git directory, and at a `.git` file that
 * names nothing.
 */
export function findRepository(system: System, start: AbsPath): Repository {
  const from = system.realPath(start) ?? start;
  const named = readNamed(system);
  if (named !== undefined && isWithin(named.top, from)) return named;
  const { folder, gitDir } = walk(system, from);
  const place = readPlace(system, gitDir);
  if (place.config.worktree !== undefined) {
    const top = resolveReal(system, gitDir, place.config.worktree);
    if (top === undefined || !isWithin(top, from)) {
      refuse(`${from} is outside ${place.config.worktree}, the working tree its repository names in core.worktree`);
    }
    return describe(system, place, top);
  }
  if (place.config.bare) {
    refuse(
      `${folder} holds a bare repository, which has no working tree`,
      "cd into one of its working trees, or add one with `git worktree add <folder>`",
    );
  }
  return describe(system, place, folder);
}
