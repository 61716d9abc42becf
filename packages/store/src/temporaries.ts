import { readdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, toStoreError } from "./errors.ts";

/** A free name for a temporary file beside `path`: `.<base>.<pid>.<random>.tmp`. */
export function temporaryName(path: string): string {
  const random = Math.random().toString(36).slice(2, 10);
  return join(dirname(path), `${prefixOf(path)}${process.pid}.${random}.tmp`);
}

/**
 * Removes the temporary files that writers of these paths left when they were killed. Those of a process that lives are
 * spared, and so is every file of another form. The caller holds the lock under which the paths are written.
 */
export function sweepTemporaries(paths: Iterable<string>): void {
  const prefixes = new Map<string, Set<string>>();
  for (const path of paths) {
    const folder = dirname(path);
    const known = prefixes.get(folder) ?? new Set();
    prefixes.set(folder, known.add(prefixOf(path)));
  }
  for (const [folder, wanted] of prefixes) {
    try {
      sweepFolder(folder, (prefix) => wanted.has(prefix));
    } catch {
      // A folder that may be written and not listed is no reason not to write.
    }
  }
}

/** As {@link sweepTemporaries}, for every file of a folder; for whoever cleans up. */
export function sweepFolder(folder: string, isWanted: (prefix: string) => boolean = () => true): void {
  for (const name of namesIn(folder)) {
    const [, prefix] = temporaryForm.exec(name) ?? [];
    if (prefix !== undefined && isWanted(prefix) && isAbandoned(name)) discard(join(folder, name));
  }
}

/** Is it the name of a temporary file whose writer lives no more? */
export function isAbandoned(name: string): boolean {
  const writer = temporaryForm.exec(name)?.[2];
  return writer !== undefined && !isAlive(Number(writer));
}

/** Removes a file whose absence is all that matters. */
export function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone, or cannot be helped: what led here is what the caller reports.
  }
}

/** Does a process of this number exist? One that cannot be asked does. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== "ESRCH";
  }
}

const temporaryForm = /^(\..*\.)([1-9]\d*)\.[0-9a-z]+\.tmp$/s;

function prefixOf(path: string): string {
  return `.${shortened(basename(path))}.`;
}

/** A name may take 255 bytes; the dots, the process id, the random part and the ending need up to 40 of them. */
function shortened(base: string): string {
  let text = base;
  while (Buffer.byteLength(text) > 215) text = Array.from(text).slice(0, -1).join("");
  return text;
}

/** The names in a folder; none when it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw toStoreError(error, folder, "list the folder");
  }
}
