import { dirname, join as joinPath, relative as relativePath, resolve } from "node:path";
import {
  type ApplyOptions,
  applyPlan,
  type Change,
  recoverPlan,
  StoreError,
  sweepFolder,
  withLock,
} from "@reeve/store";
import { ReeveError } from "../findings/errors.ts";
import type { Repository } from "../git/repository.ts";
import type { Worktree } from "../git/worktrees.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";

/** `git`: below the common git directory, behind a link. `checkout`: a real folder in the working tree. */
export type HomeMode = "git" | "checkout";

/** Where this checkout's own half of the layer lies (state-table design, "Where state lives"). */
export interface Home {
  readonly mode: HomeMode;
  readonly path: AbsPath;
  readonly exists: boolean;
  /** Is `.ai/local` there and does it lead to `path`? */
  readonly linked: boolean;
  /** What stands in its place, in words, when `.ai/local` is something else. */
  readonly misplaced: string | undefined;
  /** A home of this name that a removed worktree left behind. */
  readonly foreign: boolean;
}

interface HomeMark {
  readonly token: string;
}

/** Without a slash at its end: with one, git would not ignore a link. */
export const ignoreLine = "/.ai/local";

const markName = "reeve-checkout";
const homeTarget = /(?:^|\/)reeve\/checkouts\/[^/]+\/?$/;

export function join(base: AbsPath, ...parts: readonly string[]): AbsPath {
  return joinPath(base, ...parts) as AbsPath;
}

function checkoutsFolder(repository: Repository): AbsPath {
  return join(repository.commonDir, "reeve", "checkouts");
}

/** Every checkout's half: those below the common folder, removed worktrees' included, and real folders in working trees. */
export function listHomes(system: System, repository: Repository, worktrees: readonly Worktree[]): readonly AbsPath[] {
  const base = checkoutsFolder(repository);
  const folders = (system.list(base) ?? []).filter((entry) => entry.kind === "directory");
  const real = worktrees.map((worktree) => join(worktree.path, ".ai", "local"));
  return [
    ...folders.map((entry) => join(base, entry.name)),
    ...real.filter((path) => system.info(path)?.kind === "directory"),
  ];
}

export function localPath(repository: Repository): AbsPath {
  return join(repository.top, ".ai", "local");
}

function readToken(system: System, file: AbsPath): string | undefined {
  const text = system.readText(file);
  if (text === undefined) return undefined;
  try {
    const mark = JSON.parse(text) as Partial<HomeMark> | null;
    return typeof mark?.token === "string" ? mark.token : undefined;
  } catch {
    return undefined;
  }
}

function markFile(repository: Repository): AbsPath {
  return join(repository.gitDir, markName);
}

/** Is the home the one this worktree made, and not of an earlier one of its name? */
export function isMarked(
  system: System,
  { checkout, gitDir }: Pick<Worktree, "checkout" | "gitDir">,
  home: AbsPath,
): boolean {
  if (checkout === "main") return true;
  const token = readToken(system, join(gitDir, markName));
  return token !== undefined && token === readToken(system, join(home, "state", "checkout.json"));
}

function isForeign(system: System, repository: Repository, home: AbsPath): boolean {
  return repository.kind === "linked" && !isMarked(system, repository, home);
}

/** Looks where the home is; changes nothing. */
export function readHome(system: System, repository: Repository): Home {
  const local = localPath(repository);
  const expected = join(checkoutsFolder(repository), repository.checkout);
  const info = system.info(local);
  const none = { misplaced: undefined, foreign: false };
  if (info?.kind === "directory") return { mode: "checkout", path: local, exists: true, linked: true, ...none };
  const exists = system.info(expected)?.kind === "directory";
  const foreign = exists && isForeign(system, repository, expected);
  const home = { mode: "git", path: expected, exists: exists && !foreign, foreign } as const;
  if (info === undefined) return { ...home, linked: false, misplaced: undefined };
  if (info.kind !== "link")
    return { ...home, linked: false, misplaced: "a file stands where a folder or a link belongs" };
  const target = system.readLink(local) ?? "";
  const real = system.realPath(local);
  if (real !== undefined && real === system.realPath(expected)) return { ...home, linked: true, misplaced: undefined };
  if (resolve(dirname(local), target) === expected || homeTarget.test(target)) {
    return { ...home, linked: false, misplaced: undefined };
  }
  const state = real === undefined ? "a dangling link" : "a link";
  return { ...home, linked: false, misplaced: `${state} to ${target}, which is not this checkout's home` };
}

export interface EnsureHome {
  readonly system: System;
  readonly repository: Repository;
  readonly wanted?: HomeMode;
  /** The home of a worktree that is gone, by its name below the common folder, that this checkout goes on with. */
  readonly takes?: string;
  /** Text of the files a new home begins with, by path from the home. */
  readonly seeds: Readonly<Record<string, string>>;
}

const folders = ["state/handovers", "state/checkpoints", "state/archive", "state/completed", "cache", "run"];

interface HomePlace {
  /** An existing folder, and the home's path from it. */
  readonly root: AbsPath;
  readonly path: string;
}

function planSeeds(request: EnsureHome, { root, path: home }: HomePlace, token?: string): readonly Change[] {
  const inside = (name: string): string => `${home}/${name}`;
  const seeds = Object.entries(request.seeds).filter(
    ([name]) => request.system.info(join(root, home, name)) === undefined,
  );
  return [
    { kind: "mkdir", root, path: home, mode: 0o700 },
    ...folders.map((name) => ({ kind: "mkdir", root, path: inside(name), mode: 0o700 }) as const),
    ...seeds.map(([name, bytes]) => ({ kind: "write", root, path: inside(name), bytes, mode: 0o600 }) as const),
    ...(token === undefined
      ? []
      : [{ kind: "write", root, path: inside("state/checkout.json"), bytes: renderMark(request, token) } as const]),
  ];
}

function renderMark(request: EnsureHome, token: string): string {
  const created = `${request.system.now().toISOString().slice(0, 19)}Z`;
  return `${JSON.stringify({ created_at: created, token, version: 1, worktree: request.repository.top }, null, 2)}\n`;
}

function stampOf(system: System): string {
  return system
    .now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, "");
}

/** The plan of a home being made, and the only folders it may touch. */
function homeJournal({ commonDir, gitDir, top }: Repository): ApplyOptions {
  return {
    journal: join(commonDir, "reeve", "home.journal"),
    roots: [commonDir, join(commonDir, "reeve", "checkouts"), gitDir, top],
  };
}

/** What the worktree and its home both bear: a new one, unless it goes on with a home that has one. */
function tokenFor({ system, repository, takes }: EnsureHome, home: Home): string {
  const mark = join(checkoutsFolder(repository), takes ?? "", "state", "checkout.json");
  const known = takes === undefined ? undefined : readToken(system, mark);
  const own = home.foreign ? undefined : readToken(system, markFile(repository));
  return known ?? own ?? system.randomHex(16);
}

async function makeGitHome(request: EnsureHome, home: Home): Promise<void> {
  const { system, repository } = request;
  const base = checkoutsFolder(repository);
  const root = repository.commonDir;
  const options = homeJournal(repository);
  const { checkout } = repository;
  const path = `reeve/checkouts/${checkout}`;
  const { takes } = request;
  const token = repository.kind === "linked" ? tokenFor(request, home) : undefined;
  const before: Change[] = [{ kind: "mkdir", root, path: "reeve/checkouts" }];
  if (home.foreign && takes !== checkout) {
    before.push({ kind: "rename", root, from: path, path: `${path}.${stampOf(system)}` });
  }
  if (takes !== undefined && takes !== checkout) {
    before.push({ kind: "rename", root, from: `reeve/checkouts/${takes}`, path });
  }
  if (token !== undefined) {
    before.push({ kind: "write", root: repository.gitDir, path: markName, bytes: `${JSON.stringify({ token })}\n` });
  }
  // Branches from before the layer have no ignore line of their own.
  const excluded = system.readText(join(root, "info", "exclude")) ?? "";
  if (!excluded.split(/\r?\n/).includes(ignoreLine)) {
    before.push({ kind: "append", root, path: "info/exclude", bytes: `${ignoreLine}\n` });
  }
  await applyPlan({ changes: before }, options);
  await applyPlan({ changes: planSeeds(request, { root: base, path: repository.checkout }, token) }, options);
}

async function aimLink(request: EnsureHome): Promise<void> {
  const { system, repository } = request;
  const ai = system.realPath(join(repository.top, ".ai")) ?? join(repository.top, ".ai");
  const target = relativePath(ai, join(checkoutsFolder(repository), repository.checkout));
  const changes = [{ kind: "symlink", root: repository.top, path: ".ai/local", target } as const];
  await applyPlan({ changes }, homeJournal(repository));
  // A link half made by a process that was killed must not stay in the tracked part of the layer.
  sweepFolder(join(repository.top, ".ai"));
}

async function makeCheckoutHome(request: EnsureHome): Promise<void> {
  const root = request.repository.top;
  const journal = join(localPath(request.repository), "run", "home.journal");
  await applyPlan({ changes: [{ kind: "mkdir", root, path: ".ai" }] }, { journal });
  await applyPlan({ changes: planSeeds(request, { root, path: ".ai/local" }) }, { journal });
}

/** What a platform or file system answers that makes no symbolic links; a full or failing disk is another matter. */
const noLinks: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EINVAL"]);

function isWithoutLinks(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && noLinks.has(cause.code);
}

function refuse(home: Home): never {
  throw new ReeveError("HOME_MISPLACED", `.ai/local: ${home.misplaced}`, {
    hint: "look at it with: ls -l .ai/local — then move it out of the way and run the command again",
    details: { path: ".ai/local" },
  });
}

/** Refuses to go on with another home where there is one already. */
export function refuseTaking(name: string): never {
  throw new ReeveError("REFUSED", "this checkout has a half of its own already, and two are not joined", {
    hint: `make another worktree (git worktree add), and take ${name} over there before anything else`,
  });
}

function isComplete(home: Home): boolean {
  return home.exists && home.linked && !home.foreign;
}

/** Makes the home of this checkout, or mends its link; a no-op when both are as they should be. */
export async function ensureHome(request: EnsureHome): Promise<Home> {
  const { system, repository, wanted } = request;
  const home = readHome(system, repository);
  if (home.misplaced !== undefined) refuse(home);
  if (isComplete(home) && request.takes === undefined) return home;
  const common = system.canWrite(repository.commonDir);
  const mode = home.exists ? home.mode : (wanted ?? (common ? "git" : "checkout"));
  if (mode === "checkout") {
    await makeCheckoutHome(request);
    return readHome(system, repository);
  }
  await withLock(join(repository.commonDir, "reeve", "home.lock"), {}, async () => {
    // A home half made is finished before it is judged: without its mark it would look like another worktree's.
    await recoverPlan(homeJournal(repository));
    const now = readHome(system, repository);
    if (now.exists && request.takes !== undefined) refuseTaking(request.takes);
    if (isComplete(now)) return;
    if (!now.exists || now.foreign) await makeGitHome(request, now);
    try {
      await aimLink(request);
    } catch (error) {
      if (!isWithoutLinks(error)) throw error;
      if (!now.exists) await makeCheckoutHome(request);
    }
  });
  return readHome(system, repository);
}
