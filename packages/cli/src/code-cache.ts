import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/**
 * Where V8's compiled code of the chunks lies: a folder of this user's alone, by Node version and architecture.
 * V8 checks only the length of a source, so a chunk's name carries the hash of its content, and code that somebody else
 * could have written is never taken. Without a usable folder there is no cache, and nothing else changes.
 */
export function codeCacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env["REEVE_CACHE"] === "off") return undefined;
  const xdg = env["XDG_CACHE_HOME"];
  const home = env["HOME"];
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : home ? join(home, ".cache") : undefined;
  return base === undefined ? undefined : join(base, "reeve", "code", `${process.version}-${process.arch}`);
}

function isOurs(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) return false;
  const uid = process.getuid?.();
  return uid === undefined || (stats.uid === uid && (stats.mode & 0o077) === 0);
}

export function readCodeCache(folder: string, name: string): Buffer | undefined {
  try {
    return isOurs(folder) ? readFileSync(join(folder, name)) : undefined;
  } catch {
    return undefined;
  }
}

const kept = 40;

/** Old chunks' code is taken out when there is a lot of it. */
function sweep(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= kept) return;
  const aged = names.map((name) => ({ name, time: statSync(join(folder, name)).mtimeMs }));
  aged.sort((a, b) => a.time - b.time);
  for (const { name } of aged.slice(0, names.length - kept / 2)) rmSync(join(folder, name), { force: true });
}

export function writeCodeCache(folder: string, name: string, data: Uint8Array): void {
  const temporary = join(folder, `.${name}.${process.pid}.tmp`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOurs(folder)) return;
    writeFileSync(temporary, data, { mode: 0o600 });
    renameSync(temporary, join(folder, name));
    sweep(folder);
  } catch {
    try {
      rmSync(temporary, { force: true });
    } catch {
      // It never came to be.
    }
  }
}
