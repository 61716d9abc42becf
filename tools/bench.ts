import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { cliGroup } from "../bench/cli.ts";
import type { Group } from "../bench/group.ts";
import { parseBenchRequest } from "../bench/request.ts";
import { writePage } from "../bench/store/page.ts";
import { storeGroup } from "../bench/store.ts";
import { needsBuild } from "./verdict/freshness.ts";

const groups: Readonly<Record<string, Group>> = { cli: cliGroup, store: storeGroup };

/**
 * Measures the groups asked for, prints their tables and keeps them as JSON. Exits 0 whatever the times are.
 * `page [file]` writes the kept measurements of the group `store` into the guide instead.
 */
export async function main(args: readonly string[]): Promise<number> {
  const root = process.cwd();
  if (args[0] === "page") return writePage(root, args[1]);
  const request = parseBenchRequest(args, groups);
  if (typeof request === "string") {
    process.stderr.write(`${request}\n`);
    return 2;
  }
  if (needsBuild(root)) {
    const build = spawnSync(process.execPath, ["tools/run.mjs", "build"], { cwd: root, stdio: "inherit" });
    if (build.status !== 0) return build.status ?? 1;
  }
  for (const name of request.groups) {
    const group = groups[name];
    if (group !== undefined) measure(root, name, { ...group, ...request, runs: request.runs ?? group.usualRuns });
  }
  return 0;
}

type Measuring = Group & { readonly runs: number; readonly only: readonly string[] };

function measure(root: string, name: string, group: Measuring): void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "reeve-bench-")));
  try {
    const began = new Date().toISOString();
    const { runs, only } = group;
    const machine = readMachine();
    const about = Object.entries(machine).map(([what, value]) => `${what} ${value}`);
    const { text, data } = group.measure({ root, folder, runs, only });
    process.stdout.write(
      `${name}: ${runs} runs each, interleaved; NODE_EXTRA_CA_CERTS unset; ${about.join(", ")}\n\n${text}`,
    );
    const file = `bench/results/${name}-${began.replaceAll(/[-:]|\.\d+/g, "")}.json`;
    mkdirSync(join(root, "bench/results"), { recursive: true });
    writeFileSync(join(root, file), `${JSON.stringify({ began, runs, machine, ...data }, null, 2)}\n`);
    process.stdout.write(`\nwritten to ${file}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readMachine(): Readonly<Record<string, string>> {
  const git = spawnSync("git", ["--version"], { encoding: "utf8" }).stdout;
  return {
    node: process.versions.node,
    git: git.replace(/^git version /, "").trim(),
    processors: String(cpus().length),
    load: (loadavg()[0] ?? 0).toFixed(1),
  };
}
