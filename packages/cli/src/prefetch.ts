import { readSync } from "node:fs";
import type { Prefetched } from "@reeve/core/git/reading.ts";

function readDescriptor(descriptor: number): Buffer {
  const chunks: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(1 << 16);
  for (;;) {
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(Buffer.from(chunk.subarray(0, count)));
  }
}

/**
 * What the launcher had git print while Node was starting: each output is followed by a trailer that names it, its exit
 * code and, for the history, the commit it begins at. A run that failed is left out and is done again.
 *
 * `described` is `<descriptor>:<mark>`, as the launcher puts it into `REEVE_PREFETCH`.
 */
export function readPrefetch(described: string): Prefetched | undefined {
  const match = /^(\d+):(\w+)$/.exec(described);
  if (match === null) return undefined;
  let bytes: Buffer;
  try {
    bytes = readDescriptor(Number(match[1]));
  } catch {
    return undefined;
  }
  const found: { status?: Uint8Array; history?: { base: string; bytes: Uint8Array } } = {};
  const start = Buffer.from(`\0reeve ${match[2]} `);
  let from = 0;
  for (let at = bytes.indexOf(start); at >= 0; at = bytes.indexOf(start, from)) {
    const end = bytes.indexOf(0, at + start.length);
    if (end < 0) break;
    const [what, exit, base] = bytes.toString("utf8", at + start.length, end).split(" ");
    const output = bytes.subarray(from, at);
    if (what === "status" && exit === "0") found.status = output;
    if (what === "history" && exit === "0" && base !== undefined) found.history = { base, bytes: output };
    from = end + 1;
  }
  return found;
}
