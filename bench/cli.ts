import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Group } from "./group.ts";
import { makePlace } from "./program.ts";
import { deriveRow, type Row, renderFloors, renderRows, type Timed, type TimedCase } from "./report.ts";
import { makeRepository, makeTask, type Place } from "./repository.ts";
import { countGit, type Subject, timeInterleaved } from "./run.ts";

interface Case extends Subject {
  readonly floor: readonly string[];
  readonly target?: number;
  readonly gitAtMost?: number;
}

interface Scene {
  readonly floors: readonly Subject[];
  readonly cases: readonly Case[];
}

/** What the group found, for a person and as data. */
interface CliReport {
  readonly text: string;
  readonly rows: readonly Row[];
  readonly floors: readonly Timed[];
  /** The arguments of every git process, by case. */
  readonly git: Readonly<Record<string, readonly string[]>>;
}

const node = "node, empty file";

function makeGeneral(place: Place): Scene {
  const empty = join(place.folder, "empty.cjs");
  writeFileSync(empty, "");
  const { env, folder: cwd } = place;
  return {
    floors: [{ name: node, command: [process.execPath, empty], cwd, env }],
    cases: [
      { name: "version", command: [place.reeve, "version"], cwd, env, floor: [node], target: 1.05, gitAtMost: 0 },
      { name: "help", command: [place.reeve, "help"], cwd, env, floor: [node], gitAtMost: 0 },
    ],
  };
}

interface Repositories {
  readonly wired: string;
  readonly unwired: string;
  readonly uncommitted: string;
  readonly mixed: string;
}

function makeRepositories(place: Place, files: number): Repositories {
  const make = (name: string, hooks: boolean): string =>
    makeRepository(place, { name: `${name}-${files}`, files, hooks });
  const repositories = {
    wired: make("wired", true),
    unwired: make("unwired", false),
    uncommitted: make("uncommitted", true),
    mixed: make("mixed", true),
  };
  makeTask(place, repositories.uncommitted, { committed: 0, uncommitted: 50 });
  makeTask(place, repositories.mixed, { committed: 25, uncommitted: 25 });
  return repositories;
}

function makeSized(place: Place, files: number): Scene {
  const { env, reeve } = place;
  const { wired, unwired, uncommitted, mixed } = makeRepositories(place, files);
  const git = (what: string, cwd: string): Subject => ({
    name: `git status, ${what}, ${files}`,
    files,
    command: ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z", "-uall"],
    cwd,
    env,
  });
  const clean = git("clean", wired);
  const fifty = git("50 changed", uncommitted);
  const half = git("25 changed", mixed);
  const common = { files, env, floor: [node, clean.name] };
  const doctor = { ...common, command: [reeve, "doctor"], target: 1.3, gitAtMost: 2 } as const;
  const check = { files, env, command: [reeve, "check"], target: 1.2, gitAtMost: 2 } as const;
  const hook = { ...env, REEVE_HOOK: "pre-commit" };
  return {
    floors: [clean, fifty, half],
    cases: [
      { ...doctor, name: `doctor, hooks wired, ${files}`, cwd: wired },
      { ...doctor, name: `doctor, as the pre-commit hook, ${files}`, cwd: wired, env: hook },
      { ...doctor, name: `doctor, hooks not wired, ${files}`, cwd: unwired },
      { ...check, name: `check, 50 not committed, ${files}`, cwd: uncommitted, floor: [node, fifty.name] },
      { ...check, name: `check, 25 committed and 25 not, ${files}`, cwd: mixed, floor: [node, half.name] },
      { ...common, name: `status, no task, ${files}`, command: [reeve, "status"], cwd: wired },
      { ...common, name: `reeve alone, no task, ${files}`, command: [reeve], cwd: wired },
      { ...common, name: `finish --check, no task, ${files}`, command: [reeve, "finish", "--check"], cwd: wired },
      {
        ...common,
        name: `decision add, ${files}`,
        command: [reeve, "decision", "add", "--why", "it is asked"],
        fresh: () => `measured at ${process.hrtime.bigint()}`,
        cwd: unwired,
        floor: [node],
      },
    ],
  };
}

function requireCase(scene: Scene, beginning: string): Case {
  const found = scene.cases.find((candidate) => candidate.name.startsWith(beginning));
  if (found === undefined) throw new Error(`no case begins with "${beginning}"`);
  return found;
}

/** A case measured beside itself under another name: no target, and what differs. */
function vary(given: Case, change: { readonly how: string } & Partial<Case>): Case {
  const { target: _, ...plain } = given;
  const { how, ...rest } = change;
  return { ...plain, ...rest, name: `${given.name}, ${how}` };
}

/** One case without the code cache and the parsed documents: the first run, and every run with caches off. */
function makeCold(place: Place, sized: Scene): readonly Case[] {
  const doctor = requireCase(sized, "doctor, as the pre-commit hook");
  const folder = join(place.folder, "cold-cache");
  // A repository of its own: what it forgets, the warm cases must not have to find out again.
  const cwd = makeRepository(place, { name: "cold", files: doctor.files ?? 0, hooks: true });
  const before = (): void => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(join(cwd, ".ai/local/cache"), { recursive: true, force: true });
  };
  return [
    vary(doctor, { how: "cold caches", cwd, env: { ...doctor.env, XDG_CACHE_HOME: folder }, before }),
    vary(doctor, { how: "REEVE_CACHE=off", env: { ...doctor.env, REEVE_CACHE: "off" } }),
  ];
}

/** What the shell half of the launcher costs and gives: the same commands with Node started on the file itself. */
function makeWithoutLauncher(place: Place, general: Scene, sized: Scene): readonly Case[] {
  return [requireCase(general, "version"), requireCase(sized, "check, 50 not committed")].map((given) => {
    const [, ...words] = given.command;
    return vary(given, { how: "node alone", command: [process.execPath, place.reeve, ...words] });
  });
}

/** Where the caller's environment has it: what the variable costs Node, and that the launcher takes it away. */
function makeWithCertificates(general: Scene): Scene {
  const file = process.env["NODE_EXTRA_CA_CERTS"];
  if (!file) return { floors: [], cases: [] };
  const how = "NODE_EXTRA_CA_CERTS set";
  const set = <S extends Subject>(given: S): S => ({ ...given, env: { ...given.env, NODE_EXTRA_CA_CERTS: file } });
  const version = requireCase(general, "version");
  const floors = general.floors.map((floor) => set({ ...floor, name: `${floor.name}, ${how}` }));
  return { floors, cases: [set(vary(version, { how }))] };
}

/** The commands a hook and a person run, against the floors of the machine (design: quality, benchmarks). */
function benchCli(place: Place, runs: number): CliReport {
  const general = makeGeneral(place);
  const small = makeSized(place, 1000);
  const scenes = [general, small, makeSized(place, 10_000), makeWithCertificates(general)];
  const floors = scenes.flatMap((scene) => scene.floors);
  const cases = [
    ...scenes.flatMap((scene) => scene.cases),
    ...makeCold(place, small),
    ...makeWithoutLauncher(place, general, small),
  ];
  const counted = new Map(cases.map((subject) => [subject.name, countGit(subject, place.folder)]));
  const samples = timeInterleaved([...floors, ...cases], runs);
  const timed = <S extends Subject>(subject: S): S & Timed => ({
    ...subject,
    samples: samples.get(subject.name) ?? [],
  });
  const timedFloors: readonly Timed[] = floors.map(timed);
  const rows = cases.map((subject) => {
    const one: TimedCase = { ...timed(subject), git: counted.get(subject.name)?.length ?? 0 };
    return deriveRow(one, timedFloors);
  });
  return {
    text: `${renderRows(rows)}\n${renderFloors(timedFloors)}`,
    rows,
    floors: timedFloors.map(({ name, samples: times }) => ({ name, samples: times })),
    git: Object.fromEntries(counted),
  };
}

/** Every run of the program is timed against the floors of the same round. */
export const cliGroup: Group = {
  usualRuns: 25,
  rows: [],
  measure: ({ root, folder, runs }) => {
    const { text, ...data } = benchCli(makePlace(folder, join(root, "packages/cli")), runs);
    return { text, data };
  },
};
