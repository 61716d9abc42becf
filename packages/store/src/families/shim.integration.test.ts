import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildFaultShim, canInjectFaults, readCalls } from "../testing/fault.ts";
import { memoryFolder } from "../testing/folder.ts";
import { say } from "./scale.ts";
import { openStages } from "./stages.ts";

const tracer = "strace";
/** May this process watch another's system calls? */
const canTrace = canInjectFaults && spawnSync(tracer, ["-o", "/dev/null", "true"], { stdio: "ignore" }).status === 0;

/** Calls that leave a disk as it is, and what the shim calls the others. Every other call is one it does not know. */
const harmless: ReadonlySet<string> = new Set(
  "statx newfstatat fstat lstat stat pread64 read close readlink getdents64 fcntl lseek access faccessat".split(" "),
);
const names: Readonly<Record<string, string>> = {
  write: "write",
  pwrite64: "write",
  fsync: "fsync",
  fdatasync: "fdatasync",
  ftruncate: "ftruncate",
  fchmod: "chmod",
  chmod: "chmod",
  fchown: "chown",
  utimensat: "times",
  mkdir: "mkdir",
  rmdir: "rmdir",
  unlink: "unlink",
  rename: "rename",
  link: "link",
  symlink: "symlink",
};

/** What the kernel saw of calls that concern what lies below the root: the shim's name for it, and the path. */
function readKernelCalls(trace: string, root: string): string[] {
  const calls: string[] = [];
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    const [, name = "", rest = ""] = /^\d+\s+(\w+)\((.*)$/.exec(line) ?? [];
    const paths = [...rest.matchAll(/["<](\/[^">]*)[">]/g)].map(([, path = ""]) => path);
    const path = paths.filter((found) => found.startsWith(root)).at(-1);
    if (path === undefined || harmless.has(name)) continue;
    if (name !== "openat" && name !== "open") calls.push(`${names[name] ?? `unknown ${name}`} ${path}`);
    else if (rest.includes("O_CREAT")) calls.push(`create ${path}`);
    else if (!rest.includes("O_DIRECTORY")) calls.push(`open ${path}`);
  }
  return calls;
}

describe.skipIf(!canTrace)("the shim", () => {
  test("meets every call of a run that touches the disk", { timeout: 300_000 }, async () => {
    const sizes = {
      "a store, synced": 30,
      "a store, not synced": 30,
      "a store with an index": 16,
      "a log": 20,
      "a document": 12,
      plans: 8,
      blobs: 20,
    };
    const kinds = new Set<string>();
    let count = 0;
    for (const { engine, subject, size, folder } of await openStages(memoryFolder(), sizes)) {
      const root = join(folder, "root");
      const [log, trace] = [join(folder, "calls"), join(folder, "trace")];
      mkdirSync(root);
      subject.prepare(root);
      const env = [`LD_PRELOAD=${buildFaultShim(folder)}`, `FAULT_ROOT=${root}`, `FAULT_LOG=${log}`];
      const run = [process.execPath, engine.program.file, "rehearse", subject.name, String(size), root];
      const options = ["-f", "-y", "-s", "0", "-o", trace, ...env.flatMap((one) => ["-E", one])];
      const { status, stderr } = spawnSync(tracer, [...options, ...run], { encoding: "utf8", env: {} });
      expect([status, stderr], subject.name).toEqual([0, ""]);
      const met = readCalls(log).filter(({ name }) => name !== "mark");
      const seen = readKernelCalls(trace, root);
      expect(met.map(({ name, path }) => `${name} ${path}`).sort(), subject.name).toEqual(seen.sort());
      for (const { name } of met) kinds.add(name);
      count += met.length;
    }
    say(`the shim: ${count} calls of ${kinds.size} kinds, as many as the kernel saw`);
    expect([...kinds].sort()).toEqual(
      [...new Set(Object.values(names)), "create", "open"]
        .filter((name) => name !== "chown" && name !== "ftruncate")
        .sort(),
    );
  });
});
