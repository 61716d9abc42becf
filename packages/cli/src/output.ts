import { fstatSync, writeSync } from "node:fs";
import { renderFindings } from "@reeve/commands/text.ts";
import type { Finding, Level } from "@reeve/core/findings/finding.ts";

const hues: Readonly<Record<Level, number>> = { OK: 32, INFO: 36, WARN: 33, FAIL: 31, DRIFT: 31, REFUSE: 31 };

/** How many findings of one level and category are shown one by one to a person. */
const shownAlike = 20;

function renderFolded(findings: readonly Finding[]): readonly string[] {
  const kinds = new Map<string, Finding[]>();
  for (const finding of findings) {
    const kind = `${finding.level} ${finding.category}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), finding]);
  }
  return [...kinds].flatMap(([kind, alike]) => {
    const rest = alike.length - shownAlike;
    const more = rest > 0 ? [`  and ${rest} more like these (${kind}); --json prints every one`] : [];
    return [...renderFindings(alike.slice(0, shownAlike)), ...more];
  });
}

/** Findings as lines, their level in colour on a terminal. */
export function renderColoured(findings: readonly Finding[], colour: boolean): readonly string[] {
  const lines = renderFolded(findings);
  if (!colour) return lines;
  return lines.map((line) =>
    line.replace(/^(OK|INFO|WARN|FAIL|DRIFT|REFUSE) /, (_, level: Level) => `\u001b[${hues[level]}m${level}\u001b[0m `),
  );
}

/** `gone`: the reader has closed its end, which is no error. `failed`: the stream does not take it, a full disk say. */
export type Written = "written" | "gone" | "failed";

/** Writes a text to a standard stream, all of it. */
export function writeAll(stream: 1 | 2, text: string): Written {
  let rest: Uint8Array = Buffer.from(text, "utf8");
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(stream, rest));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EPIPE") return "gone";
      if (code !== "EAGAIN") return "failed";
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return "written";
}

/** Is standard output a terminal? The launcher has looked already; without it Node is asked. */
export function isTerminal(env: Readonly<Record<string, string | undefined>>): boolean {
  const said = env["REEVE_STDOUT"];
  if (said !== undefined) return said === "terminal";
  try {
    return fstatSync(1).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(1);
  } catch {
    return false;
  }
}
