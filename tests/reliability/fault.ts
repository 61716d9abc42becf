import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Scene } from "../scene.ts";

/** Can this machine compile and load the library of `fault.c`? */
export const canFault: boolean =
  process.platform === "linux" && spawnSync("gcc", ["--version"], { stdio: "ignore" }).status === 0;

/** What happens at a call: see `fault.c`. A number is an errno. */
export type FaultKind = "kill" | "torn" | "stop" | number;

/** One call the program made, in order. */
export interface TracedCall {
  readonly name: string;
  readonly path: string;
}

/** Makes the program's calls below one folder countable and breakable. */
export interface FaultShim {
  /** The environment in which the call number `at` (from 1) meets the fault. */
  at(at: number, kind: FaultKind): Readonly<Record<string, string>>;
  /** The calls of a run; `run` starts the program with the environment it is given. */
  trace(run: (env: Readonly<Record<string, string>>) => void): readonly TracedCall[];
}

export function buildShim(scene: Scene, root: string = scene.repo): FaultShim {
  const library = path.join(scene.folder, "fault.so");
  const source = path.join(import.meta.dirname, "fault.c");
  if (!fs.existsSync(library)) {
    const built = spawnSync("gcc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], { encoding: "utf8" });
    if (built.status !== 0) throw new Error(built.stderr);
  }
  const loaded = { LD_PRELOAD: library, FAULT_ROOT: root };
  return {
    at: (at, kind) => ({ ...loaded, FAULT_AT: String(at), FAULT_KIND: String(kind) }),
    trace(run) {
      const log = path.join(scene.folder, "calls");
      fs.rmSync(log, { force: true });
      run({ ...loaded, FAULT_LOG: log });
      const rows = fs.existsSync(log) ? fs.readFileSync(log, "utf8").split("\n").slice(0, -1) : [];
      return rows.map((row) => ({ name: row.slice(0, row.indexOf(" ")), path: row.slice(row.indexOf(" ") + 1) }));
    },
  };
}

/** Keeps a copy of folders, and puts it back under the same paths. */
export function keepCopy(scene: Scene, folders: readonly string[] = [scene.repo]): () => void {
  const kept = fs.mkdtempSync(path.join(scene.folder, "kept-"));
  const copy = (from: string, to: string): void => {
    const { status, stderr } = spawnSync("cp", ["-a", from, to], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  };
  folders.forEach((folder, index) => {
    copy(folder, path.join(kept, String(index)));
  });
  return () => {
    folders.forEach((folder, index) => {
      fs.rmSync(folder, { recursive: true, force: true });
      copy(path.join(kept, String(index)), folder);
    });
  };
}
