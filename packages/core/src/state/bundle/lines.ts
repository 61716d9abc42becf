import { ReeveError } from "../../findings/errors.ts";
import type { System } from "../../system/port.ts";
import { limits } from "./limits.ts";
import type { FileSink } from "./open.ts";
import type { ClaimedFile, StateTree } from "./tree.ts";

/** What one import holds in memory, counted. */
export interface Held {
  /** @throws ReeveError REFUSED when it is too much */
  add(bytes: number): void;
}

export function countHeld(): Held {
  let held = 0;
  return {
    add(bytes) {
      held += bytes;
      if (held <= limits.heldBytes) return;
      throw new ReeveError("REFUSED", `one import holds at most ${limits.heldBytes} bytes of lines and tracked files`, {
        hint: "import in parts: --only <path>",
      });
    },
  };
}

/** Calls for every line, without its end; the last one may have none. */
export function splitLines(each: (line: Buffer) => void): FileSink {
  let rest: Buffer[] = [];
  return {
    write(bytes) {
      let from = 0;
      for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, from)) {
        each(Buffer.concat([...rest, bytes.subarray(from, end)]));
        rest = [];
        from = end + 1;
      }
      if (from < bytes.length) rest.push(Buffer.from(bytes.subarray(from)));
    },
    end() {
      if (rest.length > 0) each(Buffer.concat(rest));
      rest = [];
    },
  };
}

/** The hashes of all lines of some files. */
export function readLineSet(system: System, tree: StateTree, files: readonly ClaimedFile[]): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { path } of files) {
    const sink = splitLines((line) => void known.add(hashLine(system, line)));
    for (const piece of system.readPieces(tree.locate(path))) sink.write(piece);
    sink.end();
  }
  return known;
}

/** Keeps the lines that are not known, each once and in order. */
export function missingLines(
  system: System,
  known: ReadonlySet<string>,
  held: Held,
): { readonly sink: FileSink; readonly lines: readonly Buffer[] } {
  const lines: Buffer[] = [];
  const seen = new Set<string>();
  const sink = splitLines((line) => {
    const hash = hashLine(system, line);
    if (line.length === 0 || known.has(hash) || seen.has(hash)) return;
    seen.add(hash);
    held.add(line.length + 1);
    lines.push(line);
  });
  return { sink, lines };
}

/** Half of the hash is plenty to tell lines apart. */
function hashLine(system: System, line: Uint8Array): string {
  return system.sha256(line).slice(0, 32);
}

export function joinLines(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
}
