import { shellQuote } from "../findings/quote.ts";

/** The git hooks Reeve adds a block to, and what each runs. */
export const hookCommands = {
  "pre-commit": "doctor",
  "pre-push": "finish --check",
} as const;

export type HookName = keyof typeof hookCommands;
export const hookNames: readonly HookName[] = Object.keys(hookCommands) as HookName[];

/** Goes up with every change of the block's text, so that a block of another version is not taken for a changed one. */
const format = "v1";
const begin = `# >>> reeve >>> ${format}, kept by 'reeve init --hooks'; everything outside these marks is yours`;
const end = "# <<< reeve <<<";
const canaryVariable = "REEVE_CANARY";
const beginMark = /^# >>> reeve >>>/;
const endMark = /^# <<< reeve <<<\s*$/;

/**
 * The block of one hook. It answers a canary at once; does nothing on a branch without a layer; warns and passes where no
 * `reeve` is installed; otherwise passes the exit code on.
 *
 * `program` is the one that wired the hook; without it, or once it is gone, PATH is asked. What a clone brought with it is
 * never looked at.
 */
export function renderBlock(hook: HookName, program: string | undefined): string {
  const [command, ...args] = hookCommands[hook].split(" ");
  const known = program === undefined ? "" : ` ${shellQuote(program)}`;
  return [
    begin,
    `if [ -n "\${${canaryVariable}-}" ]; then echo "reeve canary ${hook} $0"; exit 0; fi`,
    'if [ -f .ai/manifest.yaml ] && [ -z "${REEVE_DISABLE-}" ]; then',
    `  reeve_found=`,
    `  for reeve_try in${known} "$(command -v reeve)"; do`,
    `    if [ -n "$reeve_try" ] && [ -x "$reeve_try" ]; then reeve_found=$reeve_try; break; fi`,
    "  done",
    '  if [ -n "$reeve_found" ]; then',
    `    REEVE_HOOK=${hook} "$reeve_found" ${[command, ...args].join(" ")} </dev/null || exit $?`,
    "  else",
    `    echo "reeve: not installed here, so ${hook} was not checked (npm install --global reeve)" >&2`,
    "  fi",
    "fi",
    end,
    "",
  ].join("\n");
}

export interface SplitHook {
  readonly before: string;
  readonly block: string;
  readonly after: string;
}

/** A hook's text around Reeve's block; `undefined` when it has none, `"broken"` when a mark has no partner. */
export function splitHook(text: string): SplitHook | "broken" | undefined {
  const rows = text.split(/(?<=\n)/);
  const starts = rows.flatMap((row, index) => (beginMark.test(row) ? [index] : []));
  const ends = rows.flatMap((row, index) => (endMark.test(row.trimEnd()) ? [index] : []));
  const [start] = starts;
  const [stop] = ends;
  if (start === undefined && stop === undefined) return undefined;
  if (start === undefined || stop === undefined || starts.length > 1 || ends.length > 1 || stop < start)
    return "broken";
  return {
    before: rows.slice(0, start).join(""),
    block: rows.slice(start, stop + 1).join(""),
    after: rows.slice(stop + 1).join(""),
  };
}

const shells = /^#!\s*(?:\S*\/)?(?:env\s+(?:-S\s+)?)?(?:\S*\/)?(?:sh|bash|dash|ksh|zsh)(?:\s|$)/;

/** Is a hook a shell script Reeve's block can stand in? One without a first line of that kind is run by `sh`. */
export function isShellHook(text: string): boolean {
  return !text.startsWith("#!") || shells.test(text);
}

/** The hook with Reeve's block right after its first line; every other byte as it was. */
export function insertBlock(text: string | undefined, block: string): string {
  if (text === undefined || text === "") return `#!/bin/sh\n${block}`;
  const split = splitHook(text);
  if (typeof split === "object") return `${split.before}${block}${split.after}`;
  if (!text.startsWith("#!")) return `${block}${text}`;
  const newline = text.indexOf("\n");
  return newline < 0 ? `${text}\n${block}` : `${text.slice(0, newline + 1)}${block}${text.slice(newline + 1)}`;
}

function withoutProgram(block: string): string {
  return block.replace(/^( {2}for reeve_try in) .*("\$\(command -v reeve\)"; do)$/m, "$1 $2");
}

/** Is a block as Reeve wrote it, whatever program it starts? One of another format is judged by its calls alone. */
export function isOwnBlock(hook: HookName, block: string): boolean {
  if (!block.startsWith(`# >>> reeve >>> ${format},`)) return !/\|\|\s*(?:true|:|exit\s+0)\s*$/m.test(block);
  return withoutProgram(block) === withoutProgram(renderBlock(hook, undefined));
}
