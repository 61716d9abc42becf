import { dirname, join } from "node:path";
import type { ExitCode } from "@reeve/core/findings/exit.ts";
import { openChunks } from "./load.ts";
import { matchCommand } from "./match.ts";
import type { Launch } from "./run.ts";

/** Set by the build: the chunk of each command; under `?` the one that knows them all, for help and unknown words. */
declare const REEVE_CHUNKS: Readonly<Record<string, string>>;
declare const REEVE_VERSION: string;

type Main = (argv: readonly string[], launch: Launch) => Promise<ExitCode>;

function start(program: string): void {
  const argv = process.argv.slice(2);
  const { name } = matchCommand(Object.keys(REEVE_CHUNKS), argv);
  const chunks = openChunks(join(__dirname, "chunks"), process.env);
  const whole = argv.includes("--help") || argv.includes("-h") ? "?" : name;
  const chunk = REEVE_CHUNKS[whole ?? "?"] ?? REEVE_CHUNKS["?"] ?? "";
  const main = chunks.load(chunk)["main"] as Main;
  const launch = { version: REEVE_VERSION, shareFolder: join(__dirname, "share"), program };
  main(argv, launch).then(
    (code) => {
      process.exitCode = code;
      if (!argv.includes("--dry-run") && !argv.includes("-n")) chunks.keep();
    },
    () => {
      process.exitCode = 13;
    },
  );
}

start(join(dirname(__dirname), "bin", "reeve.cjs"));
