import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { benchCli, type GroupReport } from "../bench/cli.ts";
import { makePlace } from "../bench/program.ts";
import type { Place } from "../bench/repository.ts";
import { parseBenchRequest } from "../bench/request.ts";
import { needsBuild } from "./verdict/freshness.ts";

const groups: Readonly<Record<string, (place: Place, runs: number) => GroupReport>> = { cli: benchCli };

/** Measures the groups asked for, prints their tables and keeps them as JSON. Exits 0 whatever the times are. */
export async function main(args: readonly string[]): Promise<number> {
  const request = parseBenchRequest(args, Object.keys(groups));
  if (typeof request === "string") {
    process.stderr.write(`${request}\n`);
    return 2;
  }
  const root = process.cwd();
  if (needsBuild(root)) {
    const build = spawnSync(process.execPath, ["tools/run.mjs", "build"], { cwd: root, stdio: "inherit" });
    if (build.status !== 0) return build.status ?? 1;
  }
  for (const name of request.groups) measure(root, name, request.runs);
  return 0;
}

function measure(root: string, name: string, runs: number): void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "reeve-bench-")));
  try {
    const began = new Date().toISOString();
    const place = makePlace(folder, join(root, "packages/cli"));
    const report = groups[name]?.(place, runs);
    if (report === undefined) return;
    const machine = readMachine(place);
    const about = Object.entries(machine).map(([what, value]) => `${what} ${value}`);
    process.stdout.write(
      `${name}: ${runs} runs each, interleaved; ms; NODE_EXTRA_CA_CERTS unset; ${about.join(", ")}\n\n`,
    );
    process.stdout.write(report.text);
    const file = `bench/results/${name}-${began.replaceAll(/[-:]|\.\d+/g, "")}.json`;
    const { rows, floors, git } = report;
    mkdirSync(join(root, "bench/results"), { recursive: true });
    writeFileSync(join(root, file), `${JSON.stringify({ began, runs, machine, rows, floors, git }, null, 2)}\n`);
    process.stdout.write(`\nwritten to ${file}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readMachine(place: Place): Readonly<Record<string, string>> {
  const git = spawnSync("git", ["--version"], { env: place.env, encoding: "utf8" }).stdout;
  return {
    node: process.versions.node,
    git: git.replace(/^git version /, "").trim(),
    processors: String(cpus().length),
    load: (loadavg()[0] ?? 0).toFixed(1),
  };
}
