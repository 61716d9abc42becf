import * as fs from "node:fs";
import * as path from "node:path";
import type { Command } from "@reeve/commands/command.ts";
import { registry } from "@reeve/commands/registry.ts";
import { renderLauncher } from "./launcher.ts";
import { renderCommands } from "./reference/commands.ts";
import { readStoreApi, renderStoreApi } from "./reference/store-api.ts";
import { renderErrors, renderEvents, renderExitCodes, renderStateFiles } from "./reference/tables.ts";

interface Generated {
  readonly file: string;
  readonly text: string;
  readonly mode: number;
}

async function render(): Promise<readonly Generated[]> {
  const commands: readonly Command[] = await Promise.all(registry.map((entry) => entry.load()));
  const pages = {
    commands: renderCommands(commands),
    "exit-codes": renderExitCodes(),
    errors: renderErrors(),
    events: renderEvents(),
    "state-files": renderStateFiles(),
    "store-api": renderStoreApi(await readStoreApi()),
  };
  const reference = Object.entries(pages).map(([name, text]) => ({
    file: `docs/reference/${name}.md`,
    text,
    mode: 0o644,
  }));
  return [...reference, { file: "packages/cli/bin/reeve.cjs", text: renderLauncher(commands), mode: 0o755 }];
}

function isCurrent({ file, text, mode }: Generated): boolean {
  const stats = fs.statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && (stats.mode & 0o100) === (mode & 0o100) && fs.readFileSync(file, "utf8") === text;
}

/** Writes what is generated and committed; with `--check` only names what is out of date. */
export async function main(args: readonly string[]): Promise<number> {
  const stale = (await render()).filter((page) => !isCurrent(page));
  if (args.includes("--check")) {
    for (const { file } of stale) console.log(`${file} is out of date: npm run docs`);
    return stale.length === 0 ? 0 : 1;
  }
  for (const { file, text, mode } of stale) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    fs.chmodSync(file, mode);
    console.log(`wrote ${file}`);
  }
  return 0;
}
