import { resolve } from "node:path";
import type { Command, Outcome } from "@reeve/commands/command.ts";
import { makeContext } from "@reeve/commands/context.ts";
import type { Answer } from "@reeve/commands/execute.ts";
import type { Entry } from "@reeve/commands/registry.ts";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import { type ExitCode, exitCodes } from "@reeve/core/findings/exit.ts";
import { exitOf, type Finding } from "@reeve/core/findings/finding.ts";
import { nodeSystem } from "@reeve/core/system/node.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import type { System } from "@reeve/core/system/port.ts";
import { type Parsed, parseArguments } from "./arguments.ts";
import { describeFailure } from "./failure.ts";
import { matchCommand } from "./match.ts";
import { isTerminal, renderColoured, writeAll } from "./output.ts";

/** What the entry knows of the installation. */
export interface Launch {
  readonly version: string;
  readonly shareFolder: string;
  readonly program: string;
}

interface Request {
  readonly launch: Launch;
  readonly argv: readonly string[];
  /** Every command that exists; those of other chunks can be named but not loaded. */
  readonly registry: readonly Entry[];
}

interface Shown {
  readonly json: boolean;
  readonly verbose: boolean;
  /** Asking a terminal is slow, and only findings are coloured. */
  readonly colour: () => boolean;
}

/** Step 1: what decides how even a usage error looks. */
function readShown(system: System, argv: readonly string[]): Shown {
  const end = argv.indexOf("--");
  const tokens = end < 0 ? argv : argv.slice(0, end);
  const verbose = tokens.includes("--verbose") || tokens.includes("-v");
  const wanted = !system.env["NO_COLOR"] && system.env["TERM"] !== "dumb";
  return { json: tokens.includes("--json"), verbose, colour: () => wanted && isTerminal(system.env) };
}

/** Step 2: the command the words name, its chunk loaded. */
async function findCommand({ registry, argv }: Request): Promise<{ command: Command; rest: readonly string[] }> {
  const { name, word, rest } = matchCommand(
    registry.map((entry) => entry.name),
    argv,
  );
  const entry = registry.find((candidate) => candidate.name === name);
  if (entry !== undefined) return { command: await entry.load(), rest };
  const asks = rest.includes("--help") || rest.includes("-h");
  const help = registry.find((candidate) => candidate.name === "help");
  if (asks && word !== undefined && help !== undefined) return { command: await help.load(), rest: [word] };
  const { describeUnknown } = await import("@reeve/commands/help.ts");
  throw describeUnknown(registry, word ?? "", rest);
}

interface Words {
  readonly command: Command;
  readonly parsed: Parsed;
}

/** Steps 4 to 6 of a command that opens nothing. */
async function callAlone(request: Request, system: System, { command, parsed }: Words): Promise<Answer> {
  const { launch, registry } = request;
  const dry = parsed.globals["dry-run"] === true;
  const context = makeContext({
    system,
    registry,
    dry,
    caches: true,
    version: launch.version,
    program: launch.program,
  });
  const outcome = await command.run(parsed.args as never, context, undefined as never);
  return { outcome, planned: undefined, plan: undefined, notices: [], gitProcesses: 0 };
}

/** Steps 4 to 6, with what the launcher already had git print. */
async function call(request: Request, system: System, { command, parsed }: Words): Promise<Answer> {
  if (command.needs === "nothing") return callAlone(request, system, { command, parsed });
  const given = parsed.globals["repo"];
  const start = resolve(system.cwd, typeof given === "string" ? given : ".") as AbsPath;
  if (system.info(start) === undefined) {
    throw new ReeveError("NOT_A_REPOSITORY", `--repo ${start}: there is no such folder`, {
      hint: "name a folder inside a repository",
    });
  }
  const described = system.env["REEVE_PREFETCH"];
  const { execute } = await import("@reeve/commands/execute.ts");
  const useful = command.prefetch !== undefined && described !== undefined && given === undefined;
  const prefetched = useful ? (await import("./prefetch.ts")).readPrefetch(described) : undefined;
  return execute({
    command,
    args: parsed.args,
    system: given === undefined ? system : { ...system, cwd: start },
    version: request.launch.version,
    shareFolder: request.launch.shareFolder as AbsPath,
    program: request.launch.program,
    registry: request.registry,
    start,
    dry: parsed.globals["dry-run"] === true,
    caches: system.env["REEVE_CACHE"] !== "off",
    prefetched,
  });
}

function visible(command: Command, findings: readonly Finding[], shown: Shown): readonly Finding[] {
  const failed = exitOf(findings) !== exitCodes.OK;
  if (shown.verbose || (failed && command.everyLine === true)) return findings;
  return findings.filter((finding) => finding.level !== "OK" && finding.level !== "INFO");
}

function renderJson(command: Command, outcome: Outcome<unknown>): string {
  const as = outcome.as ?? command.output;
  if (as === "value") {
    const result = command.json === undefined ? outcome.result : command.json(outcome.result as never);
    return `${JSON.stringify({ ok: (outcome.exit ?? "OK") === "OK", result })}\n`;
  }
  const rows =
    as === "lines"
      ? (outcome.result as { lines: readonly string[] }).lines
      : (outcome.findings ?? []).map((finding) => JSON.stringify(finding));
  return rows.map((row) => `${row}\n`).join("");
}

function renderText(command: Command, outcome: Outcome<unknown>, shown: Shown): string {
  const findings = outcome.findings ?? [];
  const text = command.text(outcome.result as never, findings);
  const as = outcome.as ?? command.output;
  const seen = as === "findings" ? visible(command, findings, shown) : [];
  const lines = seen.length === 0 ? [] : renderColoured(seen, shown.colour());
  return [...lines, ...(text === "" ? [] : [text.replace(/\n$/, "")])].map((line) => `${line}\n`).join("");
}

/** Step 7: prints, and answers the exit code. */
async function show(command: Command, answer: Answer, shown: Shown): Promise<ExitCode> {
  const { outcome } = answer;
  for (const notice of answer.notices) writeAll(2, `reeve: ${notice}\n`);
  const dry = answer.planned !== undefined;
  const text = dry
    ? (await import("./plan.ts")).renderPlan(answer, renderText(command, outcome, shown), shown.json)
    : shown.json
      ? renderJson(command, outcome)
      : renderText(command, outcome, shown);
  const written = writeAll(1, text);
  if (written === "failed") {
    writeAll(
      2,
      "reeve: the command is done, but its answer could not be written to standard output; do not run it again\n",
    );
    return exitCodes.INTERNAL_ERROR;
  }
  if (written === "gone") return exitMeant(command, outcome);
  if (outcome.stream !== undefined && !dry) {
    for await (const line of outcome.stream(shown.json)) if (writeAll(1, `${line}\n`) !== "written") break;
  }
  return exitMeant(command, outcome);
}

function exitMeant(command: Command, { as, exit, findings }: Outcome<unknown>): ExitCode {
  return (as ?? command.output) === "findings" ? exitOf(findings ?? []) : exitCodes[exit ?? "OK"];
}

function showTiming(system: System, started: bigint, answer: Answer | undefined): void {
  if (system.env["REEVE_TIMING"] !== "1") return;
  const ms = (value: number): string => value.toFixed(1);
  const run = Number(process.hrtime.bigint() - started) / 1e6;
  const total = process.uptime() * 1000;
  const rows = [
    "TIMING",
    `phase ${ms(total - run)} 1 x start`,
    `phase ${ms(run)} 1 x command`,
    `count ${answer?.gitProcesses ?? 0} git`,
  ];
  writeAll(2, `${rows.join("\n")}\n`);
}

/** The runner, from words to an exit code. */
export async function run(request: Request): Promise<ExitCode> {
  const started = process.hrtime.bigint();
  const system = nodeSystem({ quiet: request.argv.includes("--json") });
  const shown = readShown(system, request.argv);
  let command: Command | undefined;
  let answer: Answer | undefined;
  try {
    const found = await findCommand(request);
    command = found.command;
    const parsed = parseArguments(command, found.rest);
    if (parsed.globals["help"] === true) {
      const { renderHelp } = await import("@reeve/commands/help.ts");
      writeAll(1, renderHelp(command));
      return exitCodes.OK;
    }
    answer = await call(request, system, { command, parsed });
    return await show(command, answer, shown);
  } catch (error) {
    const failure = describeFailure(error);
    const text = shown.json ? `${JSON.stringify({ ok: false, ...failure.value })}\n` : failure.text;
    if (writeAll(shown.json ? 1 : failure.stream, text) === "failed") writeAll(2, failure.text);
    return command?.hook === true ? exitCodes.OK : failure.value.exit;
  } finally {
    showTiming(system, started, answer);
  }
}
