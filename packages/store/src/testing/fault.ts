import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Can this machine build and load what {@link buildFaultShim} makes? */
export const canInjectFaults: boolean =
  process.platform === "linux" && spawnSync("gcc", ["--version"], { stdio: "ignore" }).status === 0;

/** Compiles the library that makes one system call of a process fail or be its last; answers its path. */
export function buildFaultShim(folder: string): string {
  const shim = join(folder, "fault.so");
  const source = join(import.meta.dirname, "fault.c");
  const { status, stderr } = spawnSync("gcc", ["-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl", "-lpthread"], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return shim;
}

/** A fault: at which of the calls below `root`, counted from 1, and what. */
export interface Fault {
  readonly shim: string;
  readonly root: string;
  readonly at: number;
  /** `kill` before the call, `torn` within a write, `short` for a write that takes a part, or the number of an errno. */
  readonly kind: "kill" | "torn" | "short" | number;
  /** Fail every later call of the same name too. */
  readonly forever?: boolean;
}

/** The environment that has a process meet the fault. */
export function faultEnvironment({ shim, root, at, kind, forever }: Fault): Record<string, string> {
  const env = { LD_PRELOAD: shim, FAULT_ROOT: root, FAULT_AT: String(at), FAULT_KIND: String(kind) };
  return forever === true ? { ...env, FAULT_FOREVER: "1" } : env;
}

/** A system call that touched what lies below the root. */
export interface Call {
  readonly name: string;
  readonly path: string;
  /** What else it was given: a mode, a size, another path, a link's target, or bytes in hexadecimal. */
  readonly more: string;
  /** Where a write began; left out: at the file's end. */
  readonly offset?: number;
}

/** The calls a run makes below `root`, in order; `run` starts the process with the environment it is given. */
export function recordCalls(shim: string, root: string, run: (env: Record<string, string>) => void): Call[] {
  const log = `${root}.calls`;
  rmSync(log, { force: true });
  run({ LD_PRELOAD: shim, FAULT_ROOT: root, FAULT_LOG: log });
  return readCalls(log);
}

/** Reads what the shim wrote. */
export function readCalls(log: string): Call[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [name = "", path = "", more = "", offset] = line.split("\t");
    return offset === undefined ? { name, path, more } : { name, path, more, offset: Number(offset) };
  });
}
